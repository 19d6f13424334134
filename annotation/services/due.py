"""Notices of due dates: three days before, one day before, once when the day has passed, and when it changes."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from django.db.models import Count, Q, QuerySet
from django.urls import reverse

from accounts.middleware import zone_of
from accounts.models import Notification, User
from accounts.services.notifications import notify, notify_of_thread
from annotation.models import Assignment, Batch, LabelTask, Membership, WritingTask
from annotation.selectors.case_work import of_excluded_cases
from annotation.services.reminders import open_work_in

# Before the daily mails go out, so that a reminder is in the mail of its day.
FROM = time(6)
FIRST = 3
# Days overdue: a batch that nobody has attended to for longer gets no reminder, which would change nothing.
LONG_PAST = 14


def stage_of(due: date, today: date) -> str:
    """Which reminder is due on ``today``: "3", "1", "overdue", or "" for none.

    A stage lasts until the following stage begins, so that a day on which nothing ran is made up for on the next day.
    """
    left = (due - today).days
    if left < 0:
        return "overdue" if left >= -LONG_PAST else ""
    return "1" if left <= 1 else "3" if left <= FIRST else ""


def remind(*, at: datetime) -> None:
    """Remind annotators and checkers of open work; once for each batch, due date and stage."""
    graded, checked = Q(status__in=Assignment.OPEN), Q(status=Assignment.Status.IN_CHECK)
    _remind(Membership.Role.ANNOTATOR, "annotator", Assignment.objects.filter(graded), at)
    _remind(Membership.Role.CHECKER, "checker", Assignment.objects.filter(checked), at)
    labelled = LabelTask.objects.filter(status__in=LabelTask.OPEN).exclude(of_excluded_cases())
    _remind(Membership.Role.ANNOTATOR, "annotator", labelled, at, what="cases")
    written = WritingTask.objects.filter(status__in=WritingTask.OPEN).exclude(of_excluded_cases())
    _remind(Membership.Role.ANNOTATOR, "writer", written, at, what="writing")


def notify_of_new_due_date(*, batch: Batch, at: datetime) -> None:
    """Notify everybody with open work in ``batch`` that its due date changed or was removed.

    A further change brings a notice that is still unread up to date.
    """
    for work in open_work_in(batch):
        notify_of_thread(
            user=User.objects.get(pk=work.user),
            kind=Notification.Kind.DUE,
            benchmark_title=batch.group.benchmark.title,
            url=reverse("annotation:work" if work.part == "annotator" else "annotation:checks"),
            at=at,
            about={"batch_id": batch.public_id, "stage": "moved", "part": work.part},
            batch=batch.title,
            due=batch.due_date.isoformat() if batch.due_date else "",
            count=work.count,
            what=work.what,
        )


def _remind(
    role: Membership.Role,
    who: str,
    still_theirs: QuerySet[Assignment] | QuerySet[LabelTask] | QuerySet[WritingTask],
    at: datetime,
    **values: str,
) -> None:
    # One more day on either side, since the date depends on the reader's time zone.
    days = (at.date() - timedelta(days=LONG_PAST + 1), at.date() + timedelta(days=FIRST + 1))
    waiting = still_theirs.filter(batch__status=Batch.Status.OPEN, batch__due_date__range=days)
    counts = {
        (row["batch"], row[who]): row["n"] for row in waiting.order_by().values("batch", who).annotate(n=Count("pk"))
    }
    batches = Batch.objects.select_related("group__benchmark").in_bulk({batch for batch, _user in counts})
    people = User.objects.in_bulk({user for _batch, user in counts})
    groups = {batch.group_id for batch in batches.values()}
    members = set(
        Membership.objects.filter(group__in=groups, role=role, active=True).values_list("group_id", "user_id")
    )
    for (batch_id, user_id), count in counts.items():
        batch, user = batches[batch_id], people[user_id]
        local = at.astimezone(zone_of(user.time_zone))
        if (batch.group_id, user_id) not in members or local.time() < FROM or batch.due_date is None:
            continue
        stage = stage_of(batch.due_date, local.date())
        if stage:
            _tell(batch, user, str(role), count, stage, at, **values)


def _tell(batch: Batch, user: User, part: str, count: int, stage: str, at: datetime, **values: str) -> None:
    assert batch.due_date is not None  # only such batches were asked for
    due = batch.due_date.isoformat()
    notify(
        user=user,
        kind=Notification.Kind.DUE,
        benchmark_title=batch.group.benchmark.title,
        url=reverse("annotation:work" if part == "annotator" else "annotation:checks"),
        at=at,
        # The key contains the due date, so that an extended batch gets new reminders.
        key=f"due:{part}:{batch.public_id}:{due}:{stage}",
        batch=batch.title,
        due=due,
        stage=stage,
        count=count,
        part=part,
        **values,
    )
