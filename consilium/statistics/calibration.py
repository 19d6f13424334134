"""Calibration of the coverage threshold k of CACS@k from responses that physicians wrote.

With s positive criteria met in each of n responses that have N positive criteria each:

    k = mean of s, rounded half up, in integers floor((2·sum(s) + n) / (2n)), clamped to 1..N

Source: Zheng et al. 2026 (ClinConsensus v5), where 285 physician-written responses with mean 10.19 of 30 give k = 10.
Quartiles by linear interpolation (type 7). Hit rate: sum(s) / (n·N). The intervals of the mean and of k are from one
bootstrap over cases; the ends of k's interval are values that k takes in resamples (rounded outwards, no
interpolation). k has one where the mean has one, and k is whole: 10 to 10 says that the whole interval of the mean
rounds to 10. Undefined: no responses; N not constant (a single k has no meaning then); N = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import LEVEL, RESAMPLES, CaseBootstrap, percentile_intervals, sums_by_case
from consilium.statistics.estimate import Estimate, Figure, Undefined, figures


@dataclass(frozen=True)
class Calibration:
    """`k` and `mean` are estimates with intervals where 10 cases allow them; `hit_rate` is a share, 0 to 1;
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
    seed: int


def threshold(total_hits: int, n: int, n_criteria: int) -> int:
    """k from the sum of hits over n responses with N = `n_criteria` positive criteria each."""
    return min(max((2 * total_hits + n) // (2 * n), 1), n_criteria)


def _thresholds(total_hits: NDArray[np.float64], n: NDArray[np.float64], n_criteria: int) -> NDArray[np.float64]:
    """`threshold` over arrays of whole numbers. The sums are exact in float64, and are divided as integers."""
    hits, responses = np.rint(total_hits).astype(np.int64), np.rint(n).astype(np.int64)
    k = (2 * hits + responses) // (2 * np.maximum(responses, 1))
    return np.where(responses > 0, np.clip(k, 1, n_criteria), np.nan)


def calibrate(
    hits: ArrayLike,
    n_criteria: ArrayLike,
    *,
    case: ArrayLike | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
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
    bootstrap = CaseBootstrap(len(cases), seed, resamples)
    by_case = np.stack(
        [sums_by_case(s, where, len(cases))[:, 0], sums_by_case(np.ones(n), where, len(cases))[:, 0]], axis=1
    )
    sums, counts = bootstrap.totals(by_case)
    mean_intervals = percentile_intervals((sums / np.maximum(counts, 1))[None, :], len(cases))
    mean = mean_intervals.attach(figures([total / n], n, reason=lambda i: Reason.NO_RESPONSES()))[0]
    k: Figure = Estimate(float(threshold(total, n, size)), n, note=mean.note)
    if mean.low is not None and isinstance(k, Estimate):
        replicates = _thresholds(sums, counts, size)
        low = float(np.quantile(replicates, (1 - LEVEL) / 2, method="lower"))
        high = float(np.quantile(replicates, (1 + LEVEL) / 2, method="higher"))
        k = Estimate(k.value, n, low, high, k.note)
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
        seed=seed,
    )
