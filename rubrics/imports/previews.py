"""Previews of imports: everything that an import does, rolled back, with the beginning of what it read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, BinaryIO

from django.db import transaction

from accounts.models import User
from consilium.core.errors import ImportRefused
from consilium.core.i18n import translate
from consilium.core.jobs import Progress
from rubrics.imports.registry import Counts, Handler
from rubrics.imports.tables import description_of, notes_of, open_table
from rubrics.models import Benchmark
from rubrics.parsing.cases import CaseRecord, read_cases
from rubrics.parsing.faults import Faults
from rubrics.parsing.responses import ResponseRecord, read_responses
from rubrics.selectors.axes import used_axes
from rubrics.tables import RUBRICS, Row, rows_with_heading
from rubrics.tables.attribute_table import ATTRIBUTES, read_attribute_table, shown_value
from rubrics.tables.case_table import CASES, read_case_table
from rubrics.tables.mapping import TableKind
from rubrics.tables.response_table import RESPONSES, read_response_table
from rubrics.tables.table import Table

PREVIEW = "preview"
N_ROWS, N_CRITERIA = 5, 6
MAX_EXCERPT = 280
Rows = Iterator[dict[str, Any]]


class _PreviewDone(Exception):
    """Ends the transaction of a preview, so that nothing of it is kept."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self.counts = counts


def with_preview(name: str, handler: Handler) -> Handler:
    """The handler of the kind ``name`` of files, so that it takes the option ``preview`` as well.

    Then nothing is kept of what it does, and the counts have under ``previews`` what the first rows become, the
    faults, and how a table was read.
    """
    kind, rows = PREVIEWED[name]

    def import_or_preview(
        *,
        benchmark: Benchmark,
        file: BinaryIO,
        options: Mapping[str, str],
        by: User | None,
        at: datetime,
        progress: Progress,
    ) -> Counts:
        given = {name: value for name, value in options.items() if name != PREVIEW}
        if not options.get(PREVIEW):
            return handler(benchmark=benchmark, file=file, options=given, by=by, at=at, progress=progress)
        counts: Counts = {}
        refused = ImportRefused([])
        try:
            with transaction.atomic():
                raise _PreviewDone(
                    handler(benchmark=benchmark, file=file, options=given, by=by, at=at, progress=progress)
                )
        except _PreviewDone as done:
            counts = done.counts
        except ImportRefused as error:
            refused = error
        return {**counts, "previews": [_preview(file, benchmark, given, kind, rows, refused, is_sound=bool(counts))]}

    return import_or_preview


def _preview(
    file: BinaryIO,
    benchmark: Benchmark,
    options: Mapping[str, str],
    kind: TableKind,
    rows: Callable[..., Rows],
    refused: ImportRefused,
    *,
    is_sound: bool,
) -> dict[str, Any]:
    """Plain values for a page. The notes on a table are among the warnings of an import that nothing refuses."""
    file.seek(0)
    table = open_table(file, kind, options)
    excerpt = list(islice(rows(file, table, options, benchmark), N_ROWS))
    file.seek(0)
    return {
        "rows": excerpt,
        "table": description_of(table, options) if table else None,
        "notes": [] if is_sound else notes_of(table),
        "faults": [
            {"line": fault.line, "field": fault.field, "message": translate(fault.message)} for fault in refused.errors
        ],
        "n_faults": refused.total,
    }


def case_rows(file: BinaryIO, table: Table | None, options: Mapping[str, str], benchmark: Benchmark) -> Rows:
    """What the first cases of a file become."""
    faults = Faults()
    records: Iterator[CaseRecord] = (
        read_case_table(file, table, faults)
        if table
        else read_cases(file, faults, form=options.get("format") or "auto")
    )
    for record in records:
        last = next((turn for turn in reversed(record.conversation) if turn["role"] == "user"), {"content": ""})
        yield {
            "key": record.key,
            "text": _excerpt(last["content"]),
            "n_turns": len(record.conversation),
            "tags": list(record.tags),
            "difficulty": record.difficulty,
            "language": record.language,
            "language_detected": record.language_detected,
            "reference_answer": _excerpt(record.reference_answer),
            "criteria": [
                {"text": _excerpt(each.text), "points": each.points, "tags": list(each.tags)}
                for each in record.criteria[:N_CRITERIA]
            ],
            "n_criteria": len(record.criteria),
        }


def response_rows(file: BinaryIO, table: Table | None, options: Mapping[str, str], benchmark: Benchmark) -> Rows:
    """What the first responses of a file become."""
    faults, candidate = Faults(), options.get("candidate", "")
    records: Iterator[ResponseRecord] = (
        read_response_table(file, table, faults, candidate=candidate)
        if table
        else read_responses(file, faults, candidate=candidate)
    )
    for record in records:
        yield {
            "key": record.case,
            "candidate": record.candidate,
            "sample": record.sample,
            "text": _excerpt(record.text),
        }


def rubric_rows(file: BinaryIO, table: Table | None, options: Mapping[str, str], benchmark: Benchmark) -> Rows:
    """What the first rows of a table of rubrics become."""
    if table is None:
        return
    faults = Faults()
    cells = table.raw_rows(file, faults)
    for row in rows_with_heading(
        cells,
        faults,
        with_case=True,
        exact=table.is_workbook,
        chosen=table.chosen,
        own_axes=used_axes(benchmark),
    ):
        yield _rubric_row(row)


def _rubric_row(row: Row) -> dict[str, Any]:
    return {"key": row.case, "text": _excerpt(row.text), "points": row.points, "tags": row.tags}


def attribute_rows(file: BinaryIO, table: Table | None, options: Mapping[str, str], benchmark: Benchmark) -> Rows:
    """What the first rows of a table of candidates' attributes become."""
    if table is None:
        return
    for row in read_attribute_table(file, table, Faults()):
        known = [(name, shown_value(value)) for name, value in row.values.items() if value not in (None, "")]
        yield {"key": row.candidate, "text": "", "attributes": known}


def _excerpt(text: str) -> str:
    return text if len(text) <= MAX_EXCERPT else f"{text[: MAX_EXCERPT - 1]}…"


# The kinds of files whose import has a preview here, with their tables.
PREVIEWED: dict[str, tuple[TableKind, Callable[..., Rows]]] = {
    "cases": (CASES, case_rows),
    "responses": (RESPONSES, response_rows),
    "rubrics": (RUBRICS, rubric_rows),
    "candidates": (ATTRIBUTES, attribute_rows),
}
