"""Notifications about the work. `accounts.notices` writes the text when they are read; they hold nothing blinded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from django.db.models import QuerySet
from django.urls import reverse

from accounts.models import Notification
from accounts.services.grouped_notices import count_for_day, discount_for_day
from accounts.services.notifications import mark_read, notify, notify_each
from annotation.models import Assignment, Batch, ExpertGroup, Membership

Kind = Notification.Kind


def notify_of_new_work(*, batch: Batch, at: datetime) -> None:
    """One notice for each annotator of a new batch: how many responses they get, or that it has a pool to take from."""
    if batch.strategy == Batch.Strategy.POOL:
        members = batch.group.memberships.filter(role=Membership.Role.ANNOTATOR, active=True, withheld_at=None)
        counts = Counter(dict.fromkeys(members.values_list("user_id", flat=True), 0))
    else:
        counts = Counter(batch.assignments.values_list("annotator_id", flat=True))
    _new_work(batch, counts, at)


def notify_of_passed_work(*, assignments: Iterable[Assignment], to: int, at: datetime) -> None:
    """One notice per batch for the annotator who takes over work. It does not say whose work it was."""
    batches: dict[int, Batch] = {}
    counts: Counter[int] = Counter()
    for row in assignments:
        batches[row.batch_id] = row.batch
        counts[row.batch_id] += 1
    for pk, batch in batches.items():
        _new_work(batch, Counter({to: counts[pk]}), at)


def notify_of_cases(*, batch: Batch, at: datetime) -> None:
    """One notice for each annotator of a batch of cases with questions."""
    _new_work(batch, Counter(batch.label_tasks.values_list("annotator_id", flat=True)), at, what=_asked_about(batch))


def notify_of_passed_cases(*, batch: Batch, counts: Counter[int], at: datetime) -> None:
    """One notice for each user who takes over cases (user → how many). It does not say whose cases they were."""
    _new_work(batch, counts, at, what=_asked_about(batch))


def _asked_about(batch: Batch) -> str:
    return {"response": "advice", "codes": "codes"}.get(str(batch.frame.get("about")), "cases")


def notify_of_writing(*, batch: Batch, counts: Counter[int], at: datetime) -> None:
    """One notice for each user who gets cases to write to (user → how many), new cases or somebody else's."""
    _new_work(batch, counts, at, what="writing")


def notify_of_rulings(*, group: ExpertGroup, count: int, at: datetime) -> None:
    """One notice for each adjudicator of a group: how many ambiguous cases wait for a ruling."""
    members = group.memberships.filter(role=Membership.Role.ADJUDICATOR, active=True)
    notify_each(
        people={user: {"count": count, "what": "rulings"} for user in members.values_list("user_id", flat=True)},
        kind=Kind.NEW_WORK,
        benchmark_title=group.benchmark.title,
        url=reverse("annotation:rulings"),
        at=at,
    )


def notify_of_code_rulings(*, group: ExpertGroup, counts: Counter[int], at: datetime) -> None:
    """One notice for each adjudicator: on how many responses whose codes differ they may rule."""
    notify_each(
        people={user: {"count": count, "what": "code-rulings"} for user, count in counts.items()},
        kind=Kind.NEW_WORK,
        benchmark_title=group.benchmark.title,
        url=reverse("annotation:code-rulings"),
        at=at,
    )


def _new_work(batch: Batch, counts: Counter[int], at: datetime, **values: str) -> None:
    benchmark = batch.group.benchmark
    notify_each(
        people={user: {"batch": batch.title, "count": count, **values} for user, count in counts.items()},
        kind=Kind.NEW_WORK,
        benchmark_title=benchmark.title,
        url=reverse("annotation:work-in", args=[benchmark.slug]),
        at=at,
    )


def notify_of_return(*, assignment: Assignment, note: bool, marked: int, at: datetime) -> None:
    """Notify the annotator that a response came back, without the checker's name.

    ``note``: whether the checker wrote one; ``marked``: how many criteria are to be reviewed.
    """
    notify(
        user=assignment.annotator,
        kind=Kind.RETURNED,
        benchmark_title=assignment.batch.group.benchmark.title,
        url=reverse("annotation:grade", args=[assignment.public_id]),
        at=at,
        batch=assignment.batch.title,
        note=note,
        marked=marked,
    )


def read_notice_of_return(*, assignment: Assignment, at: datetime) -> None:
    """Mark the notices of returns of this work as read: it was resubmitted, so nothing in them waits any more."""
    mark_read(notifications=_notices_of_return(assignment), at=at)


def reopen_notice_of_return(*, assignment: Assignment, at: datetime) -> None:
    """Mark the notices that the resubmission at ``at`` marked as read as unread again."""
    _notices_of_return(assignment).filter(read_at=at).update(read_at=None)


def _notices_of_return(assignment: Assignment) -> QuerySet[Notification]:
    return Notification.objects.filter(
        user=assignment.annotator_id,
        kind=Kind.RETURNED,
        url=reverse("annotation:grade", args=[assignment.public_id]),
    )


def notify_of_resubmission(*, assignment: Assignment, at: datetime) -> None:
    """Add resubmitted work to the notice of the day of the checker who returned it, while they are a checker."""
    benchmark = assignment.batch.group.benchmark
    count_for_day(
        people=_checker_of(assignment),
        kind=Kind.NEW_WORK,
        benchmark_title=benchmark.title,
        url=f"{reverse('annotation:checks-in', args=[benchmark.slug])}?show=waiting",
        at=at,
        key=_key_of_resubmissions(assignment),
        count=1,
        what="resubmitted",
    )


def withdraw_notice_of_resubmission(*, assignment: Assignment, at: datetime) -> None:
    """Take work that was resubmitted at ``at`` from the notice of that day, because the submission is undone."""
    discount_for_day(people=_checker_of(assignment), at=at, key=_key_of_resubmissions(assignment), count=1)


def _checker_of(assignment: Assignment) -> list[int]:
    checkers = assignment.batch.group.memberships.filter(role=Membership.Role.CHECKER, active=True)
    return list(checkers.filter(user=assignment.checker_id).values_list("user_id", flat=True))


def _key_of_resubmissions(assignment: Assignment) -> str:
    return f"resubmitted:{assignment.batch.group.benchmark_id}"


def notify_of_hold(*, membership: Membership, at: datetime) -> None:
    """Notify a member that they get no new work for now."""
    benchmark = membership.group.benchmark
    notify(
        user=membership.user,
        kind=Kind.HELD_BACK,
        benchmark_title=benchmark.title,
        url=reverse("annotation:work-in", args=[benchmark.slug]),
        at=at,
    )
