"""Active time of graders, checkers, adjudicators and labellers (`consilium.core.active_time`)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from accounts.models import User
from annotation.models import Adjudication, Assignment, Attention, CodeRuling, LabelTask, RulingRequest
from consilium.core.active_time import record_time


@transaction.atomic
def record_attention(
    *,
    user: User,
    assignment: Assignment | None = None,
    adjudication: Adjudication | None = None,
    label_task: LabelTask | None = None,
    ruling_request: RulingRequest | None = None,
    code_ruling: CodeRuling | None = None,
    seconds: int,
    at: datetime,
) -> int:
    """Add the time that the page counted since its last report; returns the seconds that were added.

    The first report of a piece of work only starts the clock, unless the annotator had begun the work before: the
    report may then cover the time since the work was begun.
    """
    own = assignment or label_task
    began_at = own.started_at if own is not None and own.annotator_id == user.pk else None
    return record_time(
        Attention,
        seconds=seconds,
        at=at,
        began_at=began_at,
        user=user,
        assignment=assignment,
        adjudication=adjudication,
        label_task=label_task,
        ruling_request=ruling_request,
        code_ruling=code_ruling,
    )


def time_spent(user: User, assignments: Iterable[int]) -> dict[int, int]:
    """Assignment id → seconds that ``user`` spent at it; assignments without a report are left out."""
    rows = Attention.objects.filter(user=user, assignment__in=list(assignments))
    return dict(rows.values_list("assignment_id", "seconds"))
