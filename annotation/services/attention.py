"""Time on task: the seconds in which the person did something within the last two minutes.

The page counts them and reports now and then. A report is never worth more than the clock says has passed since the
report before it, so that two tabs, a replay or a tampered page cannot claim a time that was not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from accounts.models import User
from annotation.models import Adjudication, Assignment, Attention, LabelTask


@transaction.atomic
def record_attention(
    *,
    user: User,
    assignment: Assignment | None = None,
    adjudication: Adjudication | None = None,
    label_task: LabelTask | None = None,
    seconds: int,
    at: datetime,
) -> int:
    """Add what the page counted since its last report; returns the seconds that were believed.

    The first report of a piece of work only starts the clock, unless the annotator has begun it before: then it may
    cover the time since.
    """
    begun = at
    own = assignment or label_task
    if own is not None and own.annotator_id == user.pk and own.started_at:
        begun = min(at, own.started_at)
    what = {"assignment": assignment, "adjudication": adjudication, "label_task": label_task}
    Attention.objects.bulk_create([Attention(user=user, reported_at=begun, **what)], ignore_conflicts=True)
    row = Attention.objects.select_for_update().get(user=user, **what)
    believed = max(0, min(seconds, int((at - row.reported_at).total_seconds())))
    if at > row.reported_at:
        Attention.objects.filter(pk=row.pk).update(seconds=row.seconds + believed, reported_at=at)
    return believed


def time_spent(user: User, assignments: Iterable[int]) -> dict[int, int]:
    """Seconds that ``user`` spent at each of the assignments (ids); none for those without a report."""
    rows = Attention.objects.filter(user=user, assignment__in=list(assignments))
    return dict(rows.values_list("assignment_id", "seconds"))
