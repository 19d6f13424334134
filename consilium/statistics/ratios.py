"""Means and pooled shares over cases: scale · (sum of numerator) / (sum of denominator), with intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_ratio
from consilium.statistics.estimate import Figure, figures
from consilium.statistics.intervals import IntervalRule

NO_RESPONSES = Reason.NO_RESPONSES()


def ratio_figures(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    rule: IntervalRule | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    empty: str = NO_RESPONSES,
    trials: bool = False,
) -> list[Figure]:
    """A ratio of each slice, from sums by case of shape (n_cases, slices); n is the denominator.

    Undefined, by ``empty``, where the denominator is 0. ``bounds`` are those of the ratio. ``trials``: it is a share of
    events among the trials of the denominator.
    """
    below = np.asarray(denominator, dtype=np.float64)
    ratio = case_ratio(numerator, below, bounds=bounds, trials=trials)
    return estimated(ratio, n=np.rint(below.sum(axis=0)).astype(np.int64), rule=rule, empty=empty)


def estimated(
    ratio: CaseFigures, *, n: ArrayLike, rule: IntervalRule | None, empty: str = NO_RESPONSES
) -> list[Figure]:
    """The figures of all slices with their intervals; ``n`` (slices,) is reported beside each.

    A figure that was clipped says from where in its note.
    """
    unclipped, values = ratio.unclipped(), ratio.whole()
    estimates = figures(
        values,
        n,
        reason=lambda i: empty,
        noted=unclipped != values,
        note=lambda i: Reason.CLIPPED(value=f"{unclipped[i]:.6g}"),
    )
    return estimates if rule is None or not estimates else rule.intervals(ratio).attach(estimates)
