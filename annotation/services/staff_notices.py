"""Notifies the admins of a benchmark of completed batches and of new conflicts, in the transaction of the event."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from accounts.models import Notification
from accounts.services.grouped_notices import count_for_day, discount_for_day
from accounts.services.notifications import notify_each
from annotation.models import Assignment, Batch, LabelTask, Slot, WritingTask
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


def _key_of_conflicts(benchmark: Benchmark) -> str:
    return f"conflict:{benchmark.pk}"
