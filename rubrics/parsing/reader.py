r"""A strict reader of JSONL: one JSON object a line, lines split on ``\n`` and nothing else.

Refused, each with its line and field: a byte order mark, UTF-16, invalid UTF-8, NUL characters (PostgreSQL stores none)
and lone surrogates, NaN and infinities, numbers too large to be exact, the same key twice in an object, nesting deeper,
lines longer and values more than `Limits` allow. A carriage return before the line feed is white space to JSON and is
accepted; blank lines are skipped. Archives are refused unread: what one unpacks to is not known before it is unpacked.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from consilium.core.phrases import Phrase
from consilium.core.strict_json import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_VALUES,
    RefusedJSON,
    place_too_deep,
    strict_decoder,
    too_deep,
    too_many_values,
)
from rubrics.parsing.faults import Faults

BOM = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
SKIP_BYTES = 1 << 20
# How compressed files and archives begin; a tar archive has its mark behind the name of its first file.
ARCHIVES = {
    b"\x1f\x8b": "gzip", b"PK\x03\x04": "ZIP", b"PK\x05\x06": "ZIP", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "RAR",
}  # fmt: skip
WORKBOOK = "XLSX"
# A workbook is a ZIP whose first file has one of these names, which stands 30 bytes after the mark.
_FIRST_OF_WORKBOOK = re.compile(rb"PK\x03\x04.{26}(?:\[Content_Types\]\.xml|docProps/|_rels/\.rels|xl/)", re.DOTALL)
NAME_ENDS = 64  # bytes, enough for the name of the first file
TAR_MARK, TAR_OFFSET = b"ustar", 257


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may hold, so that reading it takes bounded memory."""

    line_bytes: int = 16 << 20
    total_bytes: int = 4 << 30
    depth: int = MAX_DEPTH
    values: int = MAX_VALUES  # of a line
    digits: int = MAX_DIGITS


def _too_large(most: int) -> Phrase:
    """That a file has more than so many bytes."""
    if most < 1 << 30:
        return Phrase("The file is larger than %(n)s MiB.", n=most >> 20)
    return Phrase("The file is larger than %(n)s GiB.", n=most >> 30)


class LineReader:
    """Yields (line number, bytes without the line end) and counts what it has read in ``bytes_read``.

    ``field_at`` names, from the start of a line that is too long, the field in which it breaks off; by default the last
    key.
    """

    def __init__(
        self,
        file: BinaryIO,
        faults: Faults,
        *,
        limits: Limits | None = None,
        progress: Callable[[int], None] | None = None,
        accept_mark: bool = False,
        keep_blank: bool = False,
        field_at: Callable[[bytes], str] | None = None,
    ) -> None:
        self.file = file
        self.faults = faults
        self.limits = limits or Limits()
        self.progress = progress
        self.accept_mark = accept_mark
        self.keep_blank = keep_blank
        self.field_at = field_at or key_before
        self.bytes_read = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        longest = self.limits.line_bytes
        number = rows = 0
        while chunk := self.file.readline(longest + 2):
            number += 1
            self.bytes_read += len(chunk)
            if number == 1:
                start = self._without_mark(chunk)
                if start is None:
                    return
                chunk = start
            if len(chunk) > longest and not (len(chunk) == longest + 1 and chunk.endswith(b"\n")):
                field = self.field_at(chunk)
                self._skip_to_line_end(chunk)
                message = Phrase("The line is longer than %(longest)s MiB.", longest=longest >> 20)
                self.faults.add(number, field, message)
                continue
            if self.bytes_read > self.limits.total_bytes:
                self.faults.add(
                    number,
                    "",
                    _too_large(self.limits.total_bytes),
                )
                return
            if self.progress is not None and number % 64 == 0:
                self.progress(self.bytes_read)
            line = chunk.removesuffix(b"\n")
            blank = not line or line.isspace()
            rows += not blank
            if self.keep_blank or not blank:
                yield number, line
        if self.progress is not None:
            self.progress(self.bytes_read)
        if not rows and not self.faults.total:
            self.faults.add(0, "", Phrase("The file is empty."))

    def _without_mark(self, chunk: bytes) -> bytes | None:
        """The first line without a byte order mark, or None if the file cannot be read at all."""
        archive = archive_of(chunk)
        if (
            archive == "ZIP"
        ):  # its header has the time, whose bytes may end the "line" before the name of the first file
            archive = archive_of(chunk + self.file.read(NAME_ENDS))
        if archive:
            self.faults.add(1, "", archive_refusal(archive))
            return None
        if chunk.startswith(UTF16_MARKS) or chunk[:4].count(0) >= 2:
            self.faults.add(1, "", Phrase("The file is not UTF-8; it looks like UTF-16. Save it as UTF-8."))
            return None
        if chunk.startswith(BOM):
            if not self.accept_mark:
                self.faults.add(1, "", Phrase("The file begins with a byte order mark. Save it as UTF-8 without one."))
                return None
            return chunk[len(BOM) :]
        return chunk

    def _skip_to_line_end(self, chunk: bytes) -> None:
        while chunk and not chunk.endswith(b"\n"):
            chunk = self.file.readline(SKIP_BYTES)
            self.bytes_read += len(chunk)


