"""Scans a large file before any of it is stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import BinaryIO

from rubrics.parsing.faults import Faults

LARGE_BYTES = 8 << 20
# Where rows are written as they are read: a million cases took twelve minutes to write, and two to read.
LARGE_BYTES_WRITTEN = 128 << 20


def prescan(file: BinaryIO, read: Callable[[Faults], Iterable[object]], *, written: bool = False) -> None:
    """Find the faults of a large file, if it has any of its own, by reading it once for nothing else.

    Imports that gather what a file says before they write would hold a million rows for a file whose last line is bad;
    those whose rows are ``written`` as they are read would write them all, to take them back. `ImportRefused` names the
    faults. A small file is read once: then faults of all kinds are told together.
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
