"""Notifies the admins of batches that need them: overdue ones, and those with work that nobody can do."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.urls import reverse

from accounts.middleware import zone_of
from accounts.models import Notification, User
from accounts.services.notifications import notify_each
from annotation.models import Batch
from annotation.selectors.able_reviewers import stuck_checks
from annotation.services.due import FROM, LONG_PAST, stage_of
from annotation.services.slots.free_slots import stuck_slots
from annotation.services.staff_notices import work_is_left
from rubrics.services.job_notices import admins_of

Kind = Notification.Kind


def notify_of_overdue_batches(*, at: datetime) -> None:
    """Notify the admins of open batches whose due date has passed with work left; once for each batch and due date.

    They get it in the morning of their own time zone, as annotators get theirs (`annotation.services.due`).
    """
    # One more day on either side, since the date depends on the reader's time zone.
    days = (at.date() - timedelta(days=LONG_PAST + 1), at.date())
    batches = Batch.objects.filter(status=Batch.Status.OPEN, due_date__range=days).exclude(kind=Batch.Kind.QUALIFY)
    for batch in batches.select_related("group__benchmark"):
        assert batch.due_date is not None  # only such batches were asked for
        if not work_is_left(batch):
            continue
        people = []
        for user in User.objects.filter(pk__in=admins_of(batch.group.benchmark)):
            local = at.astimezone(zone_of(user.time_zone))
            if local.time() >= FROM and stage_of(batch.due_date, local.date()) == "overdue":
                people.append(user.pk)
        due = batch.due_date.isoformat()
        # The key contains the due date, so that an extended batch can be overdue again.
        _notify(batch, people, at, key=f"overdue:{batch.public_id}:{due}", what="overdue", due=due)


def notify_of_stuck_work(*, at: datetime) -> None:
    """Notify the admins of open batches with work that no annotator or checker of the group can do.

    Once for each batch, until all of it can be done again: what gets stuck after that is notified anew. Responses to
    excluded cases are nobody's work.
    """
    batches = Batch.objects.filter(status=Batch.Status.OPEN, kind=Batch.Kind.GRADE, imported=False)
    for batch in batches.select_related("group__benchmark"):
        grades = sum(stuck.response.case.excluded_at is None for stuck in stuck_slots(batch, at=at))
        checks = len(stuck_checks([batch.pk]))
        key = f"stuck:{batch.public_id}"
        people = admins_of(batch.group.benchmark)
        if grades or checks:
            _notify(batch, people, at, key=key, what="stuck", grades=grades, checks=checks)
        else:
            Notification.objects.filter(user__in=people, key=key).update(key="")


def _notify(batch: Batch, people: list[int], at: datetime, *, key: str, **values: object) -> None:
    benchmark = batch.group.benchmark
    # Batches of several groups may have the same title.
    values["batch"] = f"{batch.group.name}: {batch.title}"
    notify_each(
        people=dict.fromkeys(people, values),
        kind=Kind.ATTENTION,
        benchmark_title=benchmark.title,
        url=reverse("annotation:batch", args=[benchmark.slug, batch.public_id]),
        at=at,
        key=key,
    )
