"""Whether other users of the machine can read the data folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from operations.checks.check import Check, Result, State

# Everybody gets these files from the web server.
PUBLIC_FOLDERS = frozenset({"static"})
MAX_ENTRIES = 20_000
MAX_NAMES = 3


def readable_by_others(root: Path) -> Iterator[Path]:
    """Files below ``root`` that any user of the machine can reach and read."""
    public = {Path(settings.STATIC_ROOT), *(root / name for name in PUBLIC_FOLDERS)}
    seen = 0
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            if not folder.stat().st_mode & stat.S_IXOTH:
                continue
            entries = list(os.scandir(folder))
        except OSError:  # it is gone, or not ours
            continue
        for entry in entries:
            seen += 1
            if seen > MAX_ENTRIES:
                return
            path = Path(entry.path)
            if entry.is_symlink():
                continue
            if entry.is_dir():
                if path not in public:
                    folders.append(path)
            elif entry.is_file() and entry.stat().st_mode & stat.S_IROTH:
                yield path


def look() -> Result:
    """The kept key is a failure; other files are a warning."""
    home, media = Path(settings.CONSILIUM_HOME), Path(settings.MEDIA_ROOT)
    roots = [home] if home in (media, *media.parents) else [home, media]
    by_root = {root: list(readable_by_others(root)) for root in roots}
    root = next((root for root, paths in by_root.items() if paths), None)
    if root is None:
        return Result(State.OK, "Other users of the machine cannot read the data.")
    key = home / "secret_key"
    paths = [key] if key in by_root[home] else by_root[root]
    names = ", ".join(map(str, paths[:MAX_NAMES])) + (", …" if len(paths) > MAX_NAMES else "")
    return Result(
        State.FAILED if paths == [key] else State.WARNING,
        f"Every user of the machine can read {names}.",
        f"Run: chmod -R o-rw {root}. Start the processes with umask 077.",
    )


CHECK = Check("file_permissions", "File permissions", look)
