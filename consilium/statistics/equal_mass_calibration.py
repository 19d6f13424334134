"""Expected calibration error over bins of about equal numbers of answers.

    ECE = Σ over bins of n_b / n · |share right_b - mean confidence_b|

The bin of an answer is ⌊10 · rank / n⌋ with rank the number of answers of smaller confidence, so that answers of the
same confidence are never parted; bins may then be empty. Sources: Guo et al. 2017; Nixon et al. 2019 (equal mass). Bins
of equal width are `probabilities.expected_calibration_error`. Undefined: no answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

BINS = 10


def equal_mass_bins(confidence: ArrayLike) -> NDArray[np.int64]:
    """The bin of each answer, 0 to 9."""
    values = np.asarray(confidence, dtype=np.float64).ravel()
    smaller = np.searchsorted(np.sort(values), values, side="left")
    return np.asarray(BINS * smaller // max(len(values), 1), dtype=np.int64)


def equal_mass_error(right: ArrayLike, confidence: ArrayLike) -> Figure:
    """From one entry for each answer; confidence is 0 to 1, n the number of answers."""
    truth, values = np.asarray(right, dtype=np.float64).ravel(), np.asarray(confidence, dtype=np.float64).ravel()
    if truth.shape != values.shape:
        raise ValueError("each answer needs its confidence")
    if not len(values):
        return Undefined(Reason.NO_ANSWERS())
    place = equal_mass_bins(values)
    apart = np.bincount(place, weights=truth - values, minlength=BINS)
    return Estimate(float(np.abs(apart).sum() / len(values)), len(values))
