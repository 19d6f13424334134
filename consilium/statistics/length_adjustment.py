"""The length-adjusted rubric score: a response pays for each 500 characters beyond a centre.

    adjusted = score - penalty · (characters - centre) / 500

with characters in Unicode code points. A response shorter than the centre gains as much as a longer one pays, and the
adjusted score of a single response is not clipped; the mean over responses is clipped to 0 to 1, as that of the score
itself. HealthBench Professional takes a centre of 2,000 characters and a penalty of 0.0147. Source: Soskin Hicks et al.
2026 (HealthBench Professional), section 4.1, and the code published with it.

Undefined without a score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

STEP = 500  # characters that the penalty is for


@dataclass(frozen=True, slots=True)
class LengthAdjustment:
    """``centre`` in characters; ``penalty`` for each `STEP` characters beyond it."""

    centre: float = 2000.0
    penalty: float = 0.0147

    def __post_init__(self) -> None:
        if not (np.isfinite(self.centre) and np.isfinite(self.penalty)) or self.centre < 0 or self.penalty < 0:
            raise ValueError("centre and penalty are numbers from 0")

    def charge(self, lengths: ArrayLike) -> NDArray[np.float64]:
        """What responses of these lengths pay; below 0 where they gain."""
        return np.asarray(self.penalty * (np.asarray(lengths, dtype=np.float64) - self.centre) / STEP)

    def adjusted(self, scores: ArrayLike, lengths: ArrayLike) -> NDArray[np.float64]:
        """The adjusted score of each response."""
        return np.asarray(np.asarray(scores, dtype=np.float64) - self.charge(lengths))


DEFAULT_ADJUSTMENT = LengthAdjustment()
