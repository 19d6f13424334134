"""The one CSV writer: stable bytes, and nothing in a text column that a spreadsheet would run as a formula."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# Spreadsheets with an East Asian input locale turn full-width characters into their ASCII form.
_FORMULA = re.compile(r"'* *[=+\-@\t\r\n＝＋－＠]")


class _Rows(io.StringIO):
    r"""Takes rows that end with ``\r\n`` and ends them with ``\n``: the writer quotes what ends its rows, and so a lone
    ``\r`` in a cell, which readers take for the end of a line.
    """

    def write(self, row: str) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")


def inert(text: str) -> str:
    """Prefix an apostrophe where a spreadsheet would read ``text`` as a formula, also after leading blanks.

    A text that is a formula behind apostrophes gets one more, so that `bare` gives every text back.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def bare(cell: str) -> str:
    """The text that `inert` was given."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell


def cell(value: Any, *, is_text: bool) -> str:
    """One cell: None is empty, floats by their shortest exact form, booleans in lower case.

    Raises ValueError on NaN or infinity: an undefined figure is an empty cell with its reason in ``note``.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):  # numpy's float64 is a float, too
        if not math.isfinite(value):
            raise ValueError("a figure that is not finite must not reach a file")
        return repr(float(value))
    return inert(str(value)) if is_text else str(value)


def beginning(values: Sequence[Any], *, is_text: Sequence[bool]) -> str:
    """The first cells of a row as `stream_csv` writes them, each with the comma after it.

    Where thousands of rows share these cells, they are written only once.
    """
    buffer = _Rows()
    cells = [cell(value, is_text=flag) for value, flag in zip(values, is_text, strict=True)]
    csv.writer(buffer).writerow([*cells, ""])
    return buffer.getvalue()[:-1]


def stream_csv(
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any] | Sequence[Any]],
    *,
    text_columns: Collection[str] = (),
    rows_per_chunk: int = 500,
) -> Iterator[str]:
    r"""Yield the file in pieces: a header, then the rows; ``\n`` line ends, minimal quoting."""
    text = [name in text_columns for name in columns]
    buffer = _Rows()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for count, row in enumerate(rows, start=1):
        values = [row.get(name) for name in columns] if isinstance(row, Mapping) else row
        writer.writerow([cell(value, is_text=flag) for value, flag in zip(values, text, strict=True)])
        if count % rows_per_chunk == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def write_csv(
    target: Path | str,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any] | Sequence[Any]],
    *,
    text_columns: Collection[str] = (),
) -> None:
    """Write ``target`` whole or not at all: the rows go to a neighbouring file that then takes its name."""
    path = Path(target)
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            file.writelines(stream_csv(columns, rows, text_columns=text_columns))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
