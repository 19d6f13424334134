"""The file of a backup: an uncompressed tar, written and read as a stream, with the digest of every member.

Its members are ``README.txt``, ``database.dump`` (pg_dump's custom format), ``media/…``, ``home/…`` and, if the
operator asks for it, ``secret_key``. The last member is ``manifest.json``: it names every other member with its size
and SHA-256, and says what the database held.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self, cast

from consilium.core.errors import DomainError

FORMAT = 1
DUMP, MANIFEST, README, SECRET = "database.dump", "manifest.json", "README.txt", "secret_key"
MEDIA, HOME = "media/", "home/"
CHUNK = 1 << 20
MAX_MANIFEST_BYTES = 256 << 20
MODE = 0o600

Read = Callable[[int], bytes]


class BackupError(DomainError):
    """A backup cannot be made, read or restored; the message says what to do."""


class ArchiveWriter:
    """Writes a backup under a temporary name; the name that people see appears with `finish`, whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        self.members: dict[str, dict[str, Any]] = {}
        self._at = int(time.time())
        descriptor = os.open(self.part, os.O_RDWR | os.O_CREAT | os.O_EXCL, MODE)
        self._file: IO[bytes] = os.fdopen(descriptor, "w+b")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()
        self.part.unlink(missing_ok=True)

    def add(self, name: str, read: Read, *, progress: Callable[[int], None] | None = None) -> None:
        """Add a member whose length shows only when it has been read: its header is written again then."""
        start = self._file.tell()
        self._file.write(_header(name, 0, self._at))
        digest, size = hashlib.sha256(), 0
        while chunk := read(CHUNK):
            self._file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
            if progress is not None:
                progress(size)
        self._file.write(b"\0" * (-size % tarfile.BLOCKSIZE))
        end = self._file.tell()
        self._file.seek(start)
        self._file.write(_header(name, size, self._at))
        self._file.seek(end)
        self.members[name] = {"size": size, "sha256": digest.hexdigest()}

    def add_bytes(self, name: str, content: bytes) -> None:
        """Add a small member."""
        chunks = iter([content])
        self.add(name, lambda _size: next(chunks, b""))

    def finish(self, facts: dict[str, Any]) -> None:
        """Write the manifest, wait for the disk, and give the file its name; refuse to replace another file."""
        manifest = {"format": FORMAT, **facts, "members": self.members}
        self.add_bytes(MANIFEST, json.dumps(manifest, indent=1).encode())
        self._file.write(b"\0" * (2 * tarfile.BLOCKSIZE))
        self._file.flush()
        os.fsync(self._file.fileno())
        try:
            os.link(self.part, self.path)  # unlike a renaming, this never replaces a file
        except FileExistsError:
            raise BackupError(f"{self.path} exists already. Choose another name.") from None
        except OSError:  # a file system without hard links
            if self.path.exists():
                raise BackupError(f"{self.path} exists already. Choose another name.") from None
            self.part.rename(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _header(name: str, size: int, at: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, MODE, at
    return member.tobuf(tarfile.GNU_FORMAT)  # of the same length whatever the size


class Archive:
    """A backup that is read. `check` comes first: it reads every byte and compares the digests."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sha256 = ""
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise BackupError(f"{path} cannot be read: {error.strerror}.") from None
        self.manifest: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    def check(self, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
        """Read all of the file; the manifest, or `BackupError` if a member is missing, changed or not announced."""
        whole = hashlib.sha256()
        digests: dict[str, dict[str, Any]] = {}
        content = b""
        self._file.seek(0)
        try:
            with tarfile.open(fileobj=cast("IO[bytes]", _Hashing(self._file, whole, progress)), mode="r|") as tar:
                for member in tar:
                    stream = tar.extractfile(member) if member.isreg() else None
                    if stream is None or not _is_safe(member.name) or member.name in digests:
                        raise BackupError(f"{self.path} is no backup of Consilium: it holds {member.name!r}.")
                    digest = hashlib.sha256()
                    while chunk := stream.read(CHUNK):
                        digest.update(chunk)
                        if member.name == MANIFEST and member.size <= MAX_MANIFEST_BYTES:
                            content += chunk
                    digests[member.name] = {"size": member.size, "sha256": digest.hexdigest()}
        except (tarfile.TarError, EOFError, OSError) as error:
            raise BackupError(f"{self.path} is damaged, or is no backup of Consilium: {error}.") from None
        while chunk := self._file.read(CHUNK):
            whole.update(chunk)
        digests.pop(MANIFEST, None)
        if not content:
            raise BackupError(f"{self.path} has no {MANIFEST}: it is cut off, or is no backup of Consilium.")
        self.manifest = _read_manifest(self.path, content)
        announced = self.manifest["members"]
        changed = sorted({*announced, *digests} - {name for name in digests if announced.get(name) == digests[name]})
        if changed or DUMP not in digests:
            raise BackupError(
                f"{self.path} is damaged: {', '.join(changed[:5]) or DUMP} is not what the manifest says. Use another."
            )
        self.sha256 = whole.hexdigest()
        return self.manifest

    def members(self) -> Iterator[tuple[str, IO[bytes]]]:
        """The members in the order of the file, each with a stream that is valid until the next is taken."""
        self._file.seek(0)
        with tarfile.open(fileobj=self._file, mode="r:") as tar:
            for member in tar:
                stream = tar.extractfile(member)
                if stream is not None:
                    yield member.name, stream

    def open(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """One member as a stream."""
        return self._open(name)

    @contextlib.contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        self._file.seek(0)
        with tarfile.open(fileobj=self._file, mode="r:") as tar:
            stream = tar.extractfile(name)
            assert stream is not None
            yield stream


class _Hashing:
    """A file whose bytes are counted and hashed as they are read."""

    def __init__(self, file: IO[bytes], digest: Any, progress: Callable[[int], None] | None) -> None:
        self._file, self._digest, self._progress, self._done = file, digest, progress, 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self._digest.update(chunk)
        self._done += len(chunk)
        if self._progress is not None:
            self._progress(self._done)
        return chunk


def _is_safe(name: str) -> bool:
    """Whether a member is one of those that a backup has, and stays in its folder when it is written."""
    path = PurePosixPath(name)
    inside = not path.is_absolute() and ".." not in path.parts and "\0" not in name and str(path) == name
    return inside and (name in {DUMP, MANIFEST, README, SECRET} or name.startswith((MEDIA, HOME)))


def _read_manifest(path: Path, content: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(content)
        number = manifest["format"]
        members = manifest["members"]
    except (ValueError, KeyError, TypeError):
        raise BackupError(f"{path} is no backup of Consilium: its {MANIFEST} cannot be read.") from None
    if number != FORMAT or not isinstance(members, dict):
        raise BackupError(
            f"{path} has format {number} of backups, and this version reads format {FORMAT}. "
            f"Use version {manifest.get('version')} of Consilium or a newer one."
        )
    return dict(manifest)
