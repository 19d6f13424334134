"""Prevalence: the share of pairs that a rater called met. A: (tp + fn) / n; B: (tp + fp) / n. Undefined with no
pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilium.core.reasons import Reason
from consilium.statistics.coefficient import Coefficient
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, figures


def prevalence_a_values(counts: ConfusionCounts) -> NDArray[np.float64]:
    """Share that rater A (the reference) called met, for each table; NaN where there is no pair."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.true_divide(counts.tp + counts.fn, counts.n))


def prevalence_b_values(counts: ConfusionCounts) -> NDArray[np.float64]:
    """Share that rater B called met, for each table; NaN where there is no pair."""
    return prevalence_a_values(counts.swapped())


def prevalence_a_figures(counts: ConfusionCounts) -> list[Figure]:
    return figures(prevalence_a_values(counts), counts.n, reason=lambda i: Reason.NO_PAIRS())


def prevalence_b_figures(counts: ConfusionCounts) -> list[Figure]:
    return prevalence_a_figures(counts.swapped())


def prevalence_a(counts: ConfusionCounts) -> Figure:
    """Prevalence of rater A in one table; n is the number of pairs."""
    return prevalence_a_figures(counts)[0]


def prevalence_b(counts: ConfusionCounts) -> Figure:
    """Prevalence of rater B in one table; n is the number of pairs."""
    return prevalence_b_figures(counts)[0]


PREVALENCE_A = Coefficient(
    key="prevalence_a",
    figures=prevalence_a_figures,
    values=prevalence_a_values,
    heading="Met, A",
    plain_name="reference says met",
    plain_heading="met A",
    has_interval=False,
)
PREVALENCE_B = Coefficient(
    key="prevalence_b",
    figures=prevalence_b_figures,
    values=prevalence_b_values,
    heading="Met, B",
    plain_name="rater says met",
    plain_heading="met B",
    has_interval=False,
)
