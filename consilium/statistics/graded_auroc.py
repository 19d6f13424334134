"""AUROC of a grade that has few values, from counts by case, so that it has an interval over cases.

With r[g] events and w[g] other units at grade g, R = Σ r and W = Σ w:

    AUROC = Σ r[g] · (Σ w[h < g] + w[g] / 2) / (R · W)

This is the area of `auroc` (Hanley and McNeil 1982) with the grade as the score, written as a function of counts that
add up over cases. Undefined: no event, or nothing but events.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.case_figures import CaseFigures

Array = NDArray[np.float64]


def graded_auroc(events: ArrayLike, others: ArrayLike) -> CaseFigures:
    """The AUROC of each slice, from numbers of events and of other units, both of shape (cases, slices, grades).

    A higher grade is to go with the event. The size of a case is its number of units.
    """
    first, second = np.asarray(events, dtype=np.float64), np.asarray(others, dtype=np.float64)
    if first.ndim != 3 or first.shape != second.shape:
        raise ValueError("events and others need the same shape (cases, slices, grades)")
    grades = first.shape[2]

    def area(sums: Array) -> Array:
        of_events, of_others = sums[..., :grades], sums[..., grades:]
        below = np.cumsum(of_others, axis=-1) - of_others / 2
        pairs = of_events.sum(axis=-1) * of_others.sum(axis=-1)
        return np.divide((of_events * below).sum(axis=-1), pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)

    return CaseFigures(np.concatenate([first, second], axis=2), area, first.sum(axis=2) + second.sum(axis=2))
