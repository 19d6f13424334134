"""The median with an interval from order statistics.

Distribution-free: the interval runs from the k-th smallest to the k-th largest value, k as large as its coverage of at
least 95% allows (Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2). It needs 6 values.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from statistics import median as middle

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

LEVEL = 0.95
NOTHING_COUNTED = Reason.NOTHING_COUNTED()


def interval_rank(n: int, level: float = LEVEL) -> int:
    """k, from 1, of the interval's ends; 0 where n values cannot give one."""
    tail = (1 - Fraction(str(level))) / 2 * 2**n  # in whole numbers, so that no n is too large
    k, term, below = 0, 1, 0  # term: n over k
    while k < n // 2:
        below += term
        if below > tail:
            break
        term = term * (n - k) // (k + 1)
        k += 1
    return k


def median_figure(values: Iterable[float], *, empty: str = NOTHING_COUNTED) -> Figure:
    """The median of the values with its interval where there is one; n is the number of values."""
    ordered = sorted(values)
    if not ordered:
        return Undefined(empty)
    k = interval_rank(len(ordered))
    ends = (float(ordered[k - 1]), float(ordered[-k])) if k else (None, None)
    return Estimate(float(middle(ordered)), len(ordered), *ends)
