"""The tables that `coverage_file` and reports on coverage write: how much of the intended content each set covers.

Pure: no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, Undefined, each_note_of
from consilium.statistics.intent_alignment import (
    Extent,
    IntentAlignment,
    covered_in_full,
    f1,
    intent_alignment,
    precision,
)
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.mcnemar import Words
from consilium.statistics.set_comparison import compare_sets
from validation.files.comparison_columns import TESTS, comparison_cells
from validation.files.coverage_reading import CoverageFile
from validation.files.table_rows import stacked

# Figures of the criteria of a set against the gold points: empty, with the reason, where they were not read.
BACKWARD = ("precision", "precision_sound", "f1")
COVERAGE_COLUMNS = (
    *("set", "slice", "n_points", "n_cases", "cia", "cia_low", "cia_high", "cia_partly", "cia_mean_of_cases"),
    *("cia_weighted", "cia_valid", *BACKWARD, "n_invalid", "n_missing", "endpoint_kind", "note"),
)
COMPARISON_COLUMNS = ("first", "second", "slice", "n", "b", "c", "difference", "low", "high", *TESTS, "note")
TEXT_COLUMNS = ("set", "first", "second", "slice", "endpoint_kind", "note")
CASES, POINTS = "cases", "points"  # what intervals are over
WORDS = Words(Reason.NO_GOLD_POINT(), Reason.NO_POINT_OF_ONE_SET(), Reason.POINTS_OF_SETS_BALANCED())

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Backward:
    """The criteria of a set in a slice: how many a gold point covers in full, and what physicians say of the others."""

    n_criteria: int
    n_matched: int
    n_sound: int = 0  # sound and needed, by physicians
    n_undecided: int = 0


@dataclass(frozen=True)
class CoverageTables:
    """Rows by column name."""

    coverage: list[Row]
    comparisons: list[Row]


def coverage_tables(
    file: CoverageFile,
    *,
    rule: IntervalRule,
    over: str = CASES,
    backward: Mapping[tuple[str, str], Backward] | None = None,
    endpoint_kind: str = "",
) -> CoverageTables:
    """Each set in each slice (`coverage_rows`), and each two sets."""
    rows = coverage_rows(file, rule=rule, over=over, backward=backward, endpoint_kind=endpoint_kind)
    return CoverageTables(rows, _comparisons(file, rule, over))


def coverage_rows(
    file: CoverageFile,
    *,
    rule: IntervalRule,
    over: str = CASES,
    backward: Mapping[tuple[str, str], Backward] | None = None,
    endpoint_kind: str = "",
) -> list[Row]:
    """Each set in each slice; intervals are over cases, or over gold points.

    ``backward`` are the criteria by set and slice, for the figures in `BACKWARD`. ``endpoint_kind``: who answered.
    """
    member, unit, note = _slices_and_unit(file, over)
    coverage = []
    for place, name in enumerate(file.sets):
        figures = intent_alignment(
            file.extent[:, place],
            case=file.case,
            n_cases=file.n_cases,
            points=file.points,
            member=member,
            rule=rule,
            unit=unit,
        )
        coverage += [
            {
                "set": name,
                "slice": slice_name,
                **_cells(alignment, (backward or {}).get((name, slice_name)), note),
                "endpoint_kind": endpoint_kind,
            }
            for slice_name, alignment in zip(file.slices, figures, strict=True)
        ]
    return coverage


def _slices_and_unit(file: CoverageFile, over: str) -> tuple[NDArray[np.bool_], NDArray[np.int64], str]:
    """The slices side by side, what intervals are over by its number, and what a note says of that."""
    member = stacked(file.slices)
    if over == CASES:
        return member, file.case, ""
    return member, np.arange(len(file.case)), Reason.INTERVAL_OVER_POINTS()


def _cells(alignment: IntentAlignment, criteria: Backward | None, note: str) -> Row:
    figures = {
        "cia": alignment.cia,
        "cia_partly": alignment.partly,
        "cia_mean_of_cases": alignment.mean_of_cases,
        "cia_weighted": alignment.weighted,
        "cia_valid": alignment.valid,
    }
    interval = labelled("cia", note) if note and alignment.cia.low is not None else ""
    backward = _backward_cells(alignment, criteria)
    return {
        **backward,
        "n_points": alignment.n_points,
        "n_cases": alignment.n_cases,
        **{name: figure.value for name, figure in figures.items()},
        "cia_low": alignment.cia.low,
        "cia_high": alignment.cia.high,
        "n_invalid": alignment.n_invalid,
        "n_missing": alignment.n_missing,
        "note": joined(each_note_of(figures), interval, backward["note"]),
    }


def _backward_cells(alignment: IntentAlignment, criteria: Backward | None) -> Row:
    """The figures in `BACKWARD` and their notes."""
    if criteria is None:
        return {**dict.fromkeys(BACKWARD), "note": labelled(", ".join(BACKWARD), Reason.NO_CRITERIA_IN_FILE())}
    matched = precision(criteria.n_matched, criteria.n_criteria)
    sound: Figure = precision(criteria.n_matched + criteria.n_sound, criteria.n_criteria)
    if criteria.n_undecided:
        n_unmatched = criteria.n_criteria - criteria.n_matched
        reason = Reason.UNMATCHED_WITHOUT_DECISION(n=criteria.n_undecided, all=n_unmatched)
        sound = Undefined(reason, criteria.n_criteria)
    figures = {"precision": matched, "precision_sound": sound, "f1": f1(matched, alignment.cia)}
    return {**{name: figure.value for name, figure in figures.items()}, "note": each_note_of(figures)}


def _comparisons(file: CoverageFile, rule: IntervalRule, over: str) -> list[Row]:
    member, unit, note = _slices_and_unit(file, over)
    shares = [covered_in_full(extent, unit=unit, member=member) for extent in file.extent.T]
    is_full = (file.extent == Extent.FULL).T
    rows = []
    for first, second in combinations(range(len(file.sets)), 2):
        compared = compare_sets(
            is_full[first],
            is_full[second],
            shares=(shares[first], shares[second]),
            case=file.case,
            n_cases=file.n_cases,
            member=member,
            rule=rule,
            words=WORDS,
        )
        for slice_name, comparison in zip(file.slices, compared, strict=True):
            names = {"first": file.sets[first], "second": file.sets[second], "slice": slice_name}
            interval = labelled("difference", note) if note and comparison.difference.low is not None else ""
            rows.append({**names, **comparison_cells(comparison, interval)})
    return rows
