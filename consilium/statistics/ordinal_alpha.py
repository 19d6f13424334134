"""Krippendorff's alpha for ordered categories: any number of raters, missing ratings, few units.

    alpha = 1 - Do / De
    Do = (sum of o[c, k]·d2[c, k]) / n          De = (sum of n[c]·n[k]·d2[c, k]) / (n(n - 1))
    d2[c, k] = (n[c] + … + n[k] - (n[c] + n[k]) / 2)²  for c <= k

with the coincidence matrix o, its row sums n[c] and their total n as in `krippendorff_alpha`: two ratings are the
further apart, the more ratings lie between them. Source: Krippendorff 2011, "Computing Krippendorff's
Alpha-Reliability", section E.

Undefined: no unit with two ratings; all paired ratings in one category (De = 0).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.krippendorff_alpha import CONSTANT, coincidences


def ordinal_alpha(counts_by_unit: ArrayLike) -> Figure:
    """Ordinal alpha; `counts_by_unit` has a row for each unit and a column for each category, lowest first.

    n is the number of units with at least two ratings.
    """
    table = np.asarray(counts_by_unit)
    paired = table.sum(axis=1) >= 2 if table.size else np.zeros(0, dtype=bool)
    units = int(paired.sum())
    if not units:
        return Undefined("no unit with two ratings")
    margins = table[paired].sum(axis=0).astype(np.float64)
    if np.count_nonzero(margins) < 2:
        return Undefined(CONSTANT, units)
    # Ratings below or in each category, counting half of its own: the difference of two is what lies between them.
    middles = np.cumsum(margins) - margins / 2
    distance = (middles[:, None] - middles[None, :]) ** 2
    total = margins.sum()
    observed = float((coincidences(table) * distance).sum())
    expected = float((np.outer(margins, margins) * distance).sum())
    return Estimate(1 - (total - 1) * observed / expected, units)
