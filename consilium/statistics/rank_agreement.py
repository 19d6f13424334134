"""Agreement of two rankings of the same candidates: Spearman, Kendall tau-b, mean absolute difference, top-k.

Spearman: Pearson correlation of mid-ranks. Kendall tau-b: (concordant - discordant) / sqrt(pairs untied in A · pairs
untied in B) (Kendall 1945). Mean absolute difference: mean of |a - b|, in the units of the values. Top-k overlap: the
top-k of a rater is every candidate whose value is at least the k-th largest, so a tie at the border lets all its
members in; overlap = (common members) / (size of the larger set), which without ties is (common members) / k and is 1
only when the two sets are the same.

Undefined: fewer than 3 candidates for the correlations (any two are perfectly ordered, one way or the other); constant
values; no candidate for the difference; k or fewer candidates for the overlap (everyone is in the top k).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

MINIMUM = 3
CONSTANT = Reason.CONSTANT_VALUES()


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Mid-ranks from 1 upwards: tied values share the mean of their places."""
    _, group, size = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    return np.asarray((last - (size - 1) / 2)[group])


def _paired(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    if first.shape != second.shape:
        raise ValueError("both settings must have one value for each candidate")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("leave out candidates without a value before comparing ranks")
    return first, second


def pearson(a: ArrayLike, b: ArrayLike, constant: str = CONSTANT) -> Figure:
    """Pearson correlation; n is the number of units. ``constant`` is the reason where either side is constant."""
    first, second = _paired(a, b)
    n = first.size
    if n < MINIMUM:
        return Undefined(Reason.CORRELATION_UNITS(n=MINIMUM), n)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return Undefined(constant, n)
    x, y = first - first.mean(), second - second.mean()
    # Scaled first, so that extreme units neither overflow nor vanish when squared.
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return Estimate(float(np.clip(x @ y / sqrt(float(x @ x) * float(y @ y)), -1, 1)), n)


def spearman(a: ArrayLike, b: ArrayLike) -> Figure:
    """Spearman's rank correlation; n is the number of candidates."""
    first, second = _paired(a, b)
    return pearson(ranks(first), ranks(second))


def kendall_tau_b(a: ArrayLike, b: ArrayLike) -> Figure:
    """Kendall's tau-b; n is the number of candidates. Quadratic in their number, which is small."""
    first, second = _paired(a, b)
    n = first.size
    if n < MINIMUM:
        return Undefined(Reason.CORRELATION_UNITS(n=MINIMUM), n)
    above = np.triu_indices(n, 1)
    x = np.sign(first[:, None] - first[None, :])[above]
    y = np.sign(second[:, None] - second[None, :])[above]
    untied = float(np.abs(x).sum()) * float(np.abs(y).sum())
    if untied == 0:
        return Undefined(CONSTANT, n)
    return Estimate(float(np.clip((x @ y) / sqrt(untied), -1, 1)), n)


def mean_absolute_difference(a: ArrayLike, b: ArrayLike) -> Figure:
    """Mean of |a - b|, in the units of the values (points, when they are percentages)."""
    first, second = _paired(a, b)
    if not first.size:
        return Undefined(Reason.NO_CANDIDATES())
    return Estimate(float(np.abs(first - second).mean()), int(first.size))


def top_k_overlap(a: ArrayLike, b: ArrayLike, k: int) -> Figure:
    """Overlap of the two top-k sets, 0 to 1; n is the number of candidates."""
    if k < 1:
        raise ValueError("k is at least 1")
    first, second = _paired(a, b)
    n = first.size
    if n <= k:
        return Undefined(Reason.ALL_IN_TOP_K(n=n, k=k), n)
    sets = [values >= np.partition(values, n - k)[n - k] for values in (first, second)]
    sizes = [int(members.sum()) for members in sets]
    note = Reason.TIES_IN_TOP_K(one=sizes[0], two=sizes[1], k=k) if max(sizes) > k else ""
    return Estimate(int((sets[0] & sets[1]).sum()) / max(sizes), n, note=note)


@dataclass(frozen=True)
class RankAgreement:
    spearman: Figure
    kendall: Figure
    mean_absolute_difference: Figure
    top3: Figure
    top5: Figure


def rank_agreement(a: ArrayLike, b: ArrayLike) -> RankAgreement:
    """All of the above for one value per candidate under two settings or raters."""
    return RankAgreement(
        spearman(a, b),
        kendall_tau_b(a, b),
        mean_absolute_difference(a, b),
        top_k_overlap(a, b, 3),
        top_k_overlap(a, b, 5),
    )
