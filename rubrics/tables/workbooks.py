"""Reads the first sheet of a workbook (XLSX) as rows of cells, within limits. Drops no cell silently."""

from __future__ import annotations

import zipfile
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, BinaryIO

from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import WORKBOOK, archive_of
from rubrics.tables.columns import Cell, CellError, Formula

MAX_PACKED_BYTES, MAX_UNPACKED_BYTES, MAX_MEMBERS = 16 << 20, 64 << 20, 500
MAX_ROWS = 200_000
MAX_COLUMNS = 40
MAX_MERGED = 100_000
MAX_ERROR_LENGTH = 24
CHUNK_BYTES = 1 << 20
ZIP = b"PK\x03\x04"
START_BYTES = 512

Rows = Iterator[tuple[int, list[Cell]]]


def is_workbook(file: BinaryIO) -> bool:
    """Whether a seekable file holds a workbook, or begins like one and is damaged; the file is left at its start."""
    start = file.read(START_BYTES)
    file.seek(0)
    if not start.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            return "xl/workbook.xml" in archive.NameToInfo
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return archive_of(start) == WORKBOOK
    finally:
        file.seek(0)


def rows_of_workbook(file: BinaryIO, faults: Faults, notes: list[str]) -> Rows:
    """Rows of the first sheet; ``notes`` names the others.

    The archive's declared size is checked before anything is unpacked.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        faults.add(0, "", _unreadable(file))
        return
    packed = sum(member.compress_size for member in members)
    unpacked = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS or packed > MAX_PACKED_BYTES or unpacked > MAX_UNPACKED_BYTES:
        faults.add(0, "", Phrase("The workbook unpacks to more than %(n)s MiB.", n=MAX_UNPACKED_BYTES >> 20))
        return
    file.seek(0)
    yield from _sheet(file, faults, notes)


def _sheet(file: BinaryIO, faults: Faults, notes: list[str]) -> Rows:
    import openpyxl  # takes 0.2 s to import, for which only readers of workbooks should wait

    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=False, keep_links=False)
        if not book.worksheets:
            faults.add(0, "", Phrase("The workbook has no sheet."))
            return
        sheet = book.worksheets[0]
        if others := book.sheetnames[1:]:
            names = ", ".join(f"“{name}”" for name in others[:10])
            message = Phrase(
                "Only the first sheet, “%(name)s”, was read. Sheets not read: %(others)s.",
                name=sheet.title,
                others=names,
            )
            notes.append(message)
        merged = _MergedCells(sheet)
        sheet.reset_dimensions()  # the size that a file declares is not trusted
        # One column more than there may be, to see that there are more.
        for number, row in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS + 1), start=1):
            if number > MAX_ROWS:
                faults.add(number, "", Phrase("The table has more than %(n)s rows.", n=MAX_ROWS))
                return
            cells = [_cell(cell) for cell in row]
            if len(cells) > MAX_COLUMNS and cells.pop() not in (None, ""):
                faults.add(number, "", Phrase("The row has more than %(n)s cells.", n=MAX_COLUMNS))
                return
            merged.fill(number, cells)
            if any(value is not None and value != "" for value in cells):
                yield number, cells
    except Exception as error:
        # For a broken workbook, openpyxl raises any exception of its parts: KeyError, ParseError, EntitiesForbidden …
        if isinstance(error, MemoryError):
            raise
        faults.add(0, "", _unreadable(file))


def _unreadable(file: BinaryIO) -> Phrase:
    file.seek(0)
    if archive_of(file.read(START_BYTES)) == WORKBOOK:
        return Phrase("This Excel workbook (XLSX) is damaged or incomplete. Save it again, and upload the new file.")
    return Phrase("This is not a workbook (XLSX) that can be read.")


def _cell(cell: Any) -> Cell:
    from openpyxl.utils.escape import unescape

    if cell.data_type == "f":
        return Formula()
    if cell.data_type == "e":
        return CellError(str(cell.value)[:MAX_ERROR_LENGTH])
    value = cell.value
    if isinstance(value, str):
        return str(unescape(value))
    return value if value is None or isinstance(value, int | float) else str(value)


class _MergedCells:
    """The cells of a sheet that are merged over several rows.

    A workbook keeps the value of merged cells in their first row alone. A person reads it as the value of every row.
    """

    def __init__(self, sheet: Any) -> None:
        self._by_first_row: dict[int, list[tuple[int, int]]] = defaultdict(list)  # (last row, column), both from 1
        self._open: dict[int, tuple[int, Cell]] = {}  # by column: last row, and value
        from openpyxl.utils import range_boundaries

        for reference in _merged_references(sheet):
            left, top, _right, bottom = range_boundaries(reference)
            if top < bottom and left <= MAX_COLUMNS:
                self._by_first_row[top].append((bottom, left))

    def fill(self, number: int, cells: list[Cell]) -> None:
        """Write the values of merged cells into the row ``number``."""
        for column, (last, value) in list(self._open.items()):
            if number > last:
                del self._open[column]
            elif value is not None:
                cells.extend([None] * (column - len(cells)))
                if cells[column - 1] is None:
                    cells[column - 1] = value
        for last, column in self._by_first_row.get(number, ()):
            self._open[column] = (last, cells[column - 1] if column <= len(cells) else None)


def _merged_references(sheet: Any) -> Iterator[str]:
    """The references of merged cells, such as ``A2:A5``; they follow the rows in the file of a sheet."""
    from defusedxml.ElementTree import iterparse

    if not _mentions(sheet, b"mergeCell"):
        return
    count = 0
    with sheet._get_source() as source:
        for _event, element in iterparse(source, forbid_dtd=True):
            name = element.tag.rpartition("}")[2]
            if name == "mergeCell" and count < MAX_MERGED:
                count += 1
                yield element.get("ref", "")
            if name in ("row", "mergeCell"):
                element.clear()


def _mentions(sheet: Any, word: bytes) -> bool:
    """Whether the file of the sheet has ``word``; a search of its bytes takes a tenth of the time of parsing it."""
    end = b""
    with sheet._get_source() as source:
        while chunk := source.read(CHUNK_BYTES):
            if word in end + chunk:
                return True
            end = chunk[-len(word) :]
    return False
