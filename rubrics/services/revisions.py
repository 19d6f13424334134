"""Writes to requests to reword a criterion: created where a fault was found, answered by an admin."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from rubrics.models import Benchmark, Criterion, Response, RevisionRequest, Rubric
from rubrics.services.drafts import open_draft

OPEN = RevisionRequest.Status.OPEN


@transaction.atomic
def request_revision(
    *,
    rubric: Rubric,
    criterion: Criterion | None,
    response: Response | None,
    reason: str,
    by: User | None,
    at: datetime,
) -> RevisionRequest:
    """Ask for a criterion to be reworded, or, without one, for the rubric as a whole to be revised.

    Each place has one open request: a second one replaces its reason.
    """
    reason = reason.strip()
    if not reason:
        raise DomainError(_("Describe what is wrong with the criterion."))
    row, created = RevisionRequest.objects.select_for_update().get_or_create(
        rubric=rubric,
        criterion=criterion,
        response=response,
        status=OPEN,
        defaults={"reason": reason, "requested_by": by, "created_at": at},
    )
    if not created and row.reason != reason:
        row.reason = reason
        row.save(update_fields=["reason"])
    return row


@transaction.atomic
def withdraw_revision(*, rubric: Rubric, criterion: Criterion, response: Response | None) -> bool:
    """Take back a request that nobody has acted on; False where there is none. An answered request stays."""
    rows = RevisionRequest.objects.filter(rubric=rubric, criterion=criterion, response=response, status=OPEN)
    return rows.delete()[0] > 0


@transaction.atomic
def take_up_revisions(*, benchmark: Benchmark, requests: Collection[str], by: User, at: datetime) -> Rubric:
    """Begin a new version of the rubric to answer the open ``requests`` (public ids), or go on with the one begun.

    From now on the requests name this version. They stay open until it is published without the criterion, which
    answers them; those about the rubric as a whole are answered by any later version. `Conflict` where somebody has
    answered all of them by now.
    """
    rows = RevisionRequest.objects.filter(public_id__in=requests, rubric__case__benchmark=benchmark, status=OPEN)
    first = rows.select_related("rubric__case").first()
    if first is None:
        raise Conflict(_("These requests have already been answered or withdrawn."))
    rubric = open_draft(case=first.rubric.case, by=by, at=at)
    rows.filter(rubric__case=first.rubric.case_id).update(taken_up_in=rubric)
    return rubric


@transaction.atomic
def dismiss_revisions(
    *, benchmark: Benchmark, requests: Collection[str], answer: str, by: User, at: datetime
) -> RevisionRequest:
    """Leave a criterion as it is and say why: answers the open ``requests`` (public ids) that the reader has seen.

    A later request stays open. `Conflict` where somebody has answered all of them by now.
    """
    answer = answer.strip()
    if not answer:
        raise DomainError(_("Explain why the criterion stays as it is."))
    rows = RevisionRequest.objects.filter(public_id__in=requests, rubric__case__benchmark=benchmark, status=OPEN)
    first = rows.select_related("criterion").first()
    changes = {"answer": answer, "closed_by": by, "closed_at": at}
    # All ids should belong to the criterion of the first request; ids of others are a caller's mistake and ignored.
    if first is None or not rows.filter(criterion=first.criterion_id, rubric=first.rubric_id).update(
        status=RevisionRequest.Status.DISMISSED, **changes
    ):
        raise Conflict(_("These requests have already been answered or withdrawn."))
    return first
