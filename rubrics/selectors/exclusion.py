"""Excluded cases: the filter that keeps them out of ratings, their number, and their record.

Exclusion is applied to figures only where ratings are read: a rater's ratings come without excluded cases, and scores,
agreement and calibration, and the digests of each, follow from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from accounts.models import User
from consilium.core.ratings import Ratings
from rubrics.models import Benchmark, Case, Response
from rubrics.versions import superseded


def excluded_responses(benchmark: int) -> NDArray[np.int64]:
    """Ids of the responses to excluded cases of a benchmark (by its id), ascending."""
    rows = Response.objects.filter(case__benchmark=benchmark, case__excluded_at__isnull=False)
    return np.array(rows.order_by("pk").values_list("pk", flat=True), dtype=np.int64)


def state_of(benchmark: int) -> str:
    """A digest of the excluded cases and superseded criteria: part of the key under which a figure is cached."""
    rows = Case.objects.filter(benchmark=benchmark, excluded_at__isnull=False).order_by("pk")
    out = [list(rows.values_list("pk", flat=True)), superseded.superseded_criteria(benchmark).tolist()]
    return hashlib.sha256(repr(out).encode()).hexdigest()[:16]


def marked(responses: NDArray[np.int64], benchmark: int) -> NDArray[np.bool_] | None:
    """Which of ``responses`` (ids) belong to excluded cases; None where no case is excluded."""
    excluded = excluded_responses(benchmark)
    if not len(excluded):
        return None
    place = np.minimum(np.searchsorted(excluded, responses), len(excluded) - 1)
    return np.asarray(excluded[place] == responses, dtype=bool)


def counting(ratings: Ratings, benchmark: int) -> Ratings:
    """``ratings`` without excluded cases, and without criteria that only superseded versions of a rubric hold.

    The same object is returned where there are neither.
    """
    of_case, of_criterion = marked(ratings.response, benchmark), superseded.marked(ratings.criterion, benchmark)
    if of_case is None and of_criterion is None:
        return ratings
    out = np.zeros(len(ratings), dtype=bool)
    for part in (of_case, of_criterion):
        if part is not None:
            out |= part
    return Ratings(ratings.response[~out], ratings.criterion[~out], ratings.outcome[~out])


# The record -------------------------------------------------------------------------------------------------------

CSV_COLUMNS = ("case", "exclusion", "reason", "excluded_by", "excluded_at")
CSV_TEXT = ("case", "reason", "excluded_by")


def excluded_cases(benchmark: Benchmark) -> QuerySet[Case]:
    """The excluded cases, the latest first."""
    rows = Case.objects.filter(benchmark=benchmark, excluded_at__isnull=False).select_related("excluded_by")
    return rows.defer("conversation", "reference_answer", "metadata").order_by("-excluded_at", "key")


def csv_rows(benchmark: Benchmark) -> Iterator[Sequence[object]]:
    """Rows in the order of `CSV_COLUMNS`."""
    for case in excluded_cases(benchmark):
        at = case.excluded_at.isoformat() if case.excluded_at else None
        yield case.key, case.exclusion, case.exclusion_reason, case.excluded_by, at


@dataclass(frozen=True, slots=True)
class Recorded:
    """An exclusion as the audit trail has it; where ``kind`` is empty, the end of one."""

    at: datetime
    kind: str
    reason: str
    by: str

    @property
    def kind_in_words(self) -> str:
        """The cause of the exclusion."""
        return str(dict(Case.Exclusion.choices).get(self.kind, self.kind))


def record_of(case: Case) -> list[Recorded]:
    """Every time that ``case`` was excluded or taken back in, in the order of time."""
    records, before = [], None
    rows = case.events.order_by("pgh_id")  # type: ignore[attr-defined]
    for at, excluded_at, context in rows.values_list("pgh_created_at", "excluded_at", "pgh_context"):
        if excluded_at != before:
            details = context or {}
            records.append((at, details.get("exclusion", ""), details.get("reason", ""), details.get("person")))
        before = excluded_at
    names = {user.pk: str(user) for user in User.objects.filter(pk__in=[row[3] for row in records if row[3]])}
    return [Recorded(at, kind, reason, names.get(by or 0, "")) for at, kind, reason, by in records]
