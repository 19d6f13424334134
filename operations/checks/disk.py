"""Whether there is room on the disks of the data folders, and in the folder for temporary files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from operations.checks.check import Check, Result, State

FAILED_BELOW = 512 << 20
WARNING_BELOW = 2 << 30
# Bodies of requests lie in the temporary folder while they are received. It is often small, in memory.
TEMPORARY_FAILED_BELOW = 16 << 20
TEMPORARY_WARNING_BELOW = 256 << 20


def folders() -> dict[str, Path]:
    """Setting → the folder that it names, or the nearest above it that exists."""
    paths = {
        "CONSILIUM_HOME": Path(settings.CONSILIUM_HOME),
        "MEDIA_ROOT": Path(settings.MEDIA_ROOT),
        # Not `tempfile.gettempdir()`: from a folder that is full it goes on to another one without a word.
        "TMPDIR": Path(os.environ.get("TMPDIR") or "/tmp"),  # noqa: S108  (it is only looked at)
    }
    return {name: next(folder for folder in (path, *path.parents) if folder.exists()) for name, path in paths.items()}


def look() -> Result:
    """Ask the file systems; the one in the worst state counts, and of several the one with the least room."""
    free = {name: shutil.disk_usage(folder).free for name, folder in folders().items()}
    figures = {f"{name.lower()}_free_bytes": float(number) for name, number in free.items()}
    states = {name: _state(name, number) for name, number in free.items()}
    state = next(each for each in (State.FAILED, State.WARNING, State.OK) if each in states.values())
    least, name = min((number, name) for name, number in free.items() if states[name] == state)
    message = _("%(size)s are free in %(folder)s.") % {"size": filesizeformat(least), "folder": name}
    if state == State.OK:
        return Result(State.OK, message, figures=figures)
    return Result(
        state,
        message,
        _("Remove what is not needed from that disk, such as old logs and copies of backups, or make it larger."),
        figures=figures,
    )


def _state(name: str, free: int) -> State:
    is_temporary = name == "TMPDIR"
    if free < (TEMPORARY_FAILED_BELOW if is_temporary else FAILED_BELOW):
        return State.FAILED
    return State.WARNING if free < (TEMPORARY_WARNING_BELOW if is_temporary else WARNING_BELOW) else State.OK


CHECK = Check("disk", gettext_lazy("Disk"), look, vital=True)
