"""The score interval of a proportion.

Wilson 1927; Newcombe 1998 (Statistics in Medicine 17:857), method 3. It keeps its 95% for small n and for shares near
0 and 1, where the interval of the textbook (Wald) collapses. It takes the trials as independent: where they come in
clusters, as the criteria of one response do, it is too narrow, and whoever shows it says so.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

LEVEL = 0.95


def wilson_interval(hits: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Ends of the interval of ``hits`` of ``n``; ValueError where that is no proportion."""
    if n < 1 or not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no proportion")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, squared = hits / n, z * z
    centre = (share + squared / (2 * n)) / (1 + squared / n)
    half = z * sqrt(share * (1 - share) / n + squared / (4 * n * n)) / (1 + squared / n)
    # At the ends the formula gives 0 and 1 but for rounding.
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    high = 1.0 if hits == n else min(1.0, centre + half)
    return low, high
