"""Holm's correction of the p-values of one family.

Sorted upwards, p(1) <= ... <= p(m), the adjusted value of p(i) is the largest of (m - j + 1) · p(j) for j <= i, at most
1. Rejecting where it is at most α keeps the chance of any false rejection in the family below α, however the tests
depend on each other. Source: Holm 1979.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p: Sequence[float]) -> list[float]:
    """The adjusted p-values, in the order given."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0) if len(values) else values
    result = np.empty_like(values)
    result[order] = adjusted
    return result.tolist()


def holm_of_defined(p: Sequence[float | None]) -> list[float | None]:
    """The same where some of the family have no p-value: they stay None, and the others are the family."""
    corrected = iter(holm([value for value in p if value is not None]))
    return [None if value is None else next(corrected) for value in p]
