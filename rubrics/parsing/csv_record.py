"""Tracks a CSV record over its lines: how many cells have ended, and in which column it is broken.

`csv` reports neither, and it keeps a whole record in memory, however many cells it has. A check here comes first and
can stop in time.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from copy import copy

DELIMITERS = (",", ";", "\t", "|")

# The text after the quote that opens a cell, up to the quote that closes it if there is one yet.
_QUOTED = re.compile(r'[^"]*+(?:""[^"]*+)*+("?)')


class CsvRecord:
    """The record that is being read. ``names`` holds the names of the columns, once the heading has been read."""

    def __init__(self, delimiter: str = ",") -> None:
        self.delimiter = delimiter
        self.names: Sequence[str] = ()
        self.begin()

    def begin(self) -> None:
        """Begin the next record, to which the lines added from now on belong."""
        self.length = 0  # characters
        self._ended = 0
        self._open = False  # within quotes
        self._carried = 0  # characters of the unfinished cell on earlier lines
        self._broken: int | None = None

    def add(self, text: str, most: int) -> bool:
        """Count the cells of one more line; False as soon as there are more than ``most``."""
        self.length += len(text)
        if not self._open and '"' not in text and len(text) <= csv.field_size_limit():
            self._ended += text.count(self.delimiter)
            return self._ended < most
        place = 0
        while self._ended < most:
            end = self._cell(text, place)
            if end < 0:
                return True
            self._ended += 1
            place = end + 1
        return False

    def _cell(self, text: str, start: int) -> int:
        """The position of the delimiter that ends the cell at ``start``; -1 without one."""
        quoted = self._open or text.startswith('"', start)
        behind = start
        if quoted:
            inside = _QUOTED.match(text, start + (not self._open))
            behind = inside.end() if inside else start
            self._open = not (inside and inside[1])
        end = -1 if self._open else text.find(self.delimiter, behind)
        stop = len(text) if end < 0 else end
        too_long = self._carried + stop - start > csv.field_size_limit()
        if self._broken is None and (too_long or (quoted and text[behind:stop].strip("\r\n"))):
            self._broken = self._ended
        self._carried = self._carried + stop - start if end < 0 else 0
        return end

    def column(self) -> str:
        """The column of the first cell that is too long, or has text after its quotes; else of the last cell.

        Empty where no heading names it.
        """
        place = self._ended if self._broken is None else self._broken
        return self.names[place] if place < len(self.names) else ""

    def column_at(self, start: bytes, most: int) -> str:
        """The column in which a line breaks off that is readable only up to ``start``; the record is unchanged."""
        tried = copy(self)
        tried.add(start.decode("utf-8", "ignore"), most)
        return tried.column()
