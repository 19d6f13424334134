"""Writes tables of criteria as CSV and XLSX; importing one again gives the same criteria."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from consilium.core.csvfile import stream_csv
from rubrics.editor.draft_content import DraftItem
from rubrics.tables.columns import CASE, COLUMNS, TEXT_COLUMNS, joined

_WIDTHS = {CASE: 24, "criterion": 70, "tags": 28, "source": 28, "element": 28, "expectation": 28, "citations": 28}


def rows_of_items(
    items: Sequence[DraftItem], locators: Sequence[Sequence[str]] | None = None
) -> Iterator[tuple[object, ...]]:
    """Cells in the order of `COLUMNS`; ``locators`` are those that each item cites (`rubrics.cited.locators_of`)."""
    for position, (item, cited) in enumerate(zip(items, locators or [()] * len(items), strict=True), start=1):
        yield (
            *(position, item.text, item.points or None, joined(item.tags)),
            *(item.source, item.element, item.expectation, item.bank, joined(cited)),
        )


def csv_of(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """CSV in pieces."""
    return stream_csv(columns, rows, text_columns=TEXT_COLUMNS)


def xlsx_of(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, sheet: str = "rubric", width: int = 10
) -> bytes:
    """A workbook of one sheet. Text is stored as text, also where it begins like a formula.

    ``width`` is that of columns that have none of their own, in characters.
    """
    from xlsxwriter import Workbook

    target = io.BytesIO()
    options = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)
    with Workbook(target, {"constant_memory": True, **options}) as book:
        book.set_properties({"created": datetime(1980, 1, 1, tzinfo=UTC)})  # the same rows give the same bytes
        bold = book.add_format({"bold": True, "bottom": 1})
        wrapped = book.add_format({"text_wrap": True, "valign": "top"})
        page = book.add_worksheet(sheet)
        page.freeze_panes(1, 0)
        for place, name in enumerate(columns):
            page.set_column(place, place, _WIDTHS.get(name, width))
            page.write_string(0, place, name, bold)
        for line, row in enumerate(rows, start=1):
            for place, cell in enumerate(row):
                if isinstance(cell, int):
                    page.write_number(line, place, cell, wrapped)
                elif cell:
                    page.write_string(line, place, str(cell), wrapped)
    return target.getvalue()


__all__ = ["COLUMNS", "csv_of", "rows_of_items", "xlsx_of"]
