"""The frontier of candidates by cost and quality, and the best value so far over time.

A candidate is dominated where another is at least as good and at most as expensive, and better in one of the two. The
frontier is what is left. Candidates that are equal in both are on it together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def domination(cost: ArrayLike, quality: ArrayLike) -> NDArray[np.bool_]:
    """Shape (n, n): whether the first is dominated by the second. NaN in either: neither dominates nor is dominated."""
    costs, qualities = np.asarray(cost, dtype=np.float64), np.asarray(quality, dtype=np.float64)
    not_dearer = costs[None, :] <= costs[:, None]
    not_worse = qualities[None, :] >= qualities[:, None]
    differs = (costs[None, :] < costs[:, None]) | (qualities[None, :] > qualities[:, None])
    return np.asarray(not_dearer & not_worse & differs)


def on_frontier(cost: ArrayLike, quality: ArrayLike) -> NDArray[np.bool_]:
    """Whether each is on the frontier; False where cost or quality is NaN."""
    known = ~(np.isnan(np.asarray(cost, dtype=np.float64)) | np.isnan(np.asarray(quality, dtype=np.float64)))
    return np.asarray(known & ~domination(cost, quality).any(axis=1))


def best_until(time: ArrayLike, value: ArrayLike) -> Array:
    """For each the largest value at its time or before; those of the same time count for each other."""
    times, values = np.asarray(time), np.asarray(value, dtype=np.float64)
    order = np.argsort(times, kind="stable")
    running = np.maximum.accumulate(values[order])
    last = np.searchsorted(times[order], times, side="right") - 1
    return np.asarray(running[last]) if len(values) else values


def best_before(time: ArrayLike, value: ArrayLike) -> NDArray[np.int64]:
    """For each the place of the largest value before its time, the first of equals; -1 where there is none."""
    times, values = np.asarray(time), np.asarray(value, dtype=np.float64)
    places = np.full(len(values), -1, dtype=np.int64)
    for place in range(len(values)):
        earlier = np.flatnonzero(times < times[place])
        if len(earlier):
            places[place] = earlier[np.argmax(values[earlier])]
    return places
