"""Reads JSON files that hold one long list, element by element in bounded memory.

The list is the whole file, or is in the file's single object under a path of names. Other content of the file
(reports as HTML, repeated conversations) is skipped and never held. Each element is parsed on its own, as strictly
as a line of JSONL is (`rubrics.parsing.reader`), and counts as a line there: `Limits.line_bytes` is the longest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import BOM, UTF16_MARKS, Limits, RecordReader

CHUNK_BYTES = 1 << 18
NAME_BYTES = 1 << 12
MAX_NAMES = 10_000  # of one object on the way to the list

_WHITE = re.compile(rb"[ \t\r\n]*+")
_SCALAR = re.compile(rb"[^\s,:\[\]{}\"]*+")
# Whole strings, and everything else except brackets.
_PLAIN = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)


class Broken(ValueError):
    """The file cannot be read any further; ``message`` is the reason, at ``line``."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


class PlacedFaults(Faults):
    """Hands faults on to others, with ``place`` before the field and ``renamed`` (from, to) in its name."""

    def __init__(self, faults: Faults, place: str = "", renamed: tuple[str, str] | None = None) -> None:
        super().__init__()
        self.faults, self.place, self.renamed = faults, place, renamed

    def add(self, line: int, field: str, message: str) -> None:
        """Note one fault."""
        if self.renamed is not None:
            field = field.replace(*self.renamed, 1)
        self.total += 1
        self.faults.add(line, f"{self.place}.{field}" if self.place and field else self.place or field, message)


