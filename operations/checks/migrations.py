"""Whether the tables are those of this version."""

from __future__ import annotations

from functools import cache

from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from operations.checks.check import Check, Result, State


@cache
def files() -> frozenset[tuple[str, str]]:
    """App and name of each migration of this version. They do not change while the process runs."""
    return frozenset(MigrationLoader(None).graph.nodes)


def look() -> Result:
    """Compare the files with what the database says was applied."""
    applied = set(MigrationRecorder.Migration.objects.values_list("app", "name"))
    missing = sorted(files() - applied)
    figures = {"missing": float(len(missing))}
    if missing:
        return Result(
            State.WARNING,
            ngettext("%(count)s migration is missing: %(first)s.", "%(count)s migrations are missing: %(first)s, …",
                     len(missing))
            % {"count": len(missing), "first": ".".join(missing[0])},
            _("Run manage.py migrate, then start web, worker and beat again."),
            figures=figures,
        )  # fmt: skip
    return Result(State.OK, _("The tables are those of this version."), figures=figures)


CHECK = Check("migrations", gettext_lazy("Migrations"), look, needs_database=True)
