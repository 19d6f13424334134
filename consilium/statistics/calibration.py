"""Calibration of the coverage threshold k of CACS@k from responses that physicians wrote.

With s positive criteria met in each of n responses that have N positive criteria each:

    k = mean of s, rounded half up, in integers floor((2·sum(s) + n) / (2n)), clamped to 1..N

Source: Zheng et al. 2026 (ClinConsensus v5), where 285 physician-written responses with mean 10.19 of 30 give k = 10.
Quartiles by linear interpolation (type 7). Hit rate: sum(s) / (n·N). The interval of the mean lies between 0 and N; its
ends, rounded and clamped as the mean is, are those of k. k is whole: 10 to 10 says that the whole interval of the mean
rounds to 10. Undefined: no responses; N not constant (a single k has no meaning then); N = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_ratio, sums_by_case
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.ratios import estimated


@dataclass(frozen=True)
class Calibration:
    """`k` and `mean` are estimates with intervals where the cases allow them; `hit_rate` is a share, 0 to 1;
    `histogram[s]` is the number of responses with s criteria met, s = 0..n_criteria.
    """

    k: Figure
    mean: Figure
    n: int
    n_cases: int
    n_criteria: int
    total_hits: int
    median: float
    q1: float
    q3: float
    hit_rate: float
    histogram: tuple[int, ...]


def threshold(total_hits: int, n: int, n_criteria: int) -> int:
    """k from the sum of hits over n responses with N = `n_criteria` positive criteria each."""
    return min(max((2 * total_hits + n) // (2 * n), 1), n_criteria)


def _threshold_at(mean: float, n_criteria: int) -> float:
    """k where the mean of s is ``mean``, an end of its interval."""
    return float(min(max(floor(mean + 0.5), 1), n_criteria))


def calibrate(
    hits: ArrayLike,
    n_criteria: ArrayLike,
    *,
    case: ArrayLike | None = None,
    rule: IntervalRule = DEFAULT_RULE,
) -> Calibration | Undefined:
    """Calibrate k from the positive criteria met (s) and present (N) of each response; `case` labels the case of each
    response, by default each is a case of its own.
    """
    s, present = np.asarray(hits, dtype=np.int64).ravel(), np.asarray(n_criteria, dtype=np.int64).ravel()
    present = np.broadcast_to(present, s.shape) if present.size == 1 else present
    if s.shape != present.shape:
        raise ValueError("each response needs its hits and its number of criteria")
    n = int(s.size)
    if not n:
        return Undefined(Reason.NO_RESPONSES())
    if present.min() != present.max():
        return Undefined(Reason.VARYING_POSITIVE_CRITERIA(low=int(present.min()), high=int(present.max())), n)
    size = int(present[0])
    if size == 0:
        return Undefined(Reason.NO_POSITIVE_CRITERIA(), n)
    if s.min() < 0 or s.max() > size:
        raise ValueError(f"hits must lie between 0 and {size}")
    labels = np.arange(n) if case is None else np.asarray(case).ravel()
    cases, where = np.unique(labels, return_inverse=True)
    total = int(s.sum())
    by_case = [sums_by_case(values, where, len(cases)) for values in (s, np.ones(n))]
    mean = estimated(case_ratio(*by_case, bounds=(0.0, size)), n=[n], rule=rule)[0]
    k = Estimate(float(threshold(total, n, size)), n, note=mean.note, effective=mean.effective)
    if mean.low is not None and mean.high is not None:
        k = replace(k, low=_threshold_at(mean.low, size), high=_threshold_at(mean.high, size))
    q1, median, q3 = (float(point) for point in np.quantile(s, [0.25, 0.5, 0.75], method="linear"))
    return Calibration(
        k=k,
        mean=mean,
        n=n,
        n_cases=len(cases),
        n_criteria=size,
        total_hits=total,
        median=median,
        q1=q1,
        q3=q3,
        hit_rate=total / (n * size),
        histogram=tuple(np.bincount(s, minlength=size + 1).tolist()),
    )
