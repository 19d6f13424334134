"""Tables as one workbook (XLSX): one sheet per table, every column as computed, and no text that runs as a formula."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import IO, Any

from agreement.writers.columns import Tabular

# Bytes must not depend on the day; this is the earliest date that a ZIP archive knows.
_MADE = datetime(1980, 1, 1, tzinfo=UTC)
_ROWS_IN_A_SHEET = 1_048_576
_MAX_CELL_LENGTH = 32_767
_MAX_NAME_LENGTH = 31
_WHOLE = 2**53  # beyond it a spreadsheet would round
_NOT_IN_A_NAME = re.compile(r"[\[\]:*?/\\']")


def write_workbook(target: IO[bytes], tables: Iterable[tuple[str, Tabular]], paragraphs: Sequence[str] = ()) -> None:
    """Write the tables to ``target``, row by row; ``paragraphs`` go to a last sheet of their own, ``methods``.

    Text is stored as text, also where it begins like a formula or an address. ValueError on a figure that is not
    finite.
    """
    from xlsxwriter import Workbook

    options = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)
    with Workbook(target, {"constant_memory": True, **options}) as book:
        book.set_properties({"created": _MADE})
        bold = book.add_format({"bold": True, "bottom": 1})
        taken: set[str] = set()
        for name, table in tables:
            _write_table(book, name, table, bold, taken)
        if paragraphs:
            sheet = book.add_worksheet(_sheet_name("methods", taken))
            wrapped = book.add_format({"text_wrap": True, "valign": "top"})
            sheet.set_column(0, 0, 110, wrapped)
            for place, paragraph in enumerate(paragraphs):
                sheet.write_string(place, 0, paragraph[:_MAX_CELL_LENGTH], wrapped)


def _write_table(book: Any, name: str, table: Tabular, bold: Any, taken: set[str]) -> None:
    sheet, line = None, 0
    for row in _with_none_at_least(table):
        if sheet is None or line == _ROWS_IN_A_SHEET:
            sheet, line = book.add_worksheet(_sheet_name(name, taken)), 1
            sheet.freeze_panes(1, 1)
            for place, column in enumerate(table.columns):
                wide = 28 if column in table.text else 12
                sheet.set_column(place, place, max(wide, min(len(column) + 2, 24)))
            for place, column in enumerate(table.columns):
                sheet.write_string(0, place, column, bold)
        if row is not None:
            for place, value in enumerate(row):
                _write_cell(sheet, line, place, value)
            line += 1


def _with_none_at_least(table: Tabular) -> Iterable[Sequence[Any] | None]:
    """The rows, and None before them, so that a table without rows still has a sheet with its columns."""
    yield None
    yield from table.rows


def _write_cell(sheet: Any, line: int, place: int, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(line, place, value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a figure that is not finite must not reach a file")
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) <= _WHOLE):
        sheet.write_number(line, place, value)
    else:
        sheet.write_string(line, place, str(value)[:_MAX_CELL_LENGTH])


def _sheet_name(title: str, taken: set[str]) -> str:
    """A valid name of a sheet: short, without special characters, and not used in the workbook yet."""
    base = _NOT_IN_A_NAME.sub(" ", title).strip() or "table"
    name, n = base[:_MAX_NAME_LENGTH], 1
    while name.lower() in taken:
        n += 1
        name = f"{base[: _MAX_NAME_LENGTH - len(str(n)) - 1]} {n}"
    taken.add(name.lower())
    return name
