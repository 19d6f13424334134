"""A table as Markdown (the pipe tables of GitHub, Pandoc and most editors), in pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from agreement.writers.columns import PrintedColumn, Tabular, interval, printed_columns, remarks, text_of, value_of

_MARKED = re.compile(r"([\\`*_\[\]|~$#])")
_BLANK = re.compile(r"[\x00-\x1f\x7f\s]+")


def escaped(text: str) -> str:
    """Text escaped so that Markdown shows it unchanged: no emphasis, link, mark-up or end of a cell in it."""
    plain = _BLANK.sub(" ", text).strip()
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKED.sub(r"\\\1", plain)


def stream_markdown(table: Tabular, *, caption: str, notes: Sequence[str] = ()) -> Iterator[str]:
    """The file, in pieces: caption, table, and below it ``notes`` and the remarks on its rows."""
    columns = printed_columns(table)
    yield f"**{escaped(caption)}**\n\n"
    yield _line(escaped(column.heading) for column in columns)
    yield _line("---" if column.is_text else "---:" for column in columns)
    for row in table.rows:
        yield _line(_cell(row, column) for column in columns)
    below = [*map(escaped, notes), *(f"{escaped(name)}: {escaped(remark)}" for name, remark in remarks(table, columns))]
    yield from (f"{'' if number else chr(10)}- {note}\n" for number, note in enumerate(below))


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _cell(row: Sequence[Any], column: PrintedColumn) -> str:
    if column.is_text:
        return escaped(text_of(row, column))
    text, ends = escaped(value_of(row, column)), interval(row, column)
    return f"{text} {escaped(ends)}" if ends else text
