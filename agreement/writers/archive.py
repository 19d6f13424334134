"""Reproducible ZIP files: entries in the order given, dated 1980, with their SHA-256 at the end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

Content = bytes | Iterable[str]
SUMS = "SHA256SUMS"
_DATE = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16
_UNIX = 3


def write_archive(target: IO[bytes], files: Iterable[tuple[str, Content]]) -> None:
    """Write ``files`` to ``target``, one after the other; text in pieces, so that a file of any size fits.

    ``SHA256SUMS``, the last of them, is what ``sha256sum --check`` takes.
    """
    sums = []
    with ZipFile(target, "w", ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in files:
            sha = hashlib.sha256()
            with archive.open(_entry(name), "w", force_zip64=not isinstance(content, bytes)) as file:
                for piece in [content] if isinstance(content, bytes) else content:
                    data = piece if isinstance(piece, bytes) else piece.encode()
                    sha.update(data)
                    file.write(data)
            sums.append(f"{sha.hexdigest()}  {name}\n")
        archive.writestr(_entry(SUMS), "".join(sums))


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, _DATE)
    entry.compress_type, entry.external_attr, entry.create_system = ZIP_DEFLATED, _READABLE, _UNIX
    return entry
