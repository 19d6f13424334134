"""The name, the note and the archive of a report. Its figures and files stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from agreement.models import Report
from consilium.core.commands import Label
from consilium.core.errors import DomainError
from consilium.core.jobs import OPEN
from consilium.core.limits import MAX_NOTE_LENGTH, MAX_TITLE_LENGTH


class StillComputed(DomainError):
    """A report that waits or is being computed cannot be archived."""


@command(frozen=True, slots=True)
class ReportNaming:
    """What people call a report, what they note about it, and whether lists show it."""

    name: Annotated[
        str,
        Field(max_length=MAX_TITLE_LENGTH, description="Shown in lists instead of the title; empty for the title."),
        Label(gettext_lazy("Name"), gettext_lazy("Shown in lists instead of the title.")),
    ] = ""
    note: Annotated[
        str,
        Field(max_length=MAX_NOTE_LENGTH, description="For colleagues; in no file."),
        Label(gettext_lazy("Note"), gettext_lazy("For colleagues. It does not appear in any file.")),
    ] = ""
    archived: Annotated[
        bool,
        Field(description="Whether lists show it only where they are asked for archived reports."),
        Label(
            gettext_lazy("Archived"),
            gettext_lazy(
                "An archived report is not listed, but keeps its address and files. Leaderboard, Scores "
                "and the suggested k use the newest report that is not archived."
            ),
        ),
    ] = False


@transaction.atomic
def name_report(*, report: Report, changes: Mapping[str, Any], at: datetime) -> Report:
    """Store those of name, note and archive that ``changes`` has, by the names of `ReportNaming`; the others stay.

    `StillComputed` where an open report would be archived.
    """
    report = Report.objects.select_for_update(of=("self",)).select_related("benchmark", "created_by").get(pk=report.pk)
    naming = replace(naming_of(report), **changes)  # of the locked row, so that no other change is lost
    if naming.archived and report.status in OPEN:
        raise StillComputed(_("“archived”: a report can be archived only after it is done or has failed."))
    report.name, report.note = naming.name.strip(), naming.note.strip()
    report.archived_at = (report.archived_at or at) if naming.archived else None
    report.save(update_fields=["name", "note", "archived_at"])
    return report


def naming_of(report: Report) -> ReportNaming:
    """As it is stored."""
    return ReportNaming(name=report.name, note=report.note, archived=report.archived_at is not None)
