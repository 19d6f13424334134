"""Whether there is a good backup of the last two days."""

from __future__ import annotations

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from operations.checks.check import Check, Result, State
from operations.services import backups

STATES = {backups.OK: State.OK, backups.WARNING: State.WARNING, backups.ERROR: State.FAILED}


def look() -> Result:
    """Ask the records of backups; one that `manage.py backup FILE` made counts, too."""
    at = timezone.now()
    level, message = backups.state(at)
    good = backups.last_good()
    figures = {}
    if good is not None and good.finished_at is not None:
        figures["last_good_age_seconds"] = (at - good.finished_at).total_seconds()
    if level == backups.OK:
        return Result(State.OK, message, figures=figures)
    return Result(
        STATES[level],
        message,
        _("Set BACKUP_DIR, or run “manage.py backup”. The page of the server’s backups has the details."),
        figures=figures,
    )


CHECK = Check("backups", gettext_lazy("Backups"), look, needs_database=True)
