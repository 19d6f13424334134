"""Scans a large file before any of it is stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import BinaryIO

from rubrics.parsing.faults import Faults

LARGE_BYTES = 8 << 20
# For imports that write rows as they read them: a million cases took twelve minutes to write, and two to read.
LARGE_BYTES_WRITTEN = 128 << 20


def prescan(file: BinaryIO, read: Callable[[Faults], Iterable[object]], *, written: bool = False) -> None:
    """Read a large file once only to find the faults that show without the database.

    Without this, a file whose last line is bad would cost a million rows: in memory for imports that gather rows before
    they write, and written and rolled back for those whose rows are ``written`` as they are read. `ImportRefused` names
    the faults. A small file is read only once, so that faults of all kinds are reported together.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= (LARGE_BYTES_WRITTEN if written else LARGE_BYTES):
        return
    faults = Faults()
    for _record in read(faults):
        pass
    faults.refuse_if_any()
    file.seek(0)
