"""The file of `pairs_file`: trials on near-miss pairs. Pure: a file in, arrays out.

Runs of trials come to the same arrays by `pairs_of`, so that a figure is the same wherever it is computed.

A row is a trial: ``pair``, ``order`` (``ref_first`` or ``cand_first``), ``trial`` from 0, ``total_ref`` and
``total_cand`` (both empty where the answer was unusable), and ``stated``: ``ref``, ``cand``, ``same`` or nothing. Other
columns are optional: ``set``; ``case``; ``points_abs``, Σ|points| of the set for the case; ``points_min`` and
``points_max``, what a response can get; ``kind``, ``axis`` and ``tag``, which make slices.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import Phrase
from consilium.statistics.trials import Decision, PairFacts, Trials
from rubrics.parsing.fields import Fields, Ids
from validation.files.table_rows import (
    TableRows,
    name_in,
    number_in,
    numbered,
    set_name_in,
    slice_masks,
    slices_in,
    whole_number_in,
    with_missing,
)

COLUMNS = ("pair", "order", "trial", "total_ref", "total_cand")
POINTS = ("points_abs", "points_min", "points_max")
SLICES = ("kind", "axis", "tag")
REFERENCE_FIRST, CANDIDATE_FIRST = ORDERS = ("ref_first", "cand_first")
STATED = {"ref": Decision.WIN, "cand": Decision.LOSS, "same": Decision.TIE}
SLACK = 1e-9  # by which totals may pass their range: they may be sums of fractions


@dataclass(frozen=True, eq=False)
class PairSet:
    """The trials of one set. ``pairs`` are its pairs, sorted; ``facts`` and ``slices`` have an entry for each of them,
    and ``n_trials`` the number of trials in the fuller order.
    """

    name: str
    pairs: list[str]
    trials: Trials
    facts: PairFacts
    slices: dict[str, NDArray[np.bool_]]
    n_trials: NDArray[np.int64]


@dataclass(frozen=True)
class PairsFile:
    """The sets by name; ``unused`` are the columns that were not read."""

    sets: list[PairSet]
    has_cases: bool
    unused: list[str]


@dataclass(frozen=True)
class TrialRow:
    """One trial. ``points`` are those of `POINTS`; ``tags`` make slices beside the columns."""

    line: int
    set: str
    pair: str
    is_reference_first: bool
    trial: int
    reference: float | None
    candidate: float | None
    stated: Decision | None
    case: str
    slices: dict[str, str]
    points: tuple[float | None, ...]
    tags: frozenset[str] = frozenset()


def read_pairs(path: Path, *, needs_points: bool = False, needs_stated: bool = False) -> PairsFile:
    """Read a file whole, or raise `ImportRefused` with its faults.

    ``needs_points``: each row must have ``points_abs``; ``needs_stated``: the file must have the column ``stated``.
    """
    required = (*COLUMNS, *(["stated"] * needs_stated), *(["points_abs"] * needs_points))
    table, known, rows = TableRows(path, required), Ids("trial"), []
    of_pair: dict[str, TrialRow] = {}
    of_set: dict[tuple[str, str], TrialRow] = {}
    for fields in table:
        row = _row(fields, table.columns)
        if needs_points and row.points[0] is None and fields.sound:
            fields.fault("points_abs", Phrase("This must not be empty."))
        if fields.sound:
            known.add(fields, "trial", row.set, row.pair, str(row.is_reference_first), str(row.trial))
            _same(fields, row, of_pair.setdefault(row.pair, row), of_set.setdefault((row.set, row.pair), row))
        rows.append(row)
    unused = table.unused(*COLUMNS, "set", "case", "stated", *SLICES, *POINTS)
    return pairs_of(rows, has_cases="case" in table.columns, unused=unused)


def pairs_of(rows: Iterable[TrialRow], *, has_cases: bool, unused: Sequence[str] = ()) -> PairsFile:
    """Trials as arrays, in an order that does not depend on that of the rows."""
    ordered = sorted(rows, key=lambda row: (row.set, row.pair, row.is_reference_first, row.trial))
    cases = {case: number for number, case in enumerate(sorted({row.case for row in ordered}))}
    names, of_row = numbered([row.set for row in ordered])
    sets = [
        _pair_set(name, [row for row, own in zip(ordered, of_row.tolist(), strict=True) if own == number], cases)
        for number, name in enumerate(names)
    ]
    return PairsFile(sets, has_cases, list(unused))


def _row(fields: Fields, columns: tuple[str, ...]) -> TrialRow:
    name = set_name_in(fields, "set") if "set" in columns else ""
    pair, order = name_in(fields, "pair"), fields.choice("order", ORDERS)
    trial = whole_number_in(fields, "trial")
    reference, candidate = number_in(fields, "total_ref"), number_in(fields, "total_cand")
    if fields.sound and (reference is None) != (candidate is None):
        empty = "total_ref" if reference is None else "total_cand"
        fields.fault(empty, Phrase("Give both totals of a trial, or neither."))
    stated = fields.choice("stated", tuple(STATED), required=False)
    points = tuple(number_in(fields, column) for column in POINTS)
    if fields.sound:
        _check_points(fields, (reference, candidate), *points)
    return TrialRow(
        line=fields.line,
        set=name,
        pair=pair,
        is_reference_first=order == REFERENCE_FIRST,
        trial=trial,
        reference=reference,
        candidate=candidate,
        stated=STATED.get(stated),
        case=name_in(fields, "case") if "case" in columns else pair,
        slices=slices_in(fields, SLICES),
        points=points,
    )


def _check_points(
    fields: Fields,
    totals: tuple[float | None, float | None],
    points: float | None,
    least: float | None,
    greatest: float | None,
) -> None:
    if points is not None and points <= 0:
        fields.fault("points_abs", Phrase("This must be above 0."))
    if (least is None) != (greatest is None):
        fields.fault("points_min" if least is None else "points_max", Phrase("Give both ends of a range, or neither."))
    elif least is not None and greatest is not None and least >= greatest:
        fields.fault("points_max", Phrase("This must be above points_min."))
    for column, total in zip(("total_ref", "total_cand"), totals, strict=True):
        below = total is not None and least is not None and total < least - SLACK
        above = total is not None and greatest is not None and total > greatest + SLACK
        if below or above:
            fields.fault(column, Phrase("This value is outside the range from points_min to points_max."))
    reference, candidate = totals
    if points is None or reference is None or candidate is None or not fields.sound:
        return
    if abs(reference - candidate) > points + SLACK:
        fields.fault("points_abs", Phrase("The difference between the totals exceeds the sum of all points."))


def _same(fields: Fields, row: TrialRow, of_pair: TrialRow, of_set: TrialRow) -> None:
    """What belongs to a pair is the same in all of its rows, and points in all of its rows with the same set."""
    facts: dict[str, tuple[Any, Any, int]] = {"case": (row.case, of_pair.case, of_pair.line)}
    facts |= {name: (row.slices.get(name), of_pair.slices.get(name), of_pair.line) for name in SLICES}
    facts |= {
        name: (own, before, of_set.line) for name, own, before in zip(POINTS, row.points, of_set.points, strict=True)
    }
    for column, (own, before, line) in facts.items():
        if own != before:
            fields.fault(column, Phrase("The pair has a different value on line %(line)s.", line=line))


def _pair_set(name: str, rows: list[TrialRow], cases: dict[str, int]) -> PairSet:
    pairs, pair = numbered([row.pair for row in rows])
    first = np.array([row.is_reference_first for row in rows], dtype=bool)
    facts = {row.pair: row for row in rows}
    by_pair = [facts[name] for name in pairs]
    points, least, greatest = (with_missing([row.points[place] for row in by_pair]) for place in range(3))
    by_order = [np.bincount(pair[order], minlength=len(pairs)) for order in (first, ~first)]
    totals = [total for row in rows for total in (row.reference, row.candidate) if total is not None]
    reference, candidate = (with_missing([getattr(row, side) for row in rows]) for side in ("reference", "candidate"))
    return PairSet(
        name=name,
        pairs=pairs,
        trials=Trials(
            pair=pair,
            is_reference_first=first,
            reference=reference,
            candidate=candidate,
            stated=np.array([int(row.stated or 0) for row in rows], dtype=np.int64),
            has_stated=np.array([row.stated is not None for row in rows], dtype=bool),
            points=points[pair],
        ),
        facts=PairFacts(
            case=np.array([cases[row.case] for row in by_pair], dtype=np.int64),
            n_cases=len(cases),
            points=points,
            least=least,
            greatest=greatest,
            span=math.fsum((max(totals), -min(totals))) if totals else 0.0,
        ),
        slices=slice_masks([row.slices for row in by_pair], SLICES) | _tag_masks([row.tags for row in by_pair]),
        n_trials=np.maximum(*by_order),
    )


def _tag_masks(tags: Sequence[Collection[str]]) -> dict[str, NDArray[np.bool_]]:
    """Which pair has which tag: of a pair that has several."""
    return {
        f"tag:{tag}": np.array([tag in own for own in tags], dtype=bool)
        for tag in sorted({tag for own in tags for tag in own})
    }
