"""How a table is laid out on paper: upright, sideways or in parts, at which size, with which columns of running text.

Widths are estimated from the letters in cells and headings, since no TeX is there to measure them. The measure is that
of the class `article` at its usual size, which is narrower than most journals: what fits there fits elsewhere.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from agreement.writers.columns import PrintedColumn, Tabular, interval, text_of, value_of

ACROSS, ALONG = 345.0, 540.0  # points of a line upright, and sideways
_SMALL, _FOOTNOTE = 4.6, 4.1  # points of a letter at \small and \footnotesize
_WIDE_GAP, _NARROW_GAP = 12.0, 6.0  # points between columns
_IN_BRACKETS = 0.8  # an interval at \scriptsize beside its figure
LONG_TEXT = 28  # letters; a longer cell of text is broken into lines
_LEAST_LETTERS = 24  # of a column whose cells are broken into lines
_HEADING = 12  # letters; a longer heading is broken where its cells are narrower
_MAX_KEYS = 3  # columns of text that are repeated in each part


@dataclass(frozen=True)
class Measured:
    """A column with its heading in lines, and the letters of its widest line; ``breaks`` where its cells are broken."""

    column: PrintedColumn
    heading: tuple[str, ...]
    letters: float
    breaks: bool

    @property
    def points(self) -> float:
        """Its width at the size footnotesize, with room for letters wider than most."""
        return (self.letters + 1) * _FOOTNOTE


@dataclass(frozen=True)
class Layout:
    """The columns of each part of a table, and how it is set; ``same`` are columns of text with one value in all rows,
    which is said below the table instead, each with this value.
    """

    parts: tuple[tuple[Measured, ...], ...]
    sideways: bool = False
    small: bool = False
    same: tuple[tuple[str, str], ...] = ()


def letters_in(text: str) -> int:
    """The width of a text in letters; a Chinese character is as wide as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def layout_of(table: Tabular, columns: Sequence[PrintedColumn]) -> Layout:
    """The first of these that fits: upright; upright and small; without columns of one value; sideways; in parts."""
    widest = [0.0] * len(columns)
    texts: list[set[str]] = [set() for _column in columns]  # up to two, to see whether all rows say the same
    for row in table.rows:
        for place, column in enumerate(columns):
            text = text_of(row, column) if column.is_text else value_of(row, column)
            ends = "" if column.is_text else interval(row, column)
            widest[place] = max(widest[place], letters_in(text) + _IN_BRACKETS * (len(ends) + 1 if ends else 0))
            if len(texts[place]) < 2:
                texts[place].add(text)
    measured = [_measured(column, width) for column, width in zip(columns, widest, strict=True)]
    same = {
        column.name: next(iter(own))
        for place, (column, own) in enumerate(zip(columns, texts, strict=True))
        if place and column.is_text and len(table.rows) > 1 and len(own) == 1
    }
    if _width(measured, _SMALL, _WIDE_GAP) <= ACROSS:
        return Layout((tuple(measured),))
    if _width(measured, _FOOTNOTE, _NARROW_GAP) <= ACROSS:
        return Layout((tuple(measured),), small=True)
    kept = [each for each in measured if each.column.name not in same]
    shared = tuple((column.heading, same[column.name]) for column in columns if same.get(column.name))
    if _width(kept, _FOOTNOTE, _NARROW_GAP) <= ACROSS:
        return Layout((tuple(kept),), small=True, same=shared)
    if _width(kept, _FOOTNOTE, _NARROW_GAP) <= ALONG:
        return Layout((tuple(kept),), sideways=True, small=True, same=shared)
    return Layout(_parts(kept), sideways=True, small=True, same=shared)


def _measured(column: PrintedColumn, letters: float) -> Measured:
    breaks = column.is_text and letters > LONG_TEXT
    cells = _LEAST_LETTERS if breaks else letters
    heading = textwrap.wrap(column.heading, max(_HEADING, int(cells)), break_long_words=False) or [""]
    return Measured(column, tuple(heading), max(cells, *map(letters_in, heading)), breaks)


def _width(columns: Sequence[Measured], letter: float, gap: float) -> float:
    return sum(each.letters for each in columns) * letter + gap * max(0, len(columns) - 1)


def _parts(columns: Sequence[Measured]) -> tuple[tuple[Measured, ...], ...]:
    """The columns in parts that fit sideways; the first columns of text, which name a row, are repeated in each."""
    n_keys = 0
    while n_keys < min(_MAX_KEYS, len(columns)) and columns[n_keys].column.is_text and not columns[n_keys].breaks:
        n_keys += 1
    keys, others = list(columns[:n_keys]), columns[n_keys:]
    parts: list[list[Measured]] = [[]]
    for each in others:
        if parts[-1] and _width([*keys, *parts[-1], each], _FOOTNOTE, _NARROW_GAP) > ALONG:
            parts.append([])
        parts[-1].append(each)
    return tuple((*keys, *part) for part in parts)
