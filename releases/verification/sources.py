"""Reads a release from a folder or a ZIP, touching nothing outside, in bounded memory."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

MAX_FILES = 10_000
MAX_BYTES = 16 << 30  # of a file when unpacked
# Text compresses well, but a file that compresses better than this is a ZIP bomb.
MAX_RATIO = 300
_SMALL = 1 << 20


class Unreadable(Exception):
    """The path is not a readable release; the text is the reason."""


class Source(Protocol):
    """Files of a release by their path inside it. ``problems`` are the faults found while listing them."""

    problems: list[str]

    def names(self) -> list[str]:
        """All files, in order."""

    def size(self, name: str) -> int:
        """Bytes of a file, unpacked."""

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A file to read."""


class FolderSource:
    """A folder. Symbolic links are not followed, since they may lead outside."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[str] = []
        self._names: list[str] = []
        for path in self._walk(root):
            self._names.append(path.relative_to(root).as_posix())
            if len(self._names) > MAX_FILES:
                raise Unreadable(f"there are more than {MAX_FILES:,} files")

    def _walk(self, folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            name = path.relative_to(self.root).as_posix()
            if path.is_symlink():
                self.problems.append(f"{name}: a symbolic link; a release has none")
            elif path.is_dir():
                yield from self._walk(path)
            elif path.is_file():
                yield path
            else:
                self.problems.append(f"{name}: neither a file nor a folder")

    def names(self) -> list[str]:
        """All files, in order."""
        return self._names

    def size(self, name: str) -> int:
        """Bytes of a file."""
        return (self.root / name).stat().st_size

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """A file to read."""
        with (self.root / name).open("rb") as file:
            yield file


class ZipSource:
    """A ZIP with everything in one folder, or at its top. Nothing is unpacked onto the disk."""

    def __init__(self, path: Path | IO[bytes]) -> None:
        self.problems: list[str] = []
        try:
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise Unreadable(f"not a ZIP: {error}") from error
        infos = self._archive.infolist()
        if len(infos) > MAX_FILES:
            raise Unreadable(f"there are more than {MAX_FILES:,} files")
        members: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            if info.is_dir():
                continue
            problem = _danger(info) or ("it stands twice in the archive" if info.filename in members else "")
            if problem:
                self.problems.append(f"{_printable(info.filename)}: {problem}")
            else:
                members[info.filename] = info
        top = {name.partition("/")[0] for name in members}
        within = f"{top.pop()}/" if len(top) == 1 and all("/" in name for name in members) else ""
        self._members = {name.removeprefix(within): info for name, info in members.items()}

    def names(self) -> list[str]:
        """All files, in order."""
        return sorted(self._members)

    def size(self, name: str) -> int:
        """Bytes of a file by the archive's header; reading stops after as many."""
        return self._members[name].file_size

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """A file to read. `Unreadable` while reading where the archive is damaged."""
        try:
            with self._archive.open(self._members[name]) as file:
                yield file
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, zlib.error) as error:
            raise Unreadable(f"{_printable(name)}: {error}") from error

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()


def _danger(info: zipfile.ZipInfo) -> str:
    """Why an entry must not be read; empty if it may."""
    name = info.filename
    parts = PurePosixPath(name).parts
    if "\\" in name or "\x00" in name or name.startswith("/") or ".." in parts or (parts and ":" in parts[0]):
        return "the name leads out of the release"
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind and not stat.S_ISREG(kind):
        return "a symbolic link or device; a release has none"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    if info.file_size > MAX_BYTES:
        return f"it is larger than {MAX_BYTES >> 30} GiB"
    if info.file_size > _SMALL and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return "it unpacks to far more than it is: a bomb"
    return ""


def _printable(name: str) -> str:
    return name.encode("unicode_escape").decode()[:200]


def open_source(path: Path) -> Source:
    """The release at ``path``; `Unreadable` where there is none."""
    if path.is_dir():
        return FolderSource(path)
    if path.is_file():
        return ZipSource(path)
    raise Unreadable("there is no such folder or file")
