"""Intervals of agreement beyond chance where each case has few ratings: one answer of each rater, mostly.

Agreement beyond chance is 1 - Do/De, observed over expected disagreement. Its interval is that of every figure over
cases (`jackknife`), but for two things that matter where a case has a few ratings and not dozens of them:

*At the edge* (without disagreement, or defined by one case alone) the interval of the rule is that of a share between
-1 and 1, as if De were a half. Where most ratings are in one category De is small, and what was not seen weighs more.
So the edge is the mid-p interval (p, q) of the disagreement, Do·G* of G*, over the expected one as it is:

    low = max(-1, 1 - q/De)        high = 1 - p/De              Do and De in parts of the largest distance

*Few answers that are apart*: where fewer than 5 cases have a unit most of whose ratings are outside the most frequent
category, nobody can say how well raters tell categories apart, and the figure has no interval; nor with fewer than 10
cases. A single rating there says nothing, since it may be an error.

*Two raters* have the same edge where a case has fewer than 10 pairs (`Coefficient.expected`), since with M mentions of
met and N of not met in n pairs

    MF1 = 1 - Do / (M·N / n²)        kappa = 1 - Do / De with De = (a·(n - b) + b·(n - a)) / n², a and b met by either

and 1 in the place of M·N/n² is what the rule takes. With 10 pairs a case or more the two are the same but for figures
near 1; with one to three pairs a case, as in a slice of one criterion, it matters. There is no interval then where
fewer than 5 cases have the rarer class; with fewer than 2 pairs a case, where both raters give it in fewer than 5.

Simulated in `bench/special_coverage.py`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.case_figures import MANY_PAIRS, Chance
from consilium.statistics.jackknife import LEVEL, Ends, Jackknife, logit_ends
from consilium.statistics.mid_p import mid_p_ends

MINIMUM_CASES = 10  # of many raters
MINIMUM_APART = 5

Array = NDArray[np.float64]


def chance_corrected_ends(jack: Jackknife, expected: Array, level: ArrayLike = LEVEL) -> Ends:
    """Ends of 1 - Do/De of each slice; ``expected`` (slices,) is De in parts of the largest distance, 0 to 1.

    ``level`` is one number, or one for each slice.
    """
    ends = logit_ends(jack, level)
    edge = ends.at_edge & (expected > 0)
    low, high = ends.low.copy(), ends.high.copy()
    if edge.any():
        observed = np.clip((1 - jack.values[edge]) * expected[edge], 0, 1)
        levels = np.broadcast_to(np.asarray(level, dtype=np.float64), edge.shape)[edge]
        least, most = mid_p_ends(observed * jack.effective[edge], jack.effective[edge], levels)
        low[edge] = np.maximum(1 - most / expected[edge], jack.low[edge])
        high[edge] = 1 - least / expected[edge]
    return replace(ends, low=low, high=high)


def unit_chance(expected: float, counts_by_unit: Array, case: ArrayLike | None = None) -> Chance:
    """What the interval of many raters needs of chance: one slice, (units, categories) counts.

    ``case`` holds the case of each unit; by default each unit is a case.
    """
    cases = len(counts_by_unit) if case is None else len(np.unique(np.asarray(case)))
    return Chance(
        expected=np.array([expected]),
        apart=np.array([cases_apart(counts_by_unit, case)]),
        matters=np.array([len(counts_by_unit) < MANY_PAIRS * cases]),
        minimum_cases=MINIMUM_CASES,
        by_most=np.array([True]),
    )


def cases_apart(counts_by_unit: Array, case: ArrayLike | None = None) -> int:
    """How many cases have a unit most of whose ratings are outside the category that is most frequent overall."""
    table = np.asarray(counts_by_unit, dtype=np.float64)
    if not table.size:
        return 0
    apart = 2 * table[:, table.sum(axis=0).argmax()] < table.sum(axis=1)
    return int(apart.sum()) if case is None else len(np.unique(np.asarray(case)[apart]))
