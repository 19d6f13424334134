"""The files of the product belong to the account that runs it: nobody else of the machine may read them.

Servers set `UMASK`. Commands do not, because what they write for a person (``--out``) follows that person's umask;
what they write into ``CONSILIUM_HOME`` has its mode from the code that writes it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

UMASK = 0o077
# As root, PostgreSQL runs as a user of its own, who passes through these folders and cannot list them.
FOLDER_MODE = 0o711 if os.geteuid() == 0 else 0o700
# The folders of the home that Consilium alone writes. That of PostgreSQL has modes of its own.
FOLDERS = ("media", "logs", "search", "static")


def make_home(home: Path) -> None:
    """Make the folder of the data if there is none."""
    if not home.exists():
        home.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        home.chmod(FOLDER_MODE)  # whatever the umask


def tighten(home: Path, *others: Path) -> int:
    """Take from others the rights to what earlier versions wrote in the home, and in ``others``; how many changed.

    What belongs to another user stays as it is. Links are not followed.
    """
    with contextlib.suppress(OSError):
        home.chmod(FOLDER_MODE)
    paths = [path for path in home.iterdir() if not path.is_dir()]
    changed = 0
    for root in {home / name for name in FOLDERS} | set(others):
        paths += [root, *_below(root)]
    for path in paths:
        with contextlib.suppress(OSError):
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode) and mode & UMASK:
                path.chmod(stat.S_IMODE(mode) & ~UMASK)
                changed += 1
    return changed


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        yield from (Path(folder, name) for name in (*folders, *files))
