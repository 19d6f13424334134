"""Sign-flip test: is a mean of differences, one a case, 0?

If it were, each case's difference could as well have the other sign. With differences g of n cases and their mean m, a
pattern of signs is a *hit* where the mean of the differences under it is at least |m| away from 0. Zeros stay; they
are the same under either sign.

    n ≤ 20    p = hits / 2ⁿ                     over all patterns
    n > 20    p = (hits + 1) / (draws + 1)      over 100,000 patterns drawn at random

Two-sided, and exact for differences that are symmetric about 0. Means that differ by less than 1e-12 are the same.
Undefined: no case.

Sources: Fisher 1935, chapter III; Phipson and Smyth 2010 (the drawn pattern that was seen counts as well).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

MAX_EXACT_CASES = 20
DRAWS = 100_000
SAME = 1e-12
# Signs are drawn in blocks of about 4 MB.
BLOCK_CELLS = 4_000_000


def sign_flip_p(differences: ArrayLike, *, seed: int) -> Figure:
    """Two-sided p; n is the number of cases. ``seed`` is for more than 20 cases, drawn in their order."""
    apart = np.asarray(differences, dtype=np.float64).ravel()
    n = len(apart)
    if not n:
        return Undefined(Reason.NO_SCORED_CASE())
    least = abs(float(apart.mean())) - SAME
    if n <= MAX_EXACT_CASES:
        return Estimate(int((np.abs(_all_sums(apart)) / n >= least).sum()) / 2**n, n)
    hits = sum(int((np.abs(sums) / n >= least).sum()) for sums in _drawn_sums(apart, seed))
    return Estimate((hits + 1) / (DRAWS + 1), n, note=Reason.DRAWN_SIGNS(draws=DRAWS))


def _all_sums(apart: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for difference in apart.tolist():
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _drawn_sums(apart: NDArray[np.float64], seed: int) -> list[NDArray[np.float64]]:
    rng = np.random.Generator(np.random.PCG64(seed))
    total, rows = float(apart.sum()), max(1, BLOCK_CELLS // len(apart))
    sums = []
    for start in range(0, DRAWS, rows):
        size = min(rows, DRAWS - start), len(apart)
        is_kept = rng.integers(0, 2, size=size, dtype=np.int8)
        sums.append(2 * (is_kept @ apart) - total)
    return sums
