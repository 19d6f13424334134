"""Reads files and pasted text as rows of cells, within limits: CSV, tab-separated text, XLSX. Drops no row silently."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, BinaryIO

from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import Phrase
from rubrics.parsing.csv_record import CsvRecord
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import archive_of
from rubrics.tables.columns import Cell, Formula, column_of

MAX_BYTES = 64 << 20
MAX_PACKED_BYTES, MAX_UNPACKED_BYTES, MAX_MEMBERS = 16 << 20, 64 << 20, 500
MAX_ROWS = 200_000
MAX_COLUMNS = 40
MAX_LINE_LENGTH = 1 << 20
ZIP = b"PK\x03\x04"

Rows = Iterator[tuple[int, list[Cell]]]
ColumnNamed = Callable[[str], str]


def rows_of_file(
    file: BinaryIO, faults: Faults, progress: Progress = no_progress, *, column_named: ColumnNamed = column_of
) -> Rows:
    """Rows of a CSV or XLSX file with their line numbers; the first bytes tell which. Unreadable ones become faults.

    ``column_named`` gives the column that a heading names, or an empty text.
    """
    start = file.read(512)
    file.seek(0)
    if start.startswith(ZIP):
        return _workbook(file, faults)
    if kind := archive_of(start):
        message = Phrase("This is an archive (%(kind)s), not a text. Unpack it and send what is in it.", kind=kind)
        faults.add(1, "", message)
        return iter(())
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        faults.add(0, "", Phrase("This is an old Excel file (XLS). Save it as XLSX or CSV."))
        return iter(())
    record = CsvRecord()
    return _records(_Lines(file, record, faults, progress), record, faults, column_named)


def rows_of_text(text: str, faults: Faults, *, column_named: ColumnNamed = column_of, delimiter: str = "") -> Rows:
    """Rows of a pasted text: tab-separated as spreadsheets copy it, or CSV, or one cell for each line.

    ``delimiter`` separates the cells, if the caller knows it.
    """
    lines = io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"), newline="")
    return _records(iter(lines), CsvRecord(), faults, column_named, pasted=True, delimiter=delimiter)


class _Lines:
    """Lines of UTF-8 with their ends; stops with a fault at the first that is not UTF-8 or too long."""

    def __init__(self, file: BinaryIO, record: CsvRecord, faults: Faults, progress: Progress) -> None:
        self.file, self.record, self.faults, self.progress = file, record, faults, progress

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
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                field = self.record.column_at(line[: error.start], MAX_COLUMNS)
                message = Phrase("Byte %(start)s of the line is not UTF-8.", start=error.start + 1)
                self.faults.add(number, field, message)
                return
            if number % 1000 == 0:
                self.progress(read)


class _TooWide(Exception):
    """The record that is being read has too many cells."""


def _records(
    lines: Any,
    record: CsvRecord,
    faults: Faults,
    column_named: ColumnNamed,
    *,
    pasted: bool = False,
    delimiter: str = "",
) -> Rows:
    """Rows of CSV with the line on which each begins. ``record`` tracks the position, so that faults name columns."""
    source = iter(lines)
    first = next(source, "")
    record.delimiter = delimiter or _delimiter(first, column_named, pasted=pasted)
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
            record.names = [column_named(name) for name in row]
        if any(cell.strip() for cell in row):
            yield begin, list(row)
        begin = reader.line_num + 1


def _counted(first: str, source: Iterator[str], record: CsvRecord) -> Iterator[str]:
    """The lines; raises `_TooWide` where a record has too many cells, before it is split into them."""
    for line in chain([first] if first else [], source):
        if not record.add(line, MAX_COLUMNS):
            raise _TooWide
        yield line


def _delimiter(line: str, column_named: ColumnNamed, *, pasted: bool) -> str:
    """Tabs if the first line has any; semicolons where a spreadsheet of another country wrote them.

    Pasted lines with commas are sentences, unless there is a heading.
    """
    if "\t" in line:
        return "\t"
    for delimiter in (",", ";"):
        if sum(bool(column_named(name.strip('"\r\n'))) for name in line.split(delimiter)) >= 2:
            return delimiter
    return "\t" if pasted else ","


def _workbook(file: BinaryIO, faults: Faults) -> Rows:
    """Rows of the first sheet. The archive's declared size is checked before anything is unpacked."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        faults.add(0, "", Phrase("This is not a workbook (XLSX) that can be read."))
        return
    packed = sum(member.compress_size for member in members)
    unpacked = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS or packed > MAX_PACKED_BYTES or unpacked > MAX_UNPACKED_BYTES:
        faults.add(0, "", Phrase("The workbook unpacks to more than %(n)s MiB.", n=MAX_UNPACKED_BYTES >> 20))
        return
    file.seek(0)
    yield from _sheet(file, faults)


def _sheet(file: BinaryIO, faults: Faults) -> Rows:
    import openpyxl  # takes 0.2 s to import, for which only readers of workbooks should wait
    from openpyxl.utils.escape import unescape

    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=False, keep_links=False)
        if not book.worksheets:
            faults.add(0, "", Phrase("The workbook has no sheet."))
            return
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # the size that a file declares is not trusted
        for number, row in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS), start=1):
            if number > MAX_ROWS:
                faults.add(number, "", Phrase("The table has more than %(n)s rows.", n=MAX_ROWS))
                return
            cells: list[Cell] = []
            for cell in row:
                value = Formula() if cell.data_type == "f" else cell.value
                if isinstance(value, str):
                    value = unescape(value)
                elif value is not None and not isinstance(value, int | float | Formula):
                    value = str(value)
                cells.append(value)
            if any(value is not None and value != "" for value in cells):
                yield number, cells
    except Exception as error:
        # For a broken workbook, openpyxl raises any exception of its parts: KeyError, ParseError, EntitiesForbidden …
        if isinstance(error, MemoryError):
            raise
        faults.add(0, "", Phrase("This is not a workbook (XLSX) that can be read."))
