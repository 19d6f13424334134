"""Open work in languages that its annotator does not read: it was assigned before they named their languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Q, QuerySet

from accounts.unread_cases import unread_by
from annotation.models import Assignment, Batch
from consilium.core.languages import language_name


@dataclass(frozen=True, slots=True)
class UnreadWork:
    """Open responses of one annotator in one batch that are in languages they do not read."""

    batch: int
    annotator: int
    number: int
    languages: tuple[str, ...]
    since: datetime | None

    @property
    def language_names(self) -> list[str]:
        """In the reader's language."""
        return [language_name(tag) for tag in self.languages]


def unread_work(batches: Collection[int]) -> list[UnreadWork]:
    """Open work of ``batches`` that was assigned before its annotator named the languages they read; two queries."""
    by_annotator: dict[tuple[int, int], list[tuple[str, datetime]]] = defaultdict(list)
    rows = unread(Assignment.objects.filter(batch__in=batches, purpose=Assignment.Purpose.WORK))
    columns = rows.order_by("pk").values_list("batch", "annotator", "case__language", "batch__created_at")
    for batch, user, language, at in columns:
        by_annotator[batch, user].append((language, at))
    return [
        UnreadWork(
            batch, user, len(pieces), tuple(sorted({tag for tag, _at in pieces})), min(at for _tag, at in pieces)
        )
        for (batch, user), pieces in by_annotator.items()
    ]


def own_unread(user: int) -> QuerySet[Assignment]:
    """Open responses of one person in open batches, in languages that they do not read.

    Gold items are among them: their annotator could tell them apart if they alone stayed.
    """
    rows = Assignment.objects.filter(annotator=user, batch__status=Batch.Status.OPEN)
    return unread(rows.exclude(purpose=Assignment.Purpose.QUALIFICATION))


def unread(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Those of ``rows`` that are `unread_work_of` their annotator."""
    return rows.filter(unread_work_of(OuterRef("annotator")))


def unread_work_of(annotator: Any) -> Q:
    """The condition: open work on a case that ``annotator`` does not read, in a batch that matches languages."""
    is_open = Q(status__in=Assignment.OPEN, batch__match_languages=True, batch__imported=False)
    return is_open & unread_by(annotator, "case")
