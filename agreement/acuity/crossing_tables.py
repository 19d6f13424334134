"""Where the cost curves of two candidates cross, and from which ratio on which candidate is the cheapest.

The mean cost is linear in the ratio, so that two curves cross at most once. Each case counts 1 (expected). Two
candidates are compared on the cases of the main figures of which both have a usable reading; the cheapest is found on
those of which all candidates of a format have one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.measures import Price
from agreement.acuity.readings import AcuityData
from agreement.acuity.tables import Aggregate, case_tables, everything
from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import MINIMUM_CASES, RESAMPLES, CaseBootstrap
from consilium.statistics.triage_cost import CURVE, cheapest, cost_parts_of_cells, crossing

Row = dict[str, Any]
Array = NDArray[np.float64]

CROSSING_COLUMNS = ("first", "second", "format", "ratio", "share_below", "note")
CHEAPEST_COLUMNS = ("format", "from_ratio", "candidate")
TEXT_COLUMNS = ("first", "second", "format", "candidate", "note")


def crossing_rows(data: AcuityData, *, price: Price, seed: int) -> list[Row]:
    """Rows of ``crossings.csv``: the first of two candidates is the one that costs less below the ratio.

    ``share_below`` is the share, of the resamples of cases in which they cross, of those below the ratio of ``price``.
    """
    parts = _cost_parts(data, price)
    bootstrap = CaseBootstrap(len(parts), seed, RESAMPLES) if len(parts) >= MINIMUM_CASES else None
    pairs = [
        (first, second)
        for first, second in combinations(range(len(data.series_names)), 2)
        if data.series_names[first][1] == data.series_names[second][1]
    ]
    if not pairs:
        return []
    of_pairs = parts[:, np.array(pairs)]  # (cases, pairs, 2 candidates, 3)
    shared = np.asarray((of_pairs[..., 2] > 0).all(axis=2))
    own = np.where(shared[..., None, None], of_pairs[..., :2], 0.0)
    # All pairs at once: one product of matrices.
    drawn = None if bootstrap is None else bootstrap.totals(own)
    return [
        _crossing_row(data, pair, own[:, i], int(shared[:, i].sum()), price, None if drawn is None else drawn[i])
        for i, pair in enumerate(pairs)
    ]


def _cost_parts(data: AcuityData, price: Price) -> Array:
    """d^γ, o^γ and whether there is a usable reading, by case and series, (cases, series, 3)."""
    tables = case_tables(data, everything(data), Aggregate.EXPECTED)
    under, over = (
        np.einsum("csij,ij->cs", tables.tables, cells) for cells in cost_parts_of_cells(data.n_levels, price.exponent)
    )
    return np.stack([under, over, (tables.usable > 0).astype(np.float64)], axis=-1)


def _crossing_row(
    data: AcuityData, pair: tuple[int, int], own: Array, n_cases: int, price: Price, drawn: Array | None
) -> Row:
    """``own`` (cases, 2 candidates, 2 parts) of the shared cases, and their sums in each resample, ``drawn``."""
    first, second = own.sum(axis=0) / max(n_cases, 1)
    ratio = crossing((first[0], first[1]), (second[0], second[1]))
    # Below the crossing the one with the lesser cost of over-triage costs less, without one that with both lesser.
    names = [data.series_names[place][0] for place in pair]
    if tuple(second[::-1]) < tuple(first[::-1]):
        names.reverse()
    share, why = None, ""
    if not n_cases:
        why = Reason.NO_SHARED_CASE()
    elif ratio is None:
        alike = np.allclose(first, second, rtol=0, atol=1e-12)
        why = Reason.COSTS_ALIKE() if alike else Reason.COSTS_LESS_THROUGHOUT()
    elif drawn is None or n_cases < MINIMUM_CASES:
        why = Reason.INTERVAL_CASES(cases=n_cases, needed=MINIMUM_CASES)
    else:
        share, why = _share_below(drawn, price.ratio)
    return {
        "first": names[0],
        "second": names[1],
        "format": data.series_names[pair[0]][1],
        "ratio": ratio,
        "share_below": share,
        "note": joined(why),
    }


def _share_below(drawn: Array, at: float) -> tuple[float | None, str]:
    """The share of the resamples with a crossing in which it lies below ``at``; (2 candidates, 2 parts, resamples)."""
    dearer_under, cheaper_over = drawn[0, 0] - drawn[1, 0], drawn[1, 1] - drawn[0, 1]
    crosses = dearer_under * cheaper_over > 0
    n = int(crosses.sum())
    if not n:
        return None, Reason.NO_RESAMPLE_CROSSES()
    ratios = cheaper_over[crosses] / dearer_under[crosses]
    left_out = RESAMPLES - n
    return float((ratios < at).mean()), Reason.RESAMPLES_NEVER_CROSS(n=left_out, all=RESAMPLES) if left_out else ""


def cheapest_rows(data: AcuityData, *, price: Price) -> list[Row]:
    """Rows of ``cheapest.csv``, from the first ratio of the cost curve to its last."""
    return list(_cheapest_rows(data, _cost_parts(data, price)))


def cases_of_cheapest(data: AcuityData, price: Price) -> dict[str, int]:
    """How many cases `cheapest_rows` takes, by format: those with a usable reading of every candidate."""
    parts = _cost_parts(data, price)
    return {format_: int(shared.sum()) for format_, _places, shared in _shared_by_all(data, parts)}


def _shared_by_all(data: AcuityData, parts: Array) -> Iterator[tuple[str, list[int], NDArray[np.bool_]]]:
    """For each format its series, by place, and of which cases (cases,) all of them have a usable reading."""
    for format_ in dict.fromkeys(format_ for _candidate, format_ in data.series_names):
        places = [place for place, (_name, own) in enumerate(data.series_names) if own == format_]
        yield format_, places, np.asarray((parts[:, places, 2] > 0).all(axis=1))


def _cheapest_rows(data: AcuityData, parts: Array) -> Iterator[Row]:
    for format_, places, shared in _shared_by_all(data, parts):
        if not shared.any():
            continue
        means = parts[shared][:, places, :2].mean(axis=0)
        for ratio, place in cheapest(means, float(CURVE[0]), float(CURVE[-1])):
            yield {"format": format_, "from_ratio": ratio, "candidate": data.series_names[places[place]][0]}
