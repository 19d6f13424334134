"""The fact of a report that rules answered and no language model, and where it shows.

A kind that rests on runs puts ``endpoint_facts`` of them into its facts; where a report lists its raters, the runs of
these are looked at as well (`marked`). Page, figures, methods and tables read the fact alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from agreement.models import Report
from agreement.reports.tables import ComputedRows, Result, Row, Table
from consilium.core.out_folder import OutTable
from consilium.figures.render import Drawing
from consilium.figures.style import with_footnote_in_files
from rubrics.models import Benchmark
from scoring.models import EndpointKind, JudgeRun

COLUMN = "endpoint_kind"


def endpoint_facts(kinds: Iterable[str]) -> dict[str, Any]:
    """The fact for runs of these kinds (``endpoint_kind`` of each); none where language models alone answered."""
    return {COLUMN: str(EndpointKind.RULES)} if EndpointKind.RULES in set(kinds) else {}


def is_by_rules(report: Report) -> bool:
    """Whether rules answered somewhere behind the figures of a finished report."""
    return (report.result or {}).get("facts", {}).get(COLUMN) == EndpointKind.RULES


def marked(benchmark: Benchmark, result: Result) -> Result:
    """The result with the fact where it is due, and with a column for it in every table."""
    rows: list[Row] = [*(result.facts.get("raters") or []), *(result.facts.get("raters_beside") or [])]
    runs = {row["run"] for row in rows if row.get("run")}
    of_raters = JudgeRun.objects.filter(benchmark=benchmark, public_id__in=runs) if runs else JudgeRun.objects.none()
    kinds = [result.facts.get(COLUMN, ""), *of_raters.values_list("endpoint_kind", flat=True)]
    facts = endpoint_facts(kinds)
    if not facts:
        return result
    tables = {name: _with_column(table, facts[COLUMN]) for name, table in result.tables.items()}
    return replace(result, tables=tables, facts={**result.facts, **facts})


class _Lengthened(ComputedRows[list[Any]]):
    """Rows with one more value at their end, the same for each."""

    def __init__(self, rows: Sequence[list[Any]], value: str) -> None:
        self._rows, self._value = rows, value

    def __len__(self) -> int:
        return len(self._rows)

    def row_at(self, place: int) -> list[Any]:
        return [*self._rows[place], self._value]


def _with_column(table: Table, value: str) -> Table:
    if COLUMN in table.columns:
        return table  # a kind's own, which may differ from row to row
    return Table((*table.columns, COLUMN), _Lengthened(table.rows, value), (*table.text, COLUMN))


def marked_files(files: Iterable[OutTable], *, by_rules: bool) -> list[OutTable]:
    """The tables of a command, with the column in each where rules answered."""
    value = str(EndpointKind.RULES)
    return [
        OutTable(
            table.name,
            (*table.columns, COLUMN),
            [{**row, COLUMN: value} if isinstance(row, Mapping) else [*row, value] for row in table.rows],
            (*table.text_columns, COLUMN),
        )
        if by_rules
        else table
        for table in files
    ]


def footnote() -> str:
    """The sentence below charts, in the active language."""
    return _("Answered by rules, not by a language model.")


def footnoted(drawing: Drawing) -> Drawing:
    """The chart with this sentence below it in a file; on a page the caption below has it."""
    return with_footnote_in_files(drawing, footnote())
