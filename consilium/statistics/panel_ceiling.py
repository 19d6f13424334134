"""What a panel reaches against itself: the measure for a candidate's distance from it.

A panel of m votes differs from itself, and a candidate cannot be closer to it than that. Sizes must match: two halves
of five votes are further apart than either is from the whole.

    ranked probability   each vote in turn against the distribution of the other m - 1
    distances            all pairs of disjoint sets of h = ⌊m/2⌋ votes, and their mean distance
    matched              each h of the candidate's readings against each h of the votes

All pairs are taken up to 1,000, else 1,000 drawn with a seed. Undefined (NaN): fewer than two votes; fewer than h
readings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.panel_votes import distribution
from consilium.statistics.ranked_probability import ranked_probability

MAX_PAIRS = 1000

Ints = NDArray[np.int64]
Distance = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


def left_out_score(low: Ints, high: Ints, n_levels: int) -> float:
    """The mean RPS of each vote by the other votes as its forecast."""
    m = len(low)
    if m < 2:
        return float("nan")
    scores = []
    for i in range(m):
        others = np.arange(m) != i
        forecast = distribution(low[others], high[others], n_levels)
        scores.append(ranked_probability(forecast, low[[i]], high[[i]]))
    return float(np.mean(scores))


def half_distances(
    low: Ints, high: Ints, n_levels: int, distances: Mapping[str, Distance], *, seed: int = 0
) -> dict[str, float]:
    """The mean of each distance over pairs of disjoint halves of the votes."""
    m = len(low)
    half = m // 2
    if not half:
        return dict.fromkeys(distances, float("nan"))
    n_pairs = comb(m, half) * comb(m - half, half) // 2
    pairs = list(_half_pairs(m, half)) if n_pairs <= MAX_PAIRS else _drawn_halves(m, half, seed)
    firsts, seconds = (
        np.stack([distribution(low[list(pair[side])], high[list(pair[side])], n_levels) for pair in pairs])
        for side in (0, 1)
    )
    return {name: float(distance(firsts, seconds).mean()) for name, distance in distances.items()}


def matched_distances(
    readings: Ints, low: Ints, high: Ints, n_levels: int, distances: Mapping[str, Distance], *, seed: int = 0
) -> dict[str, float]:
    """The mean of each distance of so many readings from so many votes as a half of the panel has."""
    m, s = len(low), len(readings)
    half = m // 2
    if not half or s < half:
        return dict.fromkeys(distances, float("nan"))
    if comb(s, half) * comb(m, half) <= MAX_PAIRS:
        of_readings, of_votes = (list(combinations(range(n), half)) for n in (s, m))
        pairs = [(chosen, votes) for chosen in of_readings for votes in of_votes]
    else:
        rng = np.random.Generator(np.random.PCG64(seed))
        pairs = [(tuple(rng.permutation(s)[:half]), tuple(rng.permutation(m)[:half])) for _ in range(MAX_PAIRS)]
    firsts = np.stack([distribution(readings[list(a)], readings[list(a)], n_levels) for a, _ in pairs])
    seconds = np.stack([distribution(low[list(b)], high[list(b)], n_levels) for _, b in pairs])
    return {name: float(distance(firsts, seconds).mean()) for name, distance in distances.items()}


def _half_pairs(m: int, half: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All unordered pairs of disjoint sets of ``half`` of m votes."""
    for first in combinations(range(m), half):
        others = [i for i in range(first[0] + 1, m) if i not in first]
        for second in combinations(others, half):
            yield first, second


def _drawn_halves(m: int, half: int, seed: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    rng = np.random.Generator(np.random.PCG64(seed))
    orders = [rng.permutation(m) for _ in range(MAX_PAIRS)]
    return [(tuple(order[:half]), tuple(order[half : 2 * half])) for order in orders]
