"""Rows of a CSV file of a release, whose cells may be far longer than Python's module allows at first."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Self

from consilium.core.csvfile import bare
from releases.verification.sources import Source

MAX_CELL_LENGTH = 16 << 20
Row = dict[str, str]


class CsvRows:
    """The rows of an open file, strictly; ``line_num`` is the line that was read last.

    The module's limit on the length of a cell holds for the whole process, so it is raised only while a row is read.
    As a context manager it closes the file.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._text = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        self._reader = csv.reader(iter(lambda: self._text.readline(MAX_CELL_LENGTH), ""), strict=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._text.close()

    @property
    def line_num(self) -> int:
        """The number of lines that were read."""
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        before = csv.field_size_limit(MAX_CELL_LENGTH)
        try:
            return next(self._reader)
        finally:
            csv.field_size_limit(before)


class WrongColumns(Exception):
    """A table lacks a column; the message names both."""


def table_rows(source: Source, name: str, columns: tuple[str, ...]) -> Iterator[Row]:
    """The rows of a table as texts; `WrongColumns` where it has other columns."""
    with source.open(name) as raw, CsvRows(raw) as rows:
        heading = next(rows, [])
        missing = [column for column in columns if column not in heading]
        if missing:
            raise WrongColumns(f"{name}: lacks the column {missing[0]}")
        for cells in rows:
            row = dict(zip(heading, cells, strict=False))
            yield {column: bare(row.get(column, "")) for column in columns}
