"""All tables of a run of coverage: those of `coverage_file`, the controls, the lists, and what physicians decided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from consilium.core.out_folder import OutTable
from consilium.core.phrases import joined, parts_of
from consilium.statistics.intent_alignment import Extent
from consilium.statistics.intervals import IntervalRule
from validation.coverage import judged_tables
from validation.coverage.content import Points
from validation.coverage.inputs import CoverageInputs, GoldPoint, SetAnswer
from validation.coverage.judged_tables import (
    CONFUSION_COLUMNS,
    DECISIONS_COLUMNS,
    JUDGE_COLUMNS,
    POWERED_COLUMNS,
    WORDS,
)
from validation.files import coverage_reading
from validation.files.coverage_reading import EXTENTS
from validation.files.coverage_tables import (
    BACKWARD,
    CASES,
    COMPARISON_COLUMNS,
    COVERAGE_COLUMNS,
    coverage_rows,
    coverage_tables,
)
from validation.files.table_rows import ALL

Row = dict[str, Any]
CONTROL_COLUMNS = ("control", *COVERAGE_COLUMNS)
BY_CRITERION_COLUMNS = tuple(
    "n_criteria" if name == "n_points" else name for name in COVERAGE_COLUMNS if name not in BACKWARD
)
_POINT = ("case", "gold", "points", "axis", "text")
ONLY_ONE_COLUMNS = ("first", "second", *_POINT, "covered_by", "by", "why")
UNCOVERED_COLUMNS = ("set", *_POINT, "extent", "by", "why", "decision")
UNMATCHED_COLUMNS = ("set", "case", "criterion", "points", "axis", "text", "extent", "by", "why", "decision")
TEXT_COLUMNS = (
    *judged_tables.TEXT_COLUMNS,
    *("control", "first", "second", "case", "gold", "axis", "sign", "text", "covered_by", "by", "why", "extent"),
    *("decision", "criterion"),
)
_CELL = {extent: cell for cell, extent in EXTENTS.items()}  # as `coverage_file` reads them


def coverage_files(inputs: CoverageInputs, *, rule: IntervalRule, over: str = CASES) -> list[OutTable]:
    """The tables as files."""
    kind = str(inputs.endpoint_kind)
    tables = coverage_tables(inputs.file, rule=rule, over=over, backward=inputs.backward(), endpoint_kind=kind)
    columns, points = _points(inputs)
    files = [
        OutTable("coverage", COVERAGE_COLUMNS, tables.coverage, TEXT_COLUMNS),
        OutTable("comparisons", COMPARISON_COLUMNS, tables.comparisons, TEXT_COLUMNS),
        OutTable("coverage_controls", CONTROL_COLUMNS, _controls(inputs, rule, over, kind), TEXT_COLUMNS),
        *_by_criterion(inputs, rule, over, kind),
        OutTable("coverage_powered", POWERED_COLUMNS, list(judged_tables.powered_rows(inputs, kind)), TEXT_COLUMNS),
        OutTable("coverage_judge", JUDGE_COLUMNS, list(judged_tables.judge_rows(inputs, rule, kind)), TEXT_COLUMNS),
        OutTable(
            "coverage_confusion", CONFUSION_COLUMNS, list(judged_tables.confusion_rows(inputs, kind)), TEXT_COLUMNS
        ),
        OutTable(
            "coverage_criteria", DECISIONS_COLUMNS, list(judged_tables.decisions_rows(inputs, kind)), TEXT_COLUMNS
        ),
        OutTable("only_one", ONLY_ONE_COLUMNS, list(only_one_rows(inputs)), TEXT_COLUMNS),
        OutTable("uncovered", UNCOVERED_COLUMNS, list(uncovered_rows(inputs)), TEXT_COLUMNS),
        OutTable("unmatched", UNMATCHED_COLUMNS, list(unmatched_rows(inputs)), TEXT_COLUMNS),
        OutTable("coverage_points", columns, points, tuple(name for name in columns if name != "points")),
    ]
    return [
        OutTable(file.name, file.columns, file.rows, tuple(name for name in file.text_columns if name in file.columns))
        for file in files
    ]


def _controls(inputs: CoverageInputs, rule: IntervalRule, over: str, kind: str) -> list[Row]:
    """The figures of the controls, with the set that each is a control of."""
    named = {series: (control, name) for control, name, series in inputs.controls}
    rows = coverage_rows(inputs.control_file(), rule=rule, over=over, endpoint_kind=kind)
    return [{**row, "control": named[row["set"]][0], "set": named[row["set"]][1]} for row in rows]


def _by_criterion(inputs: CoverageInputs, rule: IntervalRule, over: str, kind: str) -> list[OutTable]:
    """The figures over the criteria of a split gold set, each counted once; no table for another gold set."""
    if not inputs.is_split:
        return []
    rows = coverage_rows(inputs.criterion_file(), rule=rule, over=over, endpoint_kind=kind)
    # Precision is not asked here: it has the criteria of the measured sets, not those of the gold set.
    others = ", ".join(BACKWARD)
    given = [
        {
            **row,
            "n_criteria": row["n_points"],
            "note": joined(*(part for part in parts_of(row["note"]) if getattr(part, "label", "") != others)),
        }
        for row in rows
    ]
    return [OutTable("coverage_by_criterion", BY_CRITERION_COLUMNS, given, TEXT_COLUMNS)]


def _points(inputs: CoverageInputs) -> tuple[tuple[str, ...], list[Row]]:
    """A row for each gold point, as `coverage_file` reads it: its axis and sign make slices."""
    taken = {*coverage_reading.COLUMNS, *coverage_reading.SLICES, *coverage_reading.IGNORED}
    columns = [f"set {name}" if name in taken or name.casefold() == ALL else name for name in inputs.names]
    rows = [
        {
            "case": own.case,
            "gold": own.name,
            "points": own.point.points,
            "axis": own.point.axis,
            "sign": own.point.sign,
            **{column: _CELL.get(inputs.series_of(at)[place].extent, "") for at, column in enumerate(columns)},
        }
        for place, own in enumerate(inputs.gold)
    ]
    return ("case", "gold", "points", "axis", "sign", *columns), rows


def _gold_cells(own: GoldPoint) -> Row:
    point = own.point
    return {"case": own.case, "gold": own.name, "points": point.points, "axis": point.axis, "text": point.text}


def named_criteria(criteria: Points, answer: SetAnswer) -> str:
    """The criteria that an answer names, by number and text."""
    return "\n".join(f"{number}. {criteria[number - 1].text}" for number in answer.by if number <= len(criteria))


def _criteria_of(inputs: CoverageInputs, case: str, place: int) -> Points:
    return inputs.config.content.cases[inputs.config.place_of[case]].sets[place]


def only_one_rows(inputs: CoverageInputs) -> Iterator[Row]:
    """The gold points that one of two sets covers in full and the other does not."""
    for first, second in combinations(range(len(inputs.names)), 2):
        for place, own in enumerate(inputs.gold):
            answers = {at: inputs.series_of(at)[place] for at in (first, second)}
            full = [at for at, answer in answers.items() if answer.extent == Extent.FULL]
            if len(full) == 1:
                answer = answers[full[0]]
                yield {
                    "first": inputs.names[first],
                    "second": inputs.names[second],
                    **_gold_cells(own),
                    "covered_by": inputs.names[full[0]],
                    "by": named_criteria(_criteria_of(inputs, own.case, full[0]), answer),
                    "why": answer.why,
                }


def uncovered_rows(inputs: CoverageInputs) -> Iterator[Row]:
    """The gold points that a set does not cover in full."""
    for at, name in enumerate(inputs.names):
        for own, answer in zip(inputs.gold, inputs.series_of(at), strict=True):
            if answer.extent != Extent.FULL:
                yield {
                    "set": name,
                    **_gold_cells(own),
                    "extent": WORDS[answer.extent],
                    "by": named_criteria(_criteria_of(inputs, own.case, at), answer),
                    "why": answer.why,
                    "decision": answer.decision,
                }


def unmatched_rows(inputs: CoverageInputs) -> Iterator[Row]:
    """The criteria of sets that no gold point covers in full."""
    for own in inputs.criteria:
        if own.answer.extent != Extent.FULL:
            gold = inputs.config.content.cases[inputs.config.place_of[own.case]].gold
            yield {
                "set": inputs.names[own.place],
                "case": own.case,
                "criterion": str(own.number),
                "points": own.point.points,
                "axis": own.point.axis,
                "text": own.point.text,
                "extent": WORDS[own.answer.extent],
                "by": named_criteria(gold, own.answer),
                "why": own.answer.why,
                "decision": own.answer.decision,
            }