class Cursor:
    """A place in a JSON file, moved value by value. It finds where values end and does not parse their content."""

    def __init__(
        self,
        file: BinaryIO,
        *,
        limits: Limits | None = None,
        progress: Callable[[int], None] | None = None,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        self.file = file
        self.limits = limits or Limits()
        self.progress = progress
        self.chunk_bytes = chunk_bytes
        self.line = 1
        self.bytes_read = 0
        self._buffer = b""
        self._at = 0
        self._check_start()

    def _check_start(self) -> None:
        while len(self._buffer) < 4 and self._more():
            pass
        if self._buffer.startswith(UTF16_MARKS) or self._buffer[:4].count(0) >= 2:
            raise Broken(1, Phrase("The file is not UTF-8; it looks like UTF-16. Save it as UTF-8."))
        if self._buffer.startswith(BOM):
            raise Broken(1, Phrase("The file begins with a byte order mark. Save it as UTF-8 without one."))

    def _more(self) -> bool:
        """Read a further piece and forget what lies behind; False at the end of the file."""
        piece = self.file.read(self.chunk_bytes)
        if not piece:
            return False
        self.bytes_read += len(piece)
        if self.bytes_read > self.limits.total_bytes:
            message = Phrase("The file is larger than %(total_bytes)s GiB.", total_bytes=self.limits.total_bytes >> 30)
            raise Broken(self.line, message)
        if self.progress is not None:
            self.progress(self.bytes_read)
        self._buffer = self._buffer[self._at :] + piece
        self._at = 0
        return True

    def _advance(self, to: int) -> None:
        self.line += self._buffer.count(b"\n", self._at, to)
        self._at = to

    def peek(self) -> bytes:
        """The next byte that is not white space; empty at the end of the file."""
        while True:
            match = _WHITE.match(self._buffer, self._at)
            assert match is not None
            self._advance(match.end())
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            if not self._more():
                return b""

    def take(self, expected: bytes) -> bytes:
        """Pass one of the bytes ``expected``, after white space; `Broken` at anything else."""
        next_byte = self.peek()
        if not next_byte or next_byte not in expected:
            names = ", ".join(f"“{chr(byte)}”" for byte in expected)
            if not next_byte:
                raise Broken(self.line, Phrase("The file ends where one of %(names)s is expected.", names=names))
            message = Phrase(
                "“%(found)s” found where one of %(names)s is expected.", found=_shown(next_byte), names=names
            )
            raise Broken(self.line, message)
        self._at += 1
        return next_byte

    def value(self, longest: int) -> bytes | None:
        """The next value unparsed, or None where it is longer than ``longest`` bytes; it is passed either way."""
        first = self.peek()
        if not first:
            raise Broken(self.line, Phrase("The file ends where a value is expected."))
        kept: list[bytes] = []
        size = 0
        start = self._at

        def refill() -> bool:
            nonlocal size, start
            piece = self._buffer[start : self._at]
            size += len(piece)
            if size > longest:
                kept.clear()
            else:
                kept.append(piece)
            more = self._more()
            start = self._at = 0 if more else self._at
            return more

        if first in b'"[{':
            self._pass_structure(refill)
        else:
            self._pass_scalar(refill)
        size += self._at - start
        if size > longest:
            return None
        return b"".join((*kept, self._buffer[start : self._at]))

    def _pass_scalar(self, refill: Callable[[], bool]) -> None:
        passed = False
        while True:
            match = _SCALAR.match(self._buffer, self._at)
            assert match is not None
            passed = passed or match.end() > self._at
            self._advance(match.end())
            if self._at < len(self._buffer) or not refill():
                break
        if not passed:
            raise Broken(self.line, Phrase("“%(found)s” found where a value is expected.", found=_shown(self.peek())))

    def _pass_structure(self, refill: Callable[[], bool]) -> None:
        """Pass a text, a list or an object."""
        began = self.line
        depth = 0
        in_string = self._buffer[self._at : self._at + 1] == b'"'
        if in_string:
            self._at += 1
        while True:
            match = (_IN_STRING if in_string else _PLAIN).match(self._buffer, self._at) if in_string or depth else None
            if match is not None:
                self._advance(match.end())
            # A backslash at the end of the buffer, inside a string, needs the next piece, which holds what it escapes.
            if self._at >= len(self._buffer) or (in_string and self._buffer[self._at : self._at + 1] == b"\\"):
                if not refill():
                    message = Phrase("The file ends inside a value that begins on line %(line)s.", line=began)
                    raise Broken(self.line, message)
                continue
            byte = self._buffer[self._at]
            self._at += 1
            if byte == ord('"'):
                in_string = not in_string
            elif byte in b"[{":
                depth += 1
            else:
                depth -= 1
            if not in_string and depth <= 0:
                return

    def _name(self) -> str:
        """The next name in an object, and its colon; `Broken` where there is none."""
        if self.peek() != b'"':
            raise Broken(self.line, Phrase("“%(found)s” found where a name is expected.", found=_shown(self.peek())))
        line = self.line
        raw = self.value(NAME_BYTES)
        self.take(b":")
        if raw is None:
            raise Broken(line, Phrase("A name is longer than %(longest)s bytes.", longest=NAME_BYTES))
        return raw[1:-1].decode("utf-8", "replace")

    def names(self) -> Iterator[str]:
        """The names in the object that begins here. The caller passes the value of each; none may stand twice."""
        self.take(b"{")
        if self.peek() == b"}":
            self.take(b"}")
            return
        seen: set[str] = set()
        while True:
            name = self._name()
            if name in seen:
                raise Broken(self.line, Phrase("The same key appears twice in one object."))
            seen.add(name)
            if len(seen) > MAX_NAMES:
                raise Broken(self.line, Phrase("An object has more than %(most)s keys.", most=MAX_NAMES))
            yield name
            if self.take(b",}") == b"}":
                return


def _shown(byte: bytes) -> str:
    return byte.decode("ascii", "replace")


class ElementReader:
    """Yields (line where it begins, place, object) for the elements of a list; anything else becomes a fault.

    ``path`` leads to the list through the file's one object; empty, the list is the file. The place of an element is as
    JSON's users write it, counted from 0: ``metadata.example_level_metadata[3]``.
    """

    def __init__(
        self,
        file: BinaryIO,
        faults: Faults,
        *,
        path: tuple[str, ...] = (),
        limits: Limits | None = None,
        progress: Callable[[int], None] | None = None,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        self.file = file
        self.faults = faults
        self.path = path
        self.limits = limits or Limits()
        self.progress = progress
        self.chunk_bytes = chunk_bytes
        self._placed = PlacedFaults(faults)
        self._parser = RecordReader(file, self._placed, limits=self.limits)

    def __iter__(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        try:
            cursor = Cursor(self.file, limits=self.limits, progress=self.progress, chunk_bytes=self.chunk_bytes)
            if not cursor.peek():
                self.faults.add(0, "", Phrase("The file is empty."))
                return
            yield from self._descend(cursor, 0)
            if cursor.peek():
                raise Broken(cursor.line, Phrase("There is text after the end of the JSON."))
        except Broken as error:
            self.faults.add(error.line, self._placed.place, error.message)

    def _descend(self, cursor: Cursor, level: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
        if level == len(self.path):
            yield from self._elements(cursor)
            return
        exists = False
        if cursor.peek() == b"{":
            for name in cursor.names():
                if name == self.path[level]:
                    exists = True
                    yield from self._descend(cursor, level + 1)
                else:
                    cursor.value(0)
        if not exists:
            place = ".".join(self.path)
            raise Broken(cursor.line, Phrase("The file has no %(place)s.", place=place))

    def _elements(self, cursor: Cursor) -> Iterator[tuple[int, str, dict[str, Any]]]:
        place = ".".join(self.path)
        if cursor.peek() != b"[":
            self.faults.add(cursor.line, place, Phrase("This must be a list."))
            cursor.value(0)
            return
        cursor.take(b"[")
        if cursor.peek() == b"]":
            cursor.take(b"]")
            return
        number = 0
        while True:
            cursor.peek()
            line = cursor.line
            self._placed.place = f"{place}[{number}]"
            raw = cursor.value(self.limits.line_bytes)
            record = self._parse(line, raw)
            if record is not None:
                yield line, self._placed.place, record
            number += 1
            if cursor.take(b",]") == b"]":
                self._placed.place = ""
                return

    def _parse(self, line: int, raw: bytes | None) -> dict[str, Any] | None:
        if raw is None:
            longest = self.limits.line_bytes >> 20
            self._placed.add(line, "", Phrase("This element is longer than %(longest)s MiB.", longest=longest))
            return None
        if not raw.startswith(b"{"):
            self._placed.add(line, "", Phrase("Each element must be an object."))
            return None
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            message = Phrase("Byte %(start)s of this element is not UTF-8.", start=error.start + 1)
            self._placed.add(line, "", message)
            return None
        return self._parser.parse(line, raw)
