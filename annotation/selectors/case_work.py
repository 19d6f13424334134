"""A physician's part of a batch of cases, for label questions or for writing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from annotation.models import Batch, LabelTask, WritingTask

Task = TypeVar("Task", LabelTask, WritingTask)


@dataclass(frozen=True, slots=True)
class CaseWork:
    """One physician's part of a batch of cases."""

    batch: Batch
    total: int
    done: int
    started: bool
    next_id: str  # public id of the task to go on with; empty where nothing is open
    next_position: int
    seconds: int = 0  # spent on it by the physician

    @property
    def open(self) -> int:
        """Cases not handed in yet."""
        return self.total - self.done

    @property
    def takes_work(self) -> bool:
        """Something is left, and the batch is neither paused nor closed."""
        return bool(self.next_id) and bool(self.batch.status == Batch.Status.OPEN)

    @property
    def overdue(self) -> bool:
        """Past its date with work left."""
        due: date | None = self.batch.due_date
        return due is not None and self.open > 0 and due < timezone.localdate()


def case_work(own: QuerySet[Any], *beside: str) -> list[CaseWork]:
    """The tasks ``own`` as a row for each batch, in the order of due dates, without the time spent.

    Both kinds of tasks use the same names for their states. ``beside``: related objects to select with each batch.
    Always three queries, however many cases there are.
    """
    open_ = Q(status__in=LabelTask.OPEN)
    counts = {
        row["batch"]: row
        for row in own.order_by()
        .values("batch")
        .annotate(
            total=Count("pk"),
            done=Count("pk", filter=~open_),
            started=Count("pk", filter=~Q(status=LabelTask.Status.NOT_STARTED)),
            next=Min("position", filter=open_),
        )
    }
    if not counts:
        return []
    following = {
        (batch, position): public_id
        for batch, position, public_id in own.filter(
            open_, position__in=[row["next"] for row in counts.values() if row["next"] is not None]
        ).values_list("batch", "position", "public_id")
    }
    batches = Batch.objects.filter(pk__in=counts).select_related("group__benchmark", *beside)
    return [
        CaseWork(
            batch,
            total=counts[batch.pk]["total"],
            done=counts[batch.pk]["done"],
            started=counts[batch.pk]["started"] > 0,
            next_id=following.get((batch.pk, counts[batch.pk]["next"]), ""),
            next_position=counts[batch.pk]["next"] or 0,
        )
        for batch in batches.order_by("due_date", "created_at", "pk")
    ]


def following(queue: QuerySet[Task], after: Task) -> Task | None:
    """The next task in the ``queue`` of a physician in a batch: from ``after`` on, then from its start; else None."""
    rows = sorted(
        queue.exclude(pk=after.pk).only("public_id", "position"),
        key=lambda row: (row.position <= after.position, row.position),
    )
    return rows[0] if rows else None
