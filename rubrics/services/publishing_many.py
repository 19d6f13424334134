"""Many rubrics at once: sent to review with one note, approved by a reviewer who has seen the changes of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.models import Benchmark, Rubric
from rubrics.services import rubric_notices
from rubrics.services.publishing import approve, send_to_review

MAX_AT_ONCE = 1000
Status = Rubric.Status


@dataclass(slots=True)
class PublishingResult:
    """The result for each rubric: done, published by it, or refused with the reason. One does not stop the others."""

    done: list[Rubric] = field(default_factory=list)
    published: list[Rubric] = field(default_factory=list)
    refused: list[tuple[Rubric, DomainError]] = field(default_factory=list)


@transaction.atomic
def send_many(*, benchmark: Benchmark, cases: Sequence[str], note: str, by: User, at: datetime) -> PublishingResult:
    """Send the drafts of these cases (public ids) to review; what is not ready stays a draft and is named."""
    _not_too_many(len(cases))
    outcome = PublishingResult()
    for rubric in _open(benchmark, cases, Status.DRAFT):
        try:
            with transaction.atomic():
                sent = send_to_review(rubric=rubric, note=note, by=by, at=at, notify=False)
        except DomainError as refused:
            outcome.refused.append((rubric, refused))
            continue
        (outcome.published if sent.status == Status.PUBLISHED else outcome.done).append(sent)
    rubric_notices.notify_of_waiting(outcome.done, but=by, at=at)
    rubric_notices.notify_of_publishing(outcome.published, but=by, at=at)
    return outcome


@transaction.atomic
def approve_many(
    *, benchmark: Benchmark, reviewer: User, digests: Mapping[str, str], comment: str, at: datetime
) -> PublishingResult:
    """Approve the rubrics of these cases (public id → digest of what was read)."""
    _not_too_many(len(digests))
    outcome = PublishingResult()
    for rubric in _open(benchmark, list(digests), Status.IN_REVIEW):
        try:
            with transaction.atomic():
                row = approve(
                    rubric=rubric,
                    reviewer=reviewer,
                    digest=digests[rubric.case.public_id],
                    comment=comment,
                    at=at,
                    notify=False,
                )
        except DomainError as refused:
            outcome.refused.append((rubric, refused))
            continue
        (outcome.published if row.status == Status.PUBLISHED else outcome.done).append(row)
    rubric_notices.notify_of_publishing(outcome.published, but=reviewer, at=at)
    return outcome


def _open(benchmark: Benchmark, cases: Sequence[str], status: str) -> list[Rubric]:
    rows = Rubric.objects.filter(
        case__benchmark=benchmark, case__public_id__in=list(cases), track="gold", status=status, draft__isnull=False
    )
    return list(rows.select_related("case").order_by("case__key", "pk"))


def _not_too_many(count: int) -> None:
    if not count:
        raise DomainError(_("Choose at least one rubric."))
    if count > MAX_AT_ONCE:
        raise DomainError(_("Choose at most %(n)d rubrics at once.") % {"n": MAX_AT_ONCE})
