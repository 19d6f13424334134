"""Active time: the seconds in which a person saw a page and used it within the last two minutes.

Pages count them and report now and then (`static/js/core/time_reports.js`). A report counts for at most the time since
the previous report, so that two tabs, a replay or a tampered page cannot claim time that has not passed. Each app
keeps the seconds in a model of its own, with the fields ``seconds`` and ``reported_at``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError

MAX_REPORT_S = 3600


class MalformedReport(DomainError):
    """A report that no page of the product sends."""

    status_code = 400

    def __init__(self) -> None:
        super().__init__(_("The request does not match the page. Reload the page."))


def check_reported_seconds(seconds: object) -> int:
    """The seconds of a report; `MalformedReport` unless they are an integer from 0 to `MAX_REPORT_S`."""
    if type(seconds) is not int or not 0 <= seconds <= MAX_REPORT_S:
        raise MalformedReport
    return seconds


def credited_seconds(seconds: int, *, since: datetime, at: datetime) -> int:
    """How many of the reported seconds count: at most the whole seconds from ``since`` to ``at``, and never below 0."""
    return max(0, min(seconds, int((at - since).total_seconds())))


def add_seconds(row: Any, *, seconds: int, since: datetime, at: datetime) -> int:
    """Add a report to a row that the caller has locked; returns the seconds that count.

    ``since``: the time of the previous report, or when the work began. Where ``at`` is not after the previous report,
    nothing changes.
    """
    credited = credited_seconds(seconds, since=since, at=at)
    if row.reported_at is None or at > row.reported_at:
        row.seconds += credited
        row.reported_at = at
        row.save(update_fields=["seconds", "reported_at"])
    return credited


def record_time(
    model: type[models.Model], *, seconds: int, at: datetime, began_at: datetime | None = None, **key: Any
) -> int:
    """Add a report to the row with this key; returns the seconds that count. Call it in a transaction.

    ``key``: values of the unique constraint of ``model``. The first report makes the row and only starts the clock,
    unless the work ``began_at`` some earlier time: then the first report may cover the time since then.
    """
    started_at = at if began_at is None else min(at, began_at)
    model._default_manager.bulk_create([model(reported_at=started_at, **key)], ignore_conflicts=True)
    row: Any = model._default_manager.select_for_update().get(**key)
    return add_seconds(row, seconds=seconds, since=row.reported_at, at=at)
