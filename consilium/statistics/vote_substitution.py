"""What becomes of a panel's reference if a candidate stands in for one of its members.

Each vote in turn is replaced by the candidate's level: how often the median changes, and by how many levels, on half
steps (`panel_votes.reference`); the mean over the votes. Source: Linzmayer et al. 2026. Undefined (NaN): no vote.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.panel_votes import reference

Ints = NDArray[np.int64]


def substitution(low: Ints, high: Ints, level: int) -> tuple[float, float]:
    """The share of the votes whose replacement changes the median, and the mean change in levels."""
    if not len(low):
        return float("nan"), float("nan")
    before = sum(reference(low, high))
    changes = []
    for i in range(len(low)):
        lows, highs = low.copy(), high.copy()
        lows[i] = highs[i] = level
        changes.append(abs(sum(reference(lows, highs)) - before) / 2)
    return float(np.mean(np.array(changes) > 0)), float(np.mean(changes))
