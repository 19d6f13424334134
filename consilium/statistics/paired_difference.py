"""The difference of two figures on the same cases: MF1 of one rater less that of another, one share less another.

Two intervals that overlap say little about a difference, since both figures met the same easy and hard cases. Here each
resample of cases gives both figures, and the interval is that of their difference (Efron and Tibshirani 1993, chapter
13, on paired data).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.bootstrap import MINIMUM_CASES, CaseBootstrap, percentile_intervals
from consilium.statistics.confusion import ConfusionCounts, confusion_counts
from consilium.statistics.estimate import Figure, figures
from consilium.statistics.macro_f1 import NO_PAIRS, macro_f1_values


def mf1_difference(
    reference: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    case: ArrayLike,
    n_cases: int,
    bootstrap: CaseBootstrap,
) -> Figure:
    """MF1(reference, first) − MF1(reference, second); n is the number of pairs.

    All hold met (1) or not met (0) for each pair, ``case`` its case's number. Undefined without pairs.
    """
    tables = [confusion_counts(reference, rater, case=case, n_cases=n_cases) for rater in (first, second)]
    return mf1_differences(tables[0], tables[1], bootstrap=bootstrap)[0]


def mf1_differences(first: ConfusionCounts, second: ConfusionCounts, *, bootstrap: CaseBootstrap) -> list[Figure]:
    """The same for many slices, from the counts of both raters on the same pairs, shape (n_cases, slices)."""
    n, cases = first.n.sum(axis=0), (first.n > 0).sum(axis=0)
    left, other = (macro_f1_values(table.pooled(axis=0)) for table in (first, second))
    differences = figures(left - other, n, reason=lambda i: NO_PAIRS)
    due = np.flatnonzero(cases >= MINIMUM_CASES)
    replicates = [macro_f1_values(bootstrap.confusion(table[:, due])) for table in (first, second)]
    intervals = percentile_intervals(replicates[0] - replicates[1], cases[due])
    return intervals.spread_over(due, cases).attach(differences)


def ratio_difference(numerator: ArrayLike, denominator: ArrayLike, *, bootstrap: CaseBootstrap, empty: str) -> Figure:
    """The first pooled share less the second; both arguments are sums by case, shape (n_cases, 2).

    n is the first denominator's sum. Undefined, by ``empty``, where either denominator is 0 in all. Cases with both
    stand behind the interval.
    """
    above, below = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    shares = _shares(above.sum(axis=0), below.sum(axis=0))
    n = int(np.rint(below[:, 0].sum()))
    differences = figures(shares[:1] - shares[1:], np.array([n]), reason=lambda i: empty)
    replicates = _shares(bootstrap.totals(above), bootstrap.totals(below))
    cases = int((below > 0).all(axis=1).sum())
    return percentile_intervals(replicates[:1] - replicates[1:], cases).attach(differences)[0]


def _shares(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
