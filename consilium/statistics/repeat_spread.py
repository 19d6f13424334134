"""How far repeats of one measurement lie apart: their mean, standard deviation with n - 1, least and greatest value.

HealthBench reports the standard deviation of the overall score over repeated runs (Arora et al. 2025). The mean of a
single repeat is defined, its standard deviation is not. The repeats are over the same cases, so that the deviation is
that of the repeats alone and says nothing about other cases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

MINIMUM_REPEATS = 2


@dataclass(frozen=True)
class RepeatSpread:
    """n of each figure is the number of repeats."""

    mean: Figure
    sd: Figure
    lowest: Figure
    highest: Figure


def repeat_spread(values: ArrayLike, *, empty: str = "") -> RepeatSpread:
    """The figures of the repeats ``values``; ``empty`` says why there is none."""
    given = np.asarray(values, dtype=np.float64).ravel()
    n = int(given.size)
    few = Undefined(Reason.TOO_FEW_REPEATS(n=n, needed=MINIMUM_REPEATS), n)
    if not n:
        none = Undefined(empty, 0) if empty else few
        return RepeatSpread(none, none, none, none)
    sd: Figure = Estimate(float(np.std(given, ddof=1)), n) if n >= MINIMUM_REPEATS else few
    return RepeatSpread(
        Estimate(float(given.mean()), n), sd, Estimate(float(given.min()), n), Estimate(float(given.max()), n)
    )
