"""Stores the tables of a report in pieces and reads them back; the URL of the decisions behind a slice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agreement.models import Report, ReportRows, ReportTable
from agreement.reports.earlier import in_present_meaning
from agreement.reports.tables import ComputedRows, Table

ROWS_A_PIECE = 5000


def store_tables(report: Report, tables: Mapping[str, Table]) -> None:
    """Write the tables of a report in pieces, so that no more than one piece is in memory."""
    for position, (name, table) in enumerate(tables.items()):
        stored_table = ReportTable.objects.create(
            report=report,
            name=name,
            position=position,
            columns=list(table.columns),
            text=list(table.text),
            n_rows=len(table.rows),
        )
        for start in range(0, len(table.rows), ROWS_A_PIECE):
            ReportRows.objects.create(table=stored_table, start=start, rows=table.rows[start : start + ROWS_A_PIECE])


class _StoredRows(ComputedRows[list[Any]]):
    """The rows of a stored table, one piece in memory at a time."""

    def __init__(self, table: ReportTable) -> None:
        self._table = table
        self._start = 0
        self._piece: list[list[Any]] = []

    def __len__(self) -> int:
        return self._table.n_rows

    def row_at(self, place: int) -> list[Any]:
        if not self._start <= place < self._start + len(self._piece):
            piece = self._table.pieces.filter(start__lte=place).latest("start")
            self._start, self._piece = piece.start, piece.rows
        return self._piece[place - self._start]


def table_of(report: Report, name: str) -> Table:
    """A stored table; KeyError where there is none of that name. Its rows are read as they are asked for, and kept
    with ``report`` where one piece holds them all.
    """
    known: dict[str, Table] = report.__dict__.setdefault("_tables", {})
    if name not in known:
        known[name] = in_present_meaning(report, name, _read(report, name))
    return known[name]


def _read(report: Report, name: str) -> Table:
    stored: dict[str, ReportTable] = report.__dict__.get("_stored") or {}
    if not stored:
        stored = {table.name: table for table in ReportTable.objects.filter(report=report)}
        report.__dict__["_stored"] = stored
    if name in stored:
        stored_table = stored[name]
        return Table(tuple(stored_table.columns), _StoredRows(stored_table), tuple(stored_table.text))
    # Reports of earlier versions keep their tables within the result.
    kept = report.result.get("tables", {})[name]
    return Table(tuple(kept["columns"]), kept["rows"], tuple(kept["text"]))


def table_names(report: Report) -> list[str]:
    """The names of all tables of a report, in their order."""
    stored = list(ReportTable.objects.filter(report=report).order_by("position").values_list("name", flat=True))
    return stored or list(report.result.get("tables", {}))
