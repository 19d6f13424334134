"""Reads files and pasted text as rows of cells, within limits: CSV, tab-separated text, XLSX. Drops no row silently."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO

from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import Phrase
from rubrics.parsing.csv_record import DELIMITERS, CsvRecord
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import archive_of, archive_refusal
from rubrics.tables.columns import column_of
from rubrics.tables.workbooks import MAX_COLUMNS, MAX_ROWS, ZIP, Rows, rows_of_workbook

MAX_BYTES = 64 << 20
MAX_LINE_LENGTH = 1 << 20


@dataclass(slots=True)
class TextForm:
    """How a text file holds its table, and what its reader notes for a person.

    Without a ``delimiter`` the first line tells it, by the headings that ``field_of`` knows. Faults name the line on
    which a row begins, or with ``by_row`` the row as a spreadsheet counts it.
    """

    encoding: str = "utf-8"
    delimiter: str = ""
    field_of: Callable[[str], str] = column_of
    by_row: bool = False
    notes: list[str] = field(default_factory=list)


def rows_of_file(
    file: BinaryIO, faults: Faults, progress: Progress = no_progress, *, form: TextForm | None = None
) -> Rows:
    """Rows of a CSV or XLSX file with their line numbers; the first bytes tell which. Unreadable ones become faults."""
    form = form or TextForm()
    start = file.read(512)
    file.seek(0)
    if start.startswith(ZIP):
        return rows_of_workbook(file, faults, form.notes)
    if kind := archive_of(start):
        faults.add(1, "", archive_refusal(kind))
        return iter(())
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        faults.add(0, "", Phrase("This is an old Excel file (XLS). Save it as XLSX or CSV."))
        return iter(())
    record = CsvRecord()
    return _records(_Lines(file, record, faults, progress, form.encoding), record, faults, form)


def rows_of_text(text: str, faults: Faults, *, form: TextForm | None = None) -> Rows:
    """Rows of a pasted text: tab-separated as spreadsheets copy it, or CSV, or one cell for each line."""
    lines = io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"), newline="")
    return _records(iter(lines), CsvRecord(), faults, form or TextForm(), pasted=True)


class _Lines:
    """Lines of a text with their ends; stops with a fault at the first that is too long or in another encoding."""

    def __init__(
        self, file: BinaryIO, record: CsvRecord, faults: Faults, progress: Progress, encoding: str = "utf-8"
    ) -> None:
        self.file, self.record, self.faults, self.progress = file, record, faults, progress
        self.encoding = encoding

    def __iter__(self) -> Iterator[str]:
        number = read = 0
        while line := self.file.readline(MAX_LINE_LENGTH + 1):
            number += 1
            read += len(line)
            if number == 1:
                if line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    self.faults.add(1, "", Phrase("The file is UTF-16. Save it as UTF-8."))
                    return
                line = line.removeprefix(b"\xef\xbb\xbf")  # Excel writes one
            if len(line) > MAX_LINE_LENGTH:
                field = self.record.column_at(line, MAX_COLUMNS)
                self.faults.add(number, field, Phrase("The line is longer than %(n)s MiB.", n=MAX_LINE_LENGTH >> 20))
                return
            if read > MAX_BYTES:
                self.faults.add(0, "", Phrase("The table is larger than %(n)s MiB.", n=MAX_BYTES >> 20))
                return
            try:
                yield line.decode(self.encoding)
            except UnicodeDecodeError as error:
                field = self.record.column_at(line[: error.start], MAX_COLUMNS)
                message = Phrase("Byte %(start)s of the line is not UTF-8.", start=error.start + 1)
                if self.encoding != "utf-8":
                    message = Phrase(
                        "Byte %(start)s of this line is not valid %(encoding)s.",
                        start=error.start + 1,
                        encoding=self.encoding,
                    )
                self.faults.add(number, field, message)
                return
            if number % 1000 == 0:
                self.progress(read)


class _TooWide(Exception):
    """The record that is being read has too many cells."""


def _records(lines: Any, record: CsvRecord, faults: Faults, form: TextForm, *, pasted: bool = False) -> Rows:
    """Rows of CSV with the line on which each begins. ``record`` tracks the position, so that faults name columns."""
    source = iter(lines)
    first = next(source, "")
    record.delimiter = form.delimiter or _delimiter(first, form.field_of, pasted=pasted)
    reader = csv.reader(_counted(first, source, record), delimiter=record.delimiter, quotechar='"', strict=not pasted)
    begin, rows = 1, 0
    while True:
        record.begin()
        try:
            row = next(reader, None)
        except _TooWide:
            faults.add(begin, "", Phrase("The row has more than %(n)s cells.", n=MAX_COLUMNS))
            return
        except csv.Error as error:
            faults.add(begin, record.column(), Phrase("This cannot be read as CSV: %(why)s.", why=str(error)))
            return
        if row is None:
            return
        rows += 1
        if rows > MAX_ROWS:
            faults.add(begin, "", Phrase("The table has more than %(n)s rows.", n=MAX_ROWS))
            return
        if rows == 1:
            record.names = [form.field_of(name) for name in row]
        if any(cell.strip() for cell in row):
            yield begin, list(row)
        begin = rows + 1 if form.by_row else reader.line_num + 1


def _counted(first: str, source: Iterator[str], record: CsvRecord) -> Iterator[str]:
    """The lines; raises `_TooWide` where a record has too many cells, before it is split into them."""
    for line in chain([first] if first else [], source):
        if not record.add(line, MAX_COLUMNS):
            raise _TooWide
        yield line


def _delimiter(line: str, field_of: Callable[[str], str], *, pasted: bool) -> str:
    """Tabs if the first line has any; semicolons where a spreadsheet of another country wrote them.

    Pasted lines with commas are sentences, unless there is a heading.
    """
    if "\t" in line:
        return "\t"
    for delimiter in DELIMITERS:
        if sum(bool(field_of(name.strip('"\r\n'))) for name in line.split(delimiter)) >= 2:
            return delimiter
    # Headings that nobody knows: the sign that parts them into most cells.
    return "\t" if pasted else max(DELIMITERS, key=line.count)
