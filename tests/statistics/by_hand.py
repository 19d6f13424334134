"""Intervals of the rule in plain Python, as `docs/statistics.md` gives it, to compare the product's with."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import optimize, stats


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


def difference_ends(
    first: tuple[float, float, float], second: tuple[float, float, float], deviations: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """Ends of the first figure less the second, each a value with its ends.

    ``deviations`` are what both are without each case, less their means, each 0 for a case that is not behind it.
    """
    (value, low, high), (other, other_low, other_high) = first, second
    squares = [sum(pair[i] ** 2 for pair in deviations) for i in (0, 1)]
    r = sum(a * b for a, b in deviations) / math.sqrt(squares[0] * squares[1]) if all(squares) else 0.0

    def length(own: float, opposite: float) -> float:
        return math.sqrt(own**2 - 2 * r * own * opposite + opposite**2)

    apart = value - other
    return apart - length(value - low, other_high - other), apart + length(high - value, other - other_low)


def less_mean(values: Sequence[float]) -> list[float]:
    """The values less their mean."""
    mean = sum(values) / len(values)
    return [value - mean for value in values]


def mid_p(x: float, n: float) -> tuple[float, float]:
    """Mid-p ends of ``x`` of ``n``: the tails hold 2.5% with half of what was seen, all of it for none and for all."""
    if x in (0, n):
        end = 0.05 ** (1 / n)
        return (0.0, 1 - end) if x == 0 else (end, 1.0)

    def above(p: float) -> float:
        return float(stats.beta.cdf(p, x, n - x + 1) + stats.beta.cdf(p, x + 1, n - x)) / 2

    low, high = (float(optimize.brentq(lambda p, tail=tail: above(p) - tail, 0, 1)) for tail in (0.025, 0.975))
    return low, high


def mid_p_of_whole_numbers(hits: int, n: int) -> tuple[float, float]:
    """The same for whole numbers, neither 0 nor ``n``, from the probabilities of each outcome."""

    def surprise(p: float) -> float:
        return float(sum(stats.binom.pmf(range(hits), n, p)) + stats.binom.pmf(hits, n, p) / 2)

    low, high = (float(optimize.brentq(lambda p, tail=tail: surprise(p) - tail, 0, 1)) for tail in (0.975, 0.025))
    return low, high


def rank_ranges(hits: Sequence[Sequence[float]], sizes: Sequence[float]) -> list[tuple[int, int, int]]:
    """The rank and its range of each candidate by paired comparisons with Holm's correction.

    Row i of ``hits`` is what each candidate has of the ``sizes[i]`` of case i; the figure is their pooled share.
    """
    cases, candidates = len(hits), len(hits[0])
    effective = sum(sizes) ** 2 / sum(size * size for size in sizes)
    whole, without = [], []
    for c in range(candidates):
        total = sum(row[c] for row in hits)
        whole.append(total / sum(sizes))
        without.append([(total - row[c]) / (sum(sizes) - size) for row, size in zip(hits, sizes, strict=True)])

    def ends(c: int, level: float) -> tuple[float, float]:
        y = [math.log(value / (1 - value)) for value in without[c]]
        mean = sum(y) / cases
        half = stats.t.ppf((1 + level) / 2, effective - 1) * math.sqrt(
            (cases - 1) / cases * sum((value - mean) ** 2 for value in y)
        )
        centre = math.log(whole[c] / (1 - whole[c]))
        return 1 / (1 + math.exp(half - centre)), 1 / (1 + math.exp(-half - centre))

    def sign(i: int, j: int, level: float) -> int:
        """The sign of the difference, 0 where its interval holds 0."""
        first, second = ([value - sum(without[c]) / cases for value in without[c]] for c in (i, j))
        r = sum(a * b for a, b in zip(first, second, strict=True)) / math.sqrt(
            sum(a * a for a in first) * sum(b * b for b in second)
        )
        (l1, u1), (l2, u2) = ends(i, level), ends(j, level)
        d, down, down2, up, up2 = whole[i] - whole[j], whole[i] - l1, u2 - whole[j], u1 - whole[i], whole[j] - l2
        if d - math.sqrt(down**2 - 2 * r * down * down2 + down2**2) > 0:
            return 1
        return -1 if d + math.sqrt(up**2 - 2 * r * up * up2 + up2**2) < 0 else 0

    ranges = []
    for i in range(candidates):
        others, above, below = {j for j in range(candidates) if j != i}, 0, 0
        while others:
            signs = {j: sign(i, j, 1 - 0.05 / len(others)) for j in others}
            apart = {j for j in others if signs[j]}
            if not apart:
                break
            above += sum(signs[j] < 0 for j in apart)
            below += sum(signs[j] > 0 for j in apart)
            others -= apart
        ranges.append((1 + sum(other > whole[i] for other in whole), 1 + above, candidates - below))
    return ranges
