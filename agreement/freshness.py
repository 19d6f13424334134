"""Whether a report still says what it would say now: its inputs hashed again, and what has changed if they differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from agreement.changes import Change, changes_since
from agreement.kinds import kind_of
from agreement.models import Report
from consilium.lib.errors import DomainError


@dataclass(frozen=True)
class Freshness:
    """``fresh`` is None where a kind cannot hash its inputs by itself and something was recorded meanwhile.

    ``reason`` says why the inputs cannot be read any more, where they cannot.
    """

    fresh: bool | None
    since: datetime
    digest: str
    changes: list[Change] = field(default_factory=list)
    reason: str = ""


def freshness_of(report: Report) -> Freshness:
    """Read and hash the inputs of a finished report as they stand now."""
    since = report.started_at or report.created_at
    digest = kind_of(report).digest
    if digest is None:
        changes = changes_since(report, since)
        return Freshness(None if changes else True, since, "", changes)
    try:
        now = digest(report.benchmark, report.parameters)
    except DomainError as error:
        return Freshness(False, since, "", changes_since(report, since), str(error))
    if now == report.input_digest:
        return Freshness(True, since, now)
    return Freshness(False, since, now, changes_since(report, since))
