"""The ratio of two independent shares, of a part of the cases and of the others, with Koopman's score interval.

A part has x of n cases with a label, the other cases x' of n'. Their ratio φ = (x/n) / (x'/n') is undefined where x' is
0, where a side has no case, or where no case has the label. Ends of the interval are the φ at which the score statistic

    χ²(φ) = (x - n·p)² / (n·p·(1 - p)) + (x' - n'·p')² / (n'·p'·(1 - p'))

is z² of the level. p' is the share of the others that is most likely if p = φ·p': the smaller root of
(n + n')·φ·p'² - (φ·(n + x') + x + n')·p' + (x + x') = 0 (Koopman 1984). Nothing is added to a count of 0.

The share in the part over that in the whole, with w = n / (n + n'), is φ / (w·φ + 1 - w): it grows with φ, so its
interval has the ends of φ put through the same formula. It is defined where x' is 0 (φ is infinite and the ratio 1/w).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

LEVEL = 0.95
BISECTIONS = 200
# Beyond this ratio to the estimate no end is looked for: there is none.
_FARTHEST = 1e12


@dataclass(frozen=True, slots=True)
class Enrichment:
    """``to_rest``: the share in the part over that in the other cases; ``to_whole``: over that in all cases."""

    to_rest: Figure
    to_whole: Figure


def enrichment(hits: int, n: int, hits_rest: int, n_rest: int, level: float = LEVEL) -> Enrichment:
    """Both ratios for ``hits`` of ``n`` cases of the part and ``hits_rest`` of ``n_rest`` others; their n is all cases.

    ValueError where that is no share.
    """
    if not (0 <= hits <= n and 0 <= hits_rest <= n_rest):
        raise ValueError(f"{hits} of {n} and {hits_rest} of {n_rest} are no shares")
    total = n + n_rest
    reason = ""
    if not n:
        reason = Reason.NO_CASE_INSIDE()
    elif not n_rest:
        reason = Reason.NO_CASE_OUTSIDE()
    elif not hits + hits_rest:
        reason = Reason.LABEL_ON_NO_CASE()
    if reason:
        return Enrichment(Undefined(reason, total), Undefined(reason, total))
    low, high = koopman_interval(hits, n, hits_rest, n_rest, level)
    weight = n / total

    def over_whole(ratio: float) -> float:
        return 1 / weight if math.isinf(ratio) else ratio / (weight * ratio + 1 - weight)

    ratio = hits / n / (hits_rest / n_rest) if hits_rest else math.inf
    to_whole = Estimate(over_whole(ratio), total, over_whole(low), over_whole(high))
    if math.isinf(ratio):
        return Enrichment(Undefined(Reason.LABEL_ON_NO_OTHER_CASE(), total), to_whole)
    return Enrichment(Estimate(ratio, total, low, high), to_whole)


def koopman_interval(hits: int, n: int, hits_rest: int, n_rest: int, level: float = LEVEL) -> tuple[float, float]:
    """Ends of the interval of the ratio; infinity above where ``hits_rest`` is 0."""
    limit = NormalDist().inv_cdf((1 + level) / 2) ** 2
    # Where a count is 0, the half that is nearest to it gives a place to start from.
    start = (max(hits, 0.5) / n) / (max(hits_rest, 0.5) / n_rest)

    def end(factor: float) -> float:
        inner, outer = start, start * factor
        while _score(outer, hits, n, hits_rest, n_rest) < limit:
            inner, outer = outer, outer * factor
            if not 1 / _FARTHEST < outer / start < _FARTHEST:
                return math.inf if factor > 1 else 0.0
        for _step in range(BISECTIONS):
            middle = math.sqrt(inner * outer)
            if not min(inner, outer) < middle < max(inner, outer):
                break
            if _score(middle, hits, n, hits_rest, n_rest) < limit:
                inner = middle
            else:
                outer = middle
        return inner

    return (end(0.5) if hits else 0.0, end(2.0) if hits_rest else math.inf)


def _score(ratio: float, hits: int, n: int, hits_rest: int, n_rest: int) -> float:
    """χ² of a ratio of the shares."""
    square, middle = (n + n_rest) * ratio, ratio * (n + hits_rest) + hits + n_rest
    both = hits + hits_rest
    root = math.sqrt(max(middle * middle - 4 * square * both, 0.0))
    share_rest = 2 * both / (middle + root)
    share = ratio * share_rest
    return _part(hits, n, share) + _part(hits_rest, n_rest, share_rest)


def _part(hits: int, n: int, share: float) -> float:
    difference = hits - n * share
    variance = n * share * (1 - share)
    if variance > 0:
        return difference * difference / variance
    return 0.0 if abs(difference) < 1e-9 else math.inf
