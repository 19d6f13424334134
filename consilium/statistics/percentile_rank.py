"""The percentile of one value among others: the share of them that are lower, ties counting half, times 100.

    100 · (lower + equal / 2) / n

HealthBench places its grader among the physicians in this way (Arora et al. 2025); `scipy.stats.percentileofscore`
with ``kind="mean"`` is the same. Undefined with fewer than two others, and where the value itself is undefined.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.estimate import ROUNDING, Estimate, Figure, Undefined

MINIMUM_OTHERS = 2


def percentile_rank(value: float | None, others: ArrayLike, *, reason: str = "") -> Figure:
    """The percentile of ``value`` among ``others``; n is their number. ``reason`` says why there is no value."""
    values = np.asarray(others, dtype=np.float64).ravel()
    if values.size < MINIMUM_OTHERS:
        return Undefined(Reason.TOO_FEW_PHYSICIANS(n=int(values.size), needed=MINIMUM_OTHERS), int(values.size))
    if value is None:
        return Undefined(reason or Reason.NO_PAIRS(), int(values.size))
    # The same figure from other counts may differ by rounding.
    equal = np.abs(values - value) <= ROUNDING
    lower = (values < value) & ~equal
    return Estimate(100.0 * float(lower.sum() + equal.sum() / 2) / values.size, int(values.size))
