"""A panel's votes on one case: distribution, reference, dispersion and uncertainty, on ordered levels.

A vote is a level or lies between two adjacent ones, given by its ``low`` and ``high`` level, which differ by at most 1.
Of m votes on L levels:

    distribution q       a vote between two levels is half a vote for each
    reference            the median on half steps: votes sorted by (low + high) / 2; of an even number the two in the
                         middle, where they are at most one level apart, have their mean, rounded up to a half step;
                         else the more urgent one counts. A half step is a reference between two levels.
    dispersion           mean over the m(m - 1)/2 pairs of the squared distance in levels, by the nearest levels of both
    uncertainty u        -Σ q ln q / ln L, 0 to 1

The more urgent level is the higher one: the lowest comes first. By hand, of five votes on single levels: 3-2 on
neighbouring levels have dispersion 0.6; 1-3-1 on three levels 1.0; 4-1 two levels apart 1.6.

Source: Linzmayer et al. 2026 (votes on four levels, dispersion). Undefined (NaN): all of them without a vote;
dispersion with a single one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def distribution(low: ArrayLike, high: ArrayLike, n_levels: int) -> Array:
    """q (L,); NaN without a vote."""
    votes = np.concatenate([np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)])
    if not len(votes):
        return np.full(n_levels, np.nan)
    return np.bincount(votes, minlength=n_levels) / len(votes)


def reference(low: ArrayLike, high: ArrayLike) -> tuple[int, int]:
    """The lower and the upper level of the median; ValueError without a vote."""
    # In half steps, so that the median stays a whole number.
    halves = np.sort(np.asarray(low, dtype=np.int64) + np.asarray(high, dtype=np.int64)).tolist()
    if not halves:
        raise ValueError("a panel without a vote has no reference")
    m = len(halves)
    below, above = halves[(m - 1) // 2], halves[m // 2]
    middle = above if above - below > 2 else math.ceil((below + above) / 2)
    return middle // 2, (middle + 1) // 2


def distances(low: ArrayLike, high: ArrayLike) -> Array:
    """Squared distance in levels of each two votes, by their nearest levels, (votes, votes)."""
    lows, highs = np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)
    gap = np.maximum(lows[:, None] - highs[None, :], lows[None, :] - highs[:, None])
    return np.maximum(gap, 0).astype(np.float64) ** 2


def dispersion(low: ArrayLike, high: ArrayLike) -> float:
    """The mean over pairs; NaN with fewer than two votes."""
    apart = distances(low, high)
    m = len(apart)
    return float(apart.sum() / (m * (m - 1))) if m > 1 else math.nan


def uncertainty(distribution_of_votes: ArrayLike) -> float:
    """u of a distribution (L,)."""
    from scipy.special import entr

    q = np.asarray(distribution_of_votes, dtype=np.float64)
    return float(entr(q).sum() / math.log(len(q)))
