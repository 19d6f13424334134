"""Alpha of raters who may answer with two adjacent levels: the distance of two answers is that of their nearest levels.

    alpha = 1 - Do / De
    Do = Σ over units of (Σ over ordered pairs of d²) / (m - 1) / n        m ratings in the unit, n in all such units
    De = Σ over all ordered pairs of pairable ratings of d² / (n(n - 1))

with d the distance in levels between the nearest levels of two answers, 0 where they overlap (`panel_votes.distances`).
It is Krippendorff's alpha (2011) with another distance; of single levels alone it is his alpha for interval data. A
unit with a single rating adds nothing. Undefined: no unit with two ratings; no two ratings that are apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.panel_votes import distances


def set_distance_alpha(unit: ArrayLike, low: ArrayLike, high: ArrayLike) -> Figure:
    """From one row per rating: its unit, and its lower and upper level. n is the number of units with two ratings."""
    units, lows, highs = (np.asarray(column, dtype=np.int64) for column in (unit, low, high))
    _, place, size = np.unique(units, return_inverse=True, return_counts=True)
    paired = size[place] >= 2
    n_units, n = int((size >= 2).sum()), int(paired.sum())
    if not n_units:
        return Undefined(Reason.NO_PAIRED_UNIT())
    place, lows, highs = place[paired], lows[paired], highs[paired]
    # Answers of the same two levels are alike, so that their kinds are compared instead of all pairs.
    answers, kind = np.unique(np.stack([lows, highs], axis=1), axis=0, return_inverse=True)
    kind = kind.ravel()
    apart = distances(answers[:, 0], answers[:, 1])
    counts = np.bincount(kind, minlength=len(answers)).astype(np.float64)
    expected = float(counts @ apart @ counts) / (n * (n - 1))
    if not expected:
        return Undefined(Reason.CONSTANT_ALPHA(), n_units)
    by_unit = np.zeros((len(size), len(answers)))
    np.add.at(by_unit, (place, kind), 1.0)
    within = ((by_unit @ apart) * by_unit).sum(axis=1)
    observed = float((within[size >= 2] / (size[size >= 2] - 1)).sum()) / n
    return Estimate(1 - observed / expected, n_units)
