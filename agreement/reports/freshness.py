"""Detects whether a report is stale: hashes its inputs again and lists what has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection

from agreement.kinds import kind_of
from agreement.models import Report
from agreement.reports.changes import Change, changes_since
from consilium.core.errors import DomainError
from rubrics.models import Benchmark

# Decisions of a rater. Reading and hashing more than this takes too long for a page: seconds for a million.
MAX_HASHED_DECISIONS = 1_000_000
# A rater decides at most every criterion of every response.
_DECISIONS = """
    WITH cases AS (SELECT id FROM rubrics_case WHERE benchmark_id = %(benchmark)s),
    responses AS (SELECT case_id, count(*) AS n FROM rubrics_response r JOIN cases ON cases.id = case_id GROUP BY 1),
    criteria AS (SELECT case_id, count(*) AS n FROM rubrics_criterion k JOIN cases ON cases.id = case_id GROUP BY 1)
    SELECT COALESCE(sum(responses.n * criteria.n), 0) FROM responses JOIN criteria USING (case_id)
"""


@dataclass(frozen=True)
class Freshness:
    """``fresh`` is None where something was recorded meanwhile and the inputs are not hashed again, because there are
    more of them than `MAX_HASHED_DECISIONS` or the kind cannot hash them by itself.

    ``reason`` says why the inputs cannot be read any more, where they cannot.
    """

    fresh: bool | None
    since: datetime
    digest: str
    changes: list[Change] = field(default_factory=list)
    reason: str = ""


def freshness_of(report: Report) -> Freshness:
    """Read and hash the current inputs of a finished report; for a very large study use only the audit trail."""
    since = report.started_at or report.created_at
    digest = kind_of(report).digest
    if digest is None or _decisions(report.benchmark) > MAX_HASHED_DECISIONS:
        changes = changes_since(report, since)
        return Freshness(None if changes else True, since, "", changes)
    try:
        now = digest(report.benchmark, report.parameters)
    except DomainError as error:
        return Freshness(False, since, "", changes_since(report, since), str(error))
    if now == report.input_digest:
        return Freshness(True, since, now)
    return Freshness(False, since, now, changes_since(report, since))


def _decisions(benchmark: Benchmark) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_DECISIONS, {"benchmark": benchmark.pk})
        return int(cursor.fetchone()[0])
