"""The difference of two figures on the same cases: MF1 of one rater less that of another, one share less another.

Two intervals that overlap say little about a difference, since both figures met the same easy and hard cases. The
interval of the difference knows how both move when a case is left out (`mover`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.case_figures import CaseFigures, case_ratio
from consilium.statistics.confusion import ConfusionCounts, confusion_counts
from consilium.statistics.estimate import Figure, figures
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.macro_f1 import MACRO_F1, NO_PAIRS


def mf1_difference(
    reference: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    case: ArrayLike,
    n_cases: int,
    rule: IntervalRule,
) -> Figure:
    """MF1(reference, first) − MF1(reference, second); n is the number of pairs.

    All hold met (1) or not met (0) for each pair, ``case`` its case's number. Undefined without pairs.
    """
    tables = [confusion_counts(reference, rater, case=case, n_cases=n_cases) for rater in (first, second)]
    return mf1_differences(tables[0], tables[1], rule=rule)[0]


def mf1_differences(first: ConfusionCounts, second: ConfusionCounts, *, rule: IntervalRule) -> list[Figure]:
    """The same for many slices, from the counts of both raters on the same pairs, shape (n_cases, slices)."""
    return differences(
        MACRO_F1.of_cases(first), MACRO_F1.of_cases(second), n=first.n.sum(axis=0), rule=rule, empty=NO_PAIRS
    )


def ratio_difference(numerator: ArrayLike, denominator: ArrayLike, *, rule: IntervalRule, empty: str) -> Figure:
    """The first pooled share less the second; both arguments are sums by case, shape (n_cases, 2).

    n is the first denominator's sum. Undefined, by ``empty``, where either denominator is 0 in all.
    """
    above, below = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    shares = [case_ratio(above[:, place, None], below[:, place, None]) for place in (0, 1)]
    n = np.rint(below[:, :1].sum(axis=0)).astype(np.int64)
    return differences(*shares, n=n, rule=rule, empty=empty)[0]


def differences(
    first: CaseFigures, second: CaseFigures, *, n: ArrayLike, rule: IntervalRule, empty: str
) -> list[Figure]:
    """The first figure less the second, slice by slice; row i of both is the same case.

    ``n`` (slices,) is reported beside each. Undefined, by ``empty``, where one of the two is.
    """
    apart = figures(first.whole() - second.whole(), n, reason=lambda i: empty)
    return rule.differences(first, second).attach(apart)


def difference_p(first: CaseFigures, second: CaseFigures, *, rule: IntervalRule) -> NDArray[np.float64]:
    """Two-sided p-values of no difference, slice by slice: twice the smaller of both one-sided ones, at most 1.

    They belong to the intervals of the differences (`IntervalRule.p_above`). NaN where there is no interval.
    """
    smaller = np.minimum(rule.p_above(first, second, 0.0), rule.p_above(second, first, 0.0))
    return np.minimum(2 * smaller, 1.0)
