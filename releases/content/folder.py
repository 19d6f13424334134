"""A folder of files under construction: every file is hashed and counted while it is written."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from consilium.core.csvfile import stream_csv

SUMS = "SHA256SUMS"
_DATE = (1980, 1, 1, 0, 0, 0)
_PIECE = 1 << 20
# Whole numbers in files have at most 18 digits; one with more is a float that the database wrote out.
_MAX_EXACT = 10**18


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of the release; ``rows`` is set where it consists of rows."""

    path: str
    size: int
    sha256: str
    rows: int | None = None


class OpenFile:
    """A file that is written piece by piece."""

    def __init__(self, folder: Folder, path: str, *, rows: bool) -> None:
        self._folder, self._path = folder, path
        target = folder.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        self._file = target.open("wb")
        self._hash, self._size = hashlib.sha256(), 0
        self.rows: int | None = 0 if rows else None

    def write(self, text: str | bytes) -> None:
        """Add a piece."""
        data = text.encode() if isinstance(text, str) else text
        self._hash.update(data)
        self._size += len(data)
        self._file.write(data)

    def line(self, record: Any) -> None:
        """Add a line of JSON."""
        self.write(json_text(record) + "\n")
        self.rows = (self.rows or 0) + 1

    def close(self) -> WrittenFile:
        """Record the size and the hash of what was written."""
        self._file.close()
        written = WrittenFile(self._path, self._size, self._hash.hexdigest(), self.rows)
        self._folder.files[self._path] = written
        return written


class Folder:
    """The folder of a release that is being written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, WrittenFile] = {}
        root.mkdir(parents=True, exist_ok=True)

    def open(self, path: str, *, rows: bool = True) -> OpenFile:
        """A file to be written row by row."""
        return OpenFile(self, path, rows=rows)

    def text(self, path: str, content: str) -> None:
        """A small file."""
        file = self.open(path, rows=False)
        file.write(content)
        file.close()

    def json(self, path: str, content: Any) -> None:
        """A small file of JSON, indented for people."""
        self.text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")

    def jsonl(self, path: str, records: Iterable[Any]) -> int:
        """Write a file with one record per line; return their number."""
        file = self.open(path)
        for record in records:
            file.line(record)
        return file.close().rows or 0

    def csv(
        self,
        path: str,
        columns: Sequence[str],
        rows: Iterable[Mapping[str, Any] | Sequence[Any]],
        *,
        text_columns: Collection[str] = (),
    ) -> int:
        """Write a CSV file; return its number of rows without the header."""
        file = self.open(path)
        count = 0

        def counted() -> Iterator[Mapping[str, Any] | Sequence[Any]]:
            nonlocal count
            for row in rows:
                count += 1
                yield row

        for piece in stream_csv(columns, counted(), text_columns=text_columns):
            file.write(piece)
        file.rows = count
        file.close()
        return count

    def seal(self) -> str:
        """Write ``SHA256SUMS`` over all other files; return the SHA-256 of that file, which identifies the release."""
        lines = [f"{self.files[path].sha256}  {path}\n" for path in sorted(self.files)]
        content = "".join(lines).encode()
        (self.root / SUMS).write_bytes(content)
        return hashlib.sha256(content).hexdigest()


def json_text(value: Any) -> str:
    """One line of JSON, without escapes for characters beyond ASCII."""
    return json.dumps(exact(value), ensure_ascii=False)


def exact(value: Any) -> Any:
    """The value with its numbers as a file may hold them; the database writes 1e+23 with all its zeros."""
    if isinstance(value, dict):
        return {key: exact(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [exact(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _MAX_EXACT:
        return float(value)
    return value


def write_zip(root: Path, target: Path, *, top: str) -> None:
    """Pack a sealed folder: files in the order of their names, dated 1980, under the folder ``top``."""
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    with ZipFile(target, "w", ZIP_DEFLATED, compresslevel=6) as archive:
        for path in paths:
            entry = ZipInfo(f"{top}/{path.relative_to(root).as_posix()}", _DATE)
            entry.compress_type, entry.external_attr, entry.create_system = ZIP_DEFLATED, 0o644 << 16, 3
            size = path.stat().st_size
            with path.open("rb") as source, archive.open(entry, "w", force_zip64=size > 1 << 30) as packed:
                while piece := source.read(_PIECE):
                    packed.write(piece)


def csv_rows(path: Path) -> Iterator[list[str]]:
    """The rows of a CSV file, header first."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)
