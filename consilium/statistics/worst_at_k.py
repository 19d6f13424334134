"""Worst-at-k: the score to expect of the worst of k samples of the same case.

For a case with n >= k samples, sorted upwards x(1) <= ... <= x(n), the expected minimum of k drawn without
replacement is

    sum over i of x(i) · C(n - i, k - 1) / C(n, k)

(x(i) is the minimum when the other k - 1 come from the n - i above it); worst-at-k is the mean of it over cases,
clipped to [0, 1] as every benchmark score is. Source: Arora et al. 2025 (HealthBench), which draws the subsets; this
is the exact expectation. Cases with n < k are left out and counted; undefined where none is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined


@dataclass(frozen=True, eq=False)
class WorstAtK:
    """`figure` has n = the number of cases used; `by_case` holds the expected minimum of each, NaN for those left
    out.
    """

    figure: Figure
    by_case: NDArray[np.float64]
    n_left_out: int


def minimum_weights(n: int, k: int) -> NDArray[np.float64]:
    """Probability that each of n samples, sorted upwards, is the minimum of k drawn without replacement."""
    if not 1 <= k <= n:
        raise ValueError("k must lie between 1 and the number of samples")
    subsets = comb(n, k)
    # Whole numbers divide exactly rounded in Python, however large.
    return np.array([comb(n - i, k - 1) / subsets for i in range(1, n + 1)])


def worst_at_k(case: ArrayLike, score: ArrayLike, k: int) -> WorstAtK:
    """From the case number (0, 1, ...) and score of each sample. Samples without a score must be left out before."""
    if k < 1:
        raise ValueError("k is at least 1")
    cases = np.asarray(case, dtype=np.int64).ravel()
    scores = np.asarray(score, dtype=np.float64).ravel()
    order = np.lexsort((scores, cases))
    cases, scores = cases[order], scores[order]
    sizes = np.bincount(cases) if cases.size else np.zeros(0, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    expected = np.full(len(sizes), np.nan)
    for n in np.unique(sizes[sizes >= k]).tolist():
        which = np.flatnonzero(sizes == n)
        expected[which] = scores[starts[which][:, None] + np.arange(n)] @ minimum_weights(n, k)
    used = expected[~np.isnan(expected)]
    left_out = int(((sizes > 0) & (sizes < k)).sum())
    if not used.size:
        reason = Reason.TOO_FEW_SAMPLES(k=k) if left_out else Reason.NO_SAMPLES()
        return WorstAtK(Undefined(reason), expected, left_out)
    mean = float(used.mean())
    clipped = min(1.0, max(0.0, mean))
    note = Reason.CLIPPED(value=f"{mean:.6g}") if clipped != mean else ""
    if left_out:
        note = joined(note, Reason.SHORT_CASES_LEFT_OUT(n=left_out, k=k))
    return WorstAtK(Estimate(clipped, int(used.size), note=note), expected, left_out)