def archive_of(start: bytes) -> str:
    """The kind of archive or compressed file that begins like this; empty if it is no known one."""
    for mark, name in ARCHIVES.items():
        if start.startswith(mark):
            return WORKBOOK if name == "ZIP" and _FIRST_OF_WORKBOOK.match(start) else name
    return "tar" if start[TAR_OFFSET : TAR_OFFSET + len(TAR_MARK)] == TAR_MARK else ""


def archive_refusal(kind: str) -> Phrase:
    """What to tell somebody who sends a file of a ``kind`` that `archive_of` names, where a text is due."""
    if kind == WORKBOOK:
        return Phrase(
            "This is an Excel workbook (XLSX), which cannot be used for this kind of file. Save it as CSV in UTF-8."
        )
    return Phrase("This is an archive (%(kind)s), not text. Unpack it and send its contents.", kind=kind)


def key_before(start: bytes) -> str:
    """The last key before the end of ``start``, to name the field near which a text stops being JSON."""
    end = start.rfind(b'":')
    begin = start.rfind(b'"', 0, end) if end > 0 else -1
    return start[begin + 1 : end].decode("utf-8", "replace") if begin >= 0 else ""


class RecordReader:
    """Yields (line number, object) for each line that holds one; anything else becomes a fault.

    ``accept_nonfinite``: NaN and infinities reach the caller, who says what becomes of each.
    """

    def __init__(
        self,
        file: BinaryIO,
        faults: Faults,
        *,
        limits: Limits | None = None,
        progress: Callable[[int], None] | None = None,
        accept_nonfinite: bool = False,
    ) -> None:
        self.faults = faults
        self.limits = limits or Limits()
        self.lines = LineReader(file, faults, limits=self.limits, progress=progress)
        self._decoder = strict_decoder(digits=self.limits.digits, accept_nonfinite=accept_nonfinite)

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in self.lines:
            record = self.parse(number, line)
            if record is not None:
                yield number, record

    def _place_of_number(self, text: str) -> str:
        """The position of the first number that is invalid or too large: parses again, with a marker in its place."""

        def whole(digits: str) -> Any:
            return _MARK if len(digits) > self.limits.digits + digits.startswith("-") else 0

        def fraction(digits: str) -> Any:
            return 0 if math.isfinite(float(digits)) else _MARK

        decoder = json.JSONDecoder(parse_constant=lambda _text: _MARK, parse_float=fraction, parse_int=whole)
        try:
            return next(
                (place for place, value in _texts(decoder.decode(text.strip(" \t\r")), "") if value is _MARK), ""
            )
        except json.JSONDecodeError:
            return ""  # the line breaks off after the number

    def parse(self, number: int, line: bytes) -> dict[str, Any] | None:
        """The object of one line, or None and a fault."""
        end = too_many_values(line, self.limits.values)
        if end is not None:
            message = Phrase("The line contains more than %(n)s values.", n=self.limits.values)
            self.faults.add(number, key_before(line[:end]), message)
            return None
        if too_deep(line, self.limits.depth):
            message = Phrase("Brackets are nested deeper than %(depth)s levels.", depth=self.limits.depth)
            self.faults.add(number, key_before(line[: place_too_deep(line, self.limits.depth)]), message)
            return None
        try:
            text = line.decode("utf-8")
            record = self._decoder.decode(text.strip(" \t\r"))
        except UnicodeDecodeError as error:
            field = key_before(line[: error.start])
            self.faults.add(number, field, Phrase("Byte %(start)s of the line is not UTF-8.", start=error.start + 1))
            return None
        except RefusedJSON as error:
            self.faults.add(number, self._place_of_number(text) if error.field is None else error.field, error.message)
            return None
        except json.JSONDecodeError as error:
            # Text after the object belongs to none of its fields.
            field = "" if error.msg == "Extra data" else key_before(text[: error.pos].encode("utf-8", "replace"))
            message = Phrase("This is not valid JSON: %(msg)s (character %(pos)s).", msg=error.msg, pos=error.pos + 1)
            self.faults.add(number, field, message)
            return None
        if not isinstance(record, dict):
            self.faults.add(number, "", Phrase("Each line must contain one JSON object."))
            return None
        # NUL and surrogates can only come from an escape, and searching for one is cheaper than checking every text.
        if b"\\u0000" in line or _SURROGATE_ESCAPE.search(line):
            for place, value in _texts(record, ""):
                if "\x00" in value:
                    self.faults.add(number, place, Phrase("The text contains a NUL character."))
                    return None
                if any("\ud800" <= character <= "\udfff" for character in value):
                    self.faults.add(number, place, Phrase("The text contains half of a surrogate pair."))
                    return None
        return record


_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
# A marker for a number that was refused; compared by identity, so that no text equals it.
_MARK = "".join(("a number", " that was refused"))


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every text in ``value``, keys included, with its place: ``prompt[0].content``."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield place, key
            clean = key.encode("utf-8", "replace").decode("utf-8").replace("\x00", "?")
            yield from _texts(inner, f"{place}.{clean}" if place else clean)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{place}[{index}]")
