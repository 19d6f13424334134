"""Clinical Intent Alignment: how much of what physicians intended a set of criteria asks for.

Physicians intended the gold points. For each of them the set covers it in full, in part or not at all; an answer about
that may be invalid, or missing. With F points in full, P in part, and n points due:

    CIA                 F / n                invalid and missing count as not covered
    at least partly     (F + P) / n
    mean over cases     mean of F / n of each case
    weighted            Σ |points| of those in full / Σ |points|
    on valid answers    F / (points with a valid answer)

Backward, each criterion of the set is held against the gold points:

    precision           criteria that a gold point covers in full / criteria
    with sound extras   the same, counting criteria without a gold point that physicians call sound and needed
    F1                  2 · precision · CIA / (precision + CIA), 0 where both are 0

Two sets are compared on the same points (`set_comparison`).

Undefined: no gold point; on valid answers, no valid one; weighted, a gold point without points; precision, no
criterion.

Source: Chen et al. 2026, whose CIA is F / n. The others are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_ratio, sums_by_case_and_slice
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.ratios import estimated, ratio_figures

Array = NDArray[np.float64]
NO_GOLD_POINT = Reason.NO_GOLD_POINT()


class Extent(IntEnum):
    """How far a set covers a gold point, or why nobody knows."""

    FULL = 0
    PARTIAL = 1
    NONE = 2
    INVALID = 3
    MISSING = 4


@dataclass(frozen=True)
class IntentAlignment:
    """One set in one slice; n of ``cia``, ``partly`` and ``weighted`` is the number of gold points."""

    n_points: int
    n_cases: int
    n_invalid: int
    n_missing: int
    cia: Figure
    partly: Figure
    mean_of_cases: Figure
    weighted: Figure
    valid: Figure


def intent_alignment(
    extent: ArrayLike,
    *,
    case: ArrayLike,
    n_cases: int,
    points: ArrayLike,
    member: NDArray[np.bool_],
    rule: IntervalRule,
    unit: ArrayLike | None = None,
) -> list[IntentAlignment]:
    """The figures of a set in each slice; ``member`` (points, slices) says which gold point is in which slice.

    ``points`` are those of the gold points, NaN where there are none. ``unit`` numbers what the interval is over, the
    cases by default.
    """
    given, weight = np.asarray(extent, dtype=np.int64), np.abs(np.asarray(points, dtype=np.float64))

    def sums(values: ArrayLike) -> Array:
        return sums_by_case_and_slice(values, case, n_cases, member)

    due, full = sums(np.ones(len(given))), sums(given == Extent.FULL)
    has_points = due > 0
    shares = np.divide(full, due, out=np.zeros_like(full), where=has_points)
    n_points = due.sum(axis=0).astype(int)
    cia = covered_in_full(given, unit=case if unit is None else unit, member=member)
    columns = {
        "cia": estimated(cia, n=n_points, rule=rule, empty=NO_GOLD_POINT),
        "partly": ratio_figures(sums(given <= Extent.PARTIAL), due, empty=NO_GOLD_POINT),
        "mean_of_cases": ratio_figures(shares, has_points, empty=NO_GOLD_POINT),
        "valid": ratio_figures(full, sums(given <= Extent.NONE), empty=Reason.NO_VALID_EXTENT()),
        "weighted": _weighted(given, weight, member),
    }
    counts = {
        "n_points": n_points,
        "n_cases": has_points.sum(axis=0),
        "n_invalid": member[given == Extent.INVALID].sum(axis=0),
        "n_missing": member[given == Extent.MISSING].sum(axis=0),
    }
    rows = []
    for i in range(member.shape[1]):
        numbers = {name: int(own[i]) for name, own in counts.items()}
        figures = {name: own[i] for name, own in columns.items()}
        if not numbers["n_points"]:
            figures["valid"] = Undefined(NO_GOLD_POINT)
        rows.append(IntentAlignment(**numbers, **figures))  # type: ignore[arg-type]
    return rows


def _weighted(given: NDArray[np.int64], weight: Array, member: NDArray[np.bool_]) -> list[Figure]:
    weighed: list[Figure] = []
    for own in member.T:
        total = float(weight[own].sum())
        if not own.any():
            weighed.append(Undefined(NO_GOLD_POINT))
        elif not total > 0:  # NaN, where a point has none, is not above 0 either
            weighed.append(Undefined(Reason.GOLD_POINTS_WITHOUT_POINTS(), int(own.sum())))
        else:
            weighed.append(Estimate(float(weight[own & (given == Extent.FULL)].sum()) / total, int(own.sum())))
    return weighed


def covered_in_full(extent: ArrayLike, *, unit: ArrayLike, member: NDArray[np.bool_]) -> CaseFigures:
    """CIA of each slice for an interval rule, over ``unit``, which numbers the cases."""
    given, own = np.asarray(extent, dtype=np.int64), np.asarray(unit, dtype=np.int64)
    n_units = int(own.max()) + 1 if len(own) else 0
    return case_ratio(
        sums_by_case_and_slice(given == Extent.FULL, own, n_units, member),
        sums_by_case_and_slice(np.ones(len(given)), own, n_units, member),
        trials=True,
    )


def precision(n_matched: int, n_criteria: int) -> Figure:
    """The share of a set's criteria that count; n is the number of criteria."""
    return Estimate(n_matched / n_criteria, n_criteria) if n_criteria else Undefined(Reason.NO_CRITERION())


def f1(precision_figure: Figure, cia: Figure) -> Figure:
    """The harmonic mean of precision and CIA, 0 where both are 0; n is the number of gold points."""
    if isinstance(precision_figure, Undefined):
        return precision_figure
    if isinstance(cia, Undefined):
        return cia
    both = precision_figure.value + cia.value
    return Estimate(2 * precision_figure.value * cia.value / both if both else 0.0, cia.n)
