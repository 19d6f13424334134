"""Intervals of the rule in plain Python, as `docs/statistics.md` gives it, to compare the product's with."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import stats


def effective_number(sizes: Sequence[float]) -> float:
    """The number of equally large cases that would weigh as much."""
    return sum(sizes) ** 2 / sum(size**2 for size in sizes)


def logit_jackknife(
    values_without: Sequence[float], value: float, sizes: Sequence[float], low: float, high: float
) -> tuple[float, float]:
    """Ends of the 95% interval of ``value``, from what it is without each case; inside of its bounds."""

    def logit(x: float) -> float:
        return math.log((x - low) / (high - x))

    n, y = len(values_without), [logit(x) for x in values_without]
    mean = sum(y) / n
    spread = math.sqrt((n - 1) / n * sum((each - mean) ** 2 for each in y))
    half = float(stats.t(max(effective_number(sizes) - 1, 1)).ppf(0.975)) * spread
    ends = [low + (high - low) / (1 + math.exp(-(logit(value) + sign * half))) for sign in (-1, 1)]
    return ends[0], ends[1]


def ratio_without(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Σ above / Σ below without each case."""
    whole = sum(above), sum(below)
    return [(whole[0] - a) / (whole[1] - b) for a, b in zip(above, below, strict=True)]


def ratio_ends(
    above: Sequence[float], below: Sequence[float], low: float = 0.0, high: float = 1.0
) -> tuple[float, float]:
    """Ends of the interval of Σ above / Σ below, cases as large as their denominators."""
    return logit_jackknife(ratio_without(above, below), sum(above) / sum(below), below, low, high)
