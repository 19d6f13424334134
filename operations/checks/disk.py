"""Whether there is room on the disks of the data folders."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from operations.checks.check import Check, Result, State

FAILED_BELOW = 512 << 20
WARNING_BELOW = 2 << 30


def folders() -> dict[str, Path]:
    """Setting → the folder that it names, or the nearest above it that exists."""
    paths = {"CONSILIUM_HOME": Path(settings.CONSILIUM_HOME), "MEDIA_ROOT": Path(settings.MEDIA_ROOT)}
    return {name: next(folder for folder in (path, *path.parents) if folder.exists()) for name, path in paths.items()}


def look() -> Result:
    """Ask the file systems; the one with the least room counts."""
    free = {name: shutil.disk_usage(folder).free for name, folder in folders().items()}
    figures = {f"{name.lower()}_free_bytes": float(number) for name, number in free.items()}
    name, least = min(free.items(), key=lambda item: item[1])
    message = _("%(size)s are free in %(folder)s.") % {"size": filesizeformat(least), "folder": name}
    if least >= WARNING_BELOW:
        return Result(State.OK, message, figures=figures)
    return Result(
        State.FAILED if least < FAILED_BELOW else State.WARNING,
        message,
        _("Remove what is not needed from that disk, such as old logs and copies of backups, or make it larger."),
        figures=figures,
    )


CHECK = Check("disk", gettext_lazy("Disk"), look, vital=True)
