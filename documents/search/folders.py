"""The folders of indexes on this machine: built from rows where they are missing, kept open, removed when old.

``CONSILIUM_HOME/search/COLLECTION/NUMBER`` holds one generation of a collection's index. Nothing else may write there.

- Whoever builds a folder holds ``NUMBER.lock``, writes ``NUMBER.building`` and renames it. So a folder is whole or
  missing, and whatever a builder that died has left is thrown away by the next.
- Whoever reads a folder shares a lock on its manifest. An old folder that nobody reads is removed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from django.conf import settings
from django.db import connection

from documents.search.index import MANIFEST, Damaged, Index, Row, build, open_index

logger = structlog.get_logger(__name__)

Rows = Callable[[], Iterable[Row]]

MAX_OPEN = 16  # indexes that a process keeps open; their files are mapped, so they cost little memory

_open: OrderedDict[tuple[Path, str], Index] = OrderedDict()
_building: set[tuple[Path, str]] = set()  # by threads of this process
_changing_open = threading.Lock()


def folder_of(collection: str, number: int) -> Path:
    """The folder of a generation; ``collection`` is a public id."""
    return Path(settings.CONSILIUM_HOME) / "search" / collection / str(number)


def opened(collection: str, number: int, *, content: str, rows: Rows) -> Index:
    """The index of a generation, which is built from ``rows`` if this machine does not have it.

    ``content`` names the passages. A folder of other passages, say from before a database was restored, is built again.
    """
    folder = folder_of(collection, number)
    index = already_open(collection, number, content=content)
    return index or _keep(folder, content, _usable(folder, content) or _built(folder, content, rows))


def already_open(collection: str, number: int, *, content: str) -> Index | None:
    """The index of a generation if this process has it open."""
    key = folder_of(collection, number), content
    with _changing_open:
        if key in _open:
            _open.move_to_end(key)
        return _open.get(key)


def is_here(collection: str, number: int, *, content: str) -> bool:
    """Whether this machine has the index of a generation, whole."""
    index = already_open(collection, number, content=content)
    folder = folder_of(collection, number)
    if index is None and (index := _usable(folder, content)):
        _keep(folder, content, index)
    return index is not None


def build_in_background(collection: str, number: int, *, content: str, rows: Rows) -> None:
    """Let a thread of this process build the folder of a generation; where one does already, it goes on."""
    key = folder_of(collection, number), content

    def work() -> None:
        try:
            opened(collection, number, content=content, rows=rows)
        finally:
            connection.close()
            with _changing_open:
                _building.discard(key)

    with _changing_open:
        if key not in _building:
            _building.add(key)
            threading.Thread(target=work, name=f"search index {key[0]}", daemon=True).start()


def remove_older(collection: str, number: int) -> None:
    """Remove the folders of generations before ``number`` that no process reads."""
    parent = folder_of(collection, number).parent
    with _changing_open:
        for folder, content in list(_open):
            if folder.parent == parent and int(folder.name) < number:
                del _open[folder, content]
    for path in list(parent.iterdir()) if parent.is_dir() else []:
        if path.name.isdecimal() and int(path.name) < number:
            _remove(path)


def _keep(folder: Path, content: str, index: Index) -> Index:
    with _changing_open:
        kept = _open.setdefault((folder, content), index)
        for key in [key for key in _open if key[0].parent == folder.parent and int(key[0].name) < int(folder.name)]:
            del _open[key]  # this process reads the later generation from now on
        while len(_open) > MAX_OPEN:
            _open.popitem(last=False)
    return kept


def _usable(folder: Path, content: str) -> Index | None:
    """The index in a folder; None where it is missing, half built, damaged, or of other passages."""
    try:
        manifest = os.open(folder / MANIFEST, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    held = _Held(manifest)
    try:
        fcntl.flock(manifest, fcntl.LOCK_SH)
        return open_index(folder, content=content, held=held)
    except Damaged as error:
        logger.warning("search_index_damaged", folder=str(folder), error=str(error))
        return None


def _built(folder: Path, content: str, rows: Rows) -> Index:
    """Build the folder; of several processes one does, and the others wait for it."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(folder):
        index = _usable(folder, content)
        if index is None:
            building = folder.with_name(f"{folder.name}.building")
            manifest = build(building, rows(), content=content)
            _discard(folder)
            building.rename(folder)
            logger.info("search_index_built", folder=str(folder), passages=manifest.passages)
            index = _usable(folder, content)
    if index is None:
        raise Damaged(f"{folder} was built and cannot be opened")
    return index


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; a builder that dies releases it."""
    lock = os.open(folder.with_name(f"{folder.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _remove(folder: Path) -> None:
    """Remove an old folder, unless somebody reads it or builds it."""
    try:
        manifest = os.open(folder / MANIFEST, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        _discard(folder)  # half built or damaged, so nobody reads it
    else:
        try:
            fcntl.flock(manifest, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _discard(folder)
        except BlockingIOError:
            return
        finally:
            os.close(manifest)
    folder.with_name(f"{folder.name}.lock").unlink(missing_ok=True)


def _discard(folder: Path) -> None:
    """Remove a folder. It loses its name first, so that nobody opens a part of it."""
    removed = folder.with_name(f"{folder.name}.removed")
    shutil.rmtree(removed, ignore_errors=True)
    try:
        folder.rename(removed)
    except FileNotFoundError:
        return
    shutil.rmtree(removed, ignore_errors=True)


class _Held:
    """A file that stays open, and locked, as long as the index that was read beside it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __del__(self) -> None:
        os.close(self._descriptor)
