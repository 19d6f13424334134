"""Rubrics as tables, exported and imported: CSV, XLSX, and pasted from a spreadsheet."""

from rubrics.tables.columns import AXIS, CASE, COLUMNS
from rubrics.tables.parsing import RUBRICS, Pasted, Row, read_pasted, read_table, rows_with_heading
from rubrics.tables.reading import rows_of_file
from rubrics.tables.workbooks import ZIP
from rubrics.tables.writing import csv_of, rows_of_items, xlsx_of

__all__ = [
    "AXIS",
    "CASE",
    "COLUMNS",
    "RUBRICS",
    "ZIP",
    "Pasted",
    "Row",
    "csv_of",
    "read_pasted",
    "read_table",
    "rows_of_file",
    "rows_of_items",
    "rows_with_heading",
    "xlsx_of",
]
