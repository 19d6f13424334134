"""A physician's part of a batch of cases, for label questions or for writing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.models import Batch, LabelTask, WritingTask

Task = TypeVar("Task", LabelTask, WritingTask)


def of_excluded_cases() -> Q:
    """A condition on tasks: not submitted, of an excluded case. Nobody is given them, and they are no open work."""
    return Q(status__in=LabelTask.OPEN, case__excluded_at__isnull=False)  # both kinds of tasks have the same states


MIN_TIMED = 3  # pieces with time from which a mean says how long the next ones take


def pace_of(seconds: int, pieces: int) -> int | None:
    """Mean seconds for a piece of work; None below `MIN_TIMED` pieces."""
    return round(seconds / pieces) if pieces >= MIN_TIMED else None


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
    paced: int = 0  # of these, seconds on cases that are handed in
    timed: int = 0  # such cases, with time

    @property
    def open(self) -> int:
        """Cases not handed in yet."""
        return self.total - self.done

    @property
    def pace(self) -> int | None:
        """The physician's own mean seconds for a case; None below `MIN_TIMED` cases."""
        return pace_of(self.paced, self.timed)

    @property
    def takes_work(self) -> bool:
        """Something is left, and the batch is neither paused nor closed."""
        return bool(self.next_id) and bool(self.batch.status == Batch.Status.OPEN)

    @property
    def overdue(self) -> bool:
        """Past its date with work left."""
        due: date | None = self.batch.due_date
        return due is not None and self.open > 0 and due < timezone.localdate()


def case_work(tasks: Iterable[tuple[int, str, str, int]], *beside: str) -> list[CaseWork]:
    """The tasks of a physician as a row for each batch, in the order of due dates; one query, or none without tasks.

    Args:
        tasks: batch, public id, status and seconds spent of each task, in the order of the queues. Both kinds of tasks
            have the same states. Places are counted, since released tasks leave gaps in the positions.
        beside: Related objects to select with each batch.
    """
    queues: dict[int, list[tuple[str, str, int]]] = {}
    for batch, public_id, status, seconds in tasks:
        queues.setdefault(batch, []).append((public_id, status, seconds))
    if not queues:
        return []
    batches = Batch.objects.filter(pk__in=queues).select_related("group__benchmark", *beside)
    return [_of_batch(batch, queues[batch.pk]) for batch in batches.order_by("due_date", "created_at", "pk")]


def _of_batch(batch: Batch, queue: Sequence[tuple[str, str, int]]) -> CaseWork:
    left = [
        (place, public_id) for place, (public_id, status, _) in enumerate(queue, start=1) if status in LabelTask.OPEN
    ]
    place, public_id = left[0] if left else (0, "")
    return CaseWork(
        batch,
        total=len(queue),
        done=len(queue) - len(left),
        started=any(status != LabelTask.Status.NOT_STARTED for _, status, _ in queue),
        next_id=public_id,
        next_position=place,
        seconds=sum(seconds for *_, seconds in queue),
        paced=sum(seconds for _, status, seconds in queue if status not in LabelTask.OPEN),
        timed=sum(seconds > 0 for _, status, seconds in queue if status not in LabelTask.OPEN),
    )


def following(queue: QuerySet[Task], after: Task) -> Task | None:
    """The next task in the ``queue`` of a physician in a batch: from ``after`` on, then from its start; else None."""
    rows = sorted(
        queue.exclude(pk=after.pk).only("public_id", "position"),
        key=lambda row: (row.position <= after.position, row.position),
    )
    return rows[0] if rows else None
