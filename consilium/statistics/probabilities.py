"""Quality of predicted probabilities of met: Brier score, calibration error and curve.

    Brier score = mean of (p − y)²                                        (Brier 1950, for two outcomes)
    expected calibration error = Σ over bins of n_b / n · |share met_b − mean p_b|     (Naeini et al. 2015)

Bins are ten of equal width; a bin without pairs counts for nothing. The Brier score rewards both telling pairs apart
and meaning what the number says, the calibration error the second alone. The error is never negative, so in small
samples it is above 0 for perfect probabilities too: it has no interval here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import sums_by_case
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.ratios import ratio_figures

BINS = 10
NO_PAIRS = Reason.NO_PAIRS()


@dataclass(frozen=True)
class ProbabilityBin:
    """The pairs whose probability lies from ``start`` to ``end``. ``share_met``: of them, what physicians say is met,
    with an interval over cases.
    """

    start: float
    end: float
    n: int
    mean_probability: float
    share_met: Figure


def _checked(met: ArrayLike, probability: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    truth, chance = np.asarray(met, dtype=np.float64).ravel(), np.asarray(probability, dtype=np.float64).ravel()
    if truth.shape != chance.shape:
        raise ValueError("there must be one probability for each outcome")
    if chance.size and not (chance.min() >= 0 and chance.max() <= 1):
        raise ValueError("a probability lies between 0 and 1")
    return truth, chance


def bin_of(chance: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bin of equal width of each probability, 0 to 9."""
    # 0.3 * 10 may come out just below 3; the border belongs to the bin above it.
    return np.minimum(np.floor(np.round(chance * BINS, 9)), BINS - 1).astype(np.int64)


def brier_score(
    met: ArrayLike,
    probability: ArrayLike,
    *,
    case: ArrayLike | None = None,
    n_cases: int = 0,
    rule: IntervalRule | None = None,
) -> Figure:
    """Mean squared distance of the probability from the outcome (0, 1), from 0 to 1; smaller is better.

    ``case`` numbers each pair's case for the interval. n is the number of pairs.
    """
    truth, chance = _checked(met, probability)
    if not truth.size:
        return Undefined(NO_PAIRS)
    where, size = (np.zeros(truth.size, dtype=np.int64), 1) if case is None else (case, n_cases)
    above = sums_by_case((chance - truth) ** 2, where, size)
    pairs = sums_by_case(np.ones(truth.size), where, size)
    return ratio_figures(above, pairs, rule=rule, empty=NO_PAIRS)[0]


def expected_calibration_error(met: ArrayLike, probability: ArrayLike) -> Figure:
    """How far, on average, the share of met in a bin is from the mean probability there; n is the number of pairs."""
    truth, chance = _checked(met, probability)
    if not truth.size:
        return Undefined(NO_PAIRS)
    apart = np.bincount(bin_of(chance), weights=truth - chance, minlength=BINS)
    return Estimate(float(np.abs(apart).sum() / truth.size), int(truth.size))


def calibration_curve(
    met: ArrayLike, probability: ArrayLike, *, case: ArrayLike, n_cases: int, rule: IntervalRule
) -> list[ProbabilityBin]:
    """The bins that hold pairs, from the lowest probability to the highest."""
    truth, chance = _checked(met, probability)
    where = bin_of(chance)
    shape: dict[str, Any] = {"case": case, "n_cases": n_cases, "slice_of": where, "n_slices": BINS}
    shares = ratio_figures(
        sums_by_case(truth, **shape), sums_by_case(np.ones(truth.size), **shape), rule=rule, empty=NO_PAIRS
    )
    counts = np.bincount(where, minlength=BINS)
    summed = np.bincount(where, weights=chance, minlength=BINS)
    return [
        ProbabilityBin(i / BINS, (i + 1) / BINS, int(counts[i]), float(summed[i] / counts[i]), shares[i])
        for i in np.flatnonzero(counts).tolist()
    ]
