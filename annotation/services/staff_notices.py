"""Notifies the admins of a benchmark of completed batches and of new conflicts, in the transaction of the event.

Adjudicators are notified of new conflicts, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from accounts.models import Notification, User
from accounts.services.grouped_notices import count_for_day, discount_for_day
from accounts.services.notifications import notify_each
from annotation import access
from annotation.models import (
    Adjudication,
    Assignment,
    Batch,
    ExpertGroup,
    LabelTask,
    Membership,
    Slot,
    WritingTask,
)
from annotation.selectors.case_work import of_excluded_cases
from annotation.selectors.progress import conflicts_of
from consilium.core.locks import RowLock, lock_exclusive
from rubrics.models import Benchmark
from rubrics.services.job_notices import admins_of

Kind = Notification.Kind


def notify_of_completed_batch(*, batch: Batch, at: datetime) -> None:
    """Notify the admins, once for each batch, if no work of the batch is left.

    Call it last in the transaction that ends a piece of work. Transactions that end work of one batch pass here one by
    one, since two that end the last two pieces would otherwise not see each other.
    """
    if batch.kind == Batch.Kind.QUALIFY:
        return
    lock_exclusive(RowLock.BATCH_END, batch.pk)
    if work_is_left(batch):
        return
    benchmark = batch.group.benchmark
    # Batches of several groups may have the same title.
    values = {"batch": f"{batch.group.name}: {batch.title}", "conflicts": conflicts_of(batch).open}
    notify_each(
        people=dict.fromkeys(admins_of(benchmark), values),
        kind=Kind.BATCH,
        benchmark_title=benchmark.title,
        url=reverse("annotation:batch", args=[benchmark.slug, batch.public_id]),
        at=at,
        key=f"batch:{batch.public_id}",
    )


def withdraw_notice_of_completed_batch(*, batch: Batch) -> None:
    """Delete the notice that the batch is complete, because its last step is undone; it is given again later."""
    Notification.objects.filter(kind=Kind.BATCH, key=f"batch:{batch.public_id}").delete()


def work_is_left(batch: Batch) -> bool:
    """Whether work, gold items aside, is not accepted or not submitted yet, or waits in a pool."""
    if batch.kind == Batch.Kind.LABEL:
        tasks = LabelTask.objects.filter(batch=batch, status__in=LabelTask.OPEN)
        return tasks.exclude(of_excluded_cases()).exists()
    if batch.kind == Batch.Kind.WRITE:
        written = WritingTask.objects.filter(batch=batch, status__in=WritingTask.OPEN)
        return written.exclude(of_excluded_cases()).exists()
    held = Assignment.objects.exclude(status=Assignment.Status.RELEASED)
    work = held.filter(batch=batch, purpose=Assignment.Purpose.WORK)
    # Checkers are given no work on an excluded case.
    work = work.exclude(status=Assignment.Status.SUBMITTED, case__excluded_at__isnull=False)
    return work.exclude(status=Assignment.Status.ACCEPTED).exists() or _free(batch, held).exists()


def _free(batch: Batch, held: QuerySet[Assignment]) -> QuerySet[Slot]:
    slots = Slot.objects.filter(item__batch=batch, item__response__case__excluded_at=None)  # nobody may take others
    return slots.filter(~Exists(held.filter(slot=OuterRef("pk"))))


def notify_of_conflicts(*, benchmark: Benchmark, count: int, at: datetime) -> None:
    """Add ``count`` responses with new conflicts to the admins' notification of the day."""
    count_for_day(
        people=admins_of(benchmark),
        kind=Kind.CONFLICT,
        benchmark_title=benchmark.title,
        url=reverse("annotation:conflicts", args=[benchmark.slug]),
        at=at,
        key=_key_of_conflicts(benchmark),
        count=count,
    )


def withdraw_notice_of_conflict(*, benchmark: Benchmark, at: datetime) -> None:
    """Take a conflict that opened at ``at`` from the notification of that day, because the step before it is undone."""
    discount_for_day(people=admins_of(benchmark), at=at, key=_key_of_conflicts(benchmark), count=1)


def notify_adjudicators(*, opened: QuerySet[Adjudication], at: datetime) -> None:
    """Add conflicts that were just opened to the notification of the day of those who may adjudicate them.

    Each adjudicator is told the number that their own list shows, of each benchmark.
    """
    for benchmark, user, count in _counts_of_adjudicators(opened):
        count_for_day(
            people=[user],
            kind=Kind.CONFLICT,
            benchmark_title=benchmark.title,
            url=reverse("annotation:adjudications-in", args=[benchmark.slug]),
            at=at,
            key=_key_of_adjudicators(benchmark),
            count=count,
            what="adjudicate",
        )


def withdraw_notice_of_adjudicators(*, opened: QuerySet[Adjudication], at: datetime) -> None:
    """Take conflicts that opened at ``at`` from these notifications; call it before they are deleted."""
    for benchmark, user, count in _counts_of_adjudicators(opened):
        discount_for_day(people=[user], at=at, key=_key_of_adjudicators(benchmark), count=count)


def _counts_of_adjudicators(opened: QuerySet[Adjudication]) -> Iterator[tuple[Benchmark, int, int]]:
    """Benchmark, user (id) and the number of the conflicts that they may adjudicate, where there are any."""
    groups = opened.order_by().values_list("group", "other_group")
    ids = {group for pair in groups for group in pair if group is not None}
    members = Membership.objects.filter(group__in=ids, role=Membership.Role.ADJUDICATOR, active=True)
    benchmarks = Benchmark.objects.in_bulk(ExpertGroup.objects.filter(pk__in=ids).values_list("benchmark", flat=True))
    for user in User.objects.filter(pk__in=members.values("user")).order_by("pk"):
        rows = access.open_adjudications(user).filter(pk__in=opened.order_by().values("pk"))
        counts = Counter(rows.order_by().values_list("group__benchmark", flat=True))
        for benchmark, count in sorted(counts.items()):
            yield benchmarks[benchmark], user.pk, count


def _key_of_adjudicators(benchmark: Benchmark) -> str:
    return f"adjudicate:{benchmark.pk}"


def _key_of_conflicts(benchmark: Benchmark) -> str:
    return f"conflict:{benchmark.pk}"
