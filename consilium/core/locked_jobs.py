"""Work that is claimed by an advisory lock: a run of many requests, which is worked on in many turns.

The row says what is left to do. A worker holds the lock as long as it works, and the lock ends with its connection. So
a lost worker is recognised without a time limit: its lock is free. A sweep enqueues open rows that no worker holds.
`consilium.core.jobs` is the alternative: one claim, one result, and a heartbeat.

To add a kind, derive a class from `LockedKind`, register an instance, and go on as `consilium.core.jobs` says from
step 3 on. ``KIND.hold(pk)`` is the claim. Each kind defines what a turn does and how it ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import ClassVar, Generic, TypeVar

from django.db import models, transaction
from django.db.models import Count, Q

from consilium.core.jobs import STALLED_AFTER, Backlog, enqueue
from consilium.core.locks import WorkerLock, held_worker_locks, worker_lock, worker_lock_is_free

# Open work that waits for this long counts as without a task: a worker that was killed had taken it. The time is longer
# than for other jobs, because a task may wait for a turn of another run to end. With the sweep's 15 s, work that a kill
# interrupts goes on within 45 s.
ENQUEUE_AGAIN_AFTER = timedelta(seconds=20)

RowT = TypeVar("RowT", bound=models.Model)


class LockedKind(Generic[RowT]):
    """How work on rows of one model is claimed, enqueued and found again."""

    model: type[RowT]
    task: ClassVar[str]  # the dotted name of the Celery task that works on a row
    sweep_task: ClassVar[str]  # the dotted name of the Celery task that calls `sweep`
    lock: ClassVar[WorkerLock]
    waiting: ClassVar[Collection[str]]  # the statuses of a row that needs a worker
    running: ClassVar[Collection[str]]  # the statuses of a row that has a worker, unless the worker was lost
    enqueued_field: ClassVar[str] = "heartbeat_at"  # when a task was last sent for a row that waits
    may_pause: ClassVar[bool] = False  # whether a row that waits may have a time in ``resume_at``, to rest until then

    # What a kind may override ---------------------------------------------------------------------------------------

    def ids(self, row: RowT) -> tuple[int, ...]:
        """The ids by which the task and `hold` identify the row."""
        return (row.pk,)

    def lock_key(self, *ids: int) -> int:
        """The lower 48 bits of the row's lock."""
        return ids[0]

    def rows(self) -> models.QuerySet[RowT]:
        """The rows among which the sweep looks."""
        return self.model._default_manager.all()

    def due(self, *, at: datetime) -> Q:
        """The condition on rows that should have a worker now."""
        sent = self.enqueued_field
        needs_task = Q(status__in=self.waiting) & (Q(**{sent: None}) | Q(**{f"{sent}__lt": at - ENQUEUE_AGAIN_AFTER}))
        if self.may_pause:
            needs_task &= Q(resume_at=None) | Q(resume_at__lte=at)
        return needs_task | Q(status__in=self.running)

    def is_wanted(self, row: RowT, *, at: datetime) -> bool:
        """Whether the sweep enqueues a row that nobody holds; a kind may end the row here instead."""
        return True

    # What services, tasks and workers call --------------------------------------------------------------------------

    def enqueue(self, rows: Iterable[RowT], *, at: datetime) -> None:
        """Send a task for each row once the transaction is committed."""
        rows = list(rows)
        self.model._default_manager.filter(pk__in=[row.pk for row in rows]).update(**{self.enqueued_field: at})
        for row in rows:
            enqueue(self.task, *self.ids(row))

    def hold(self, *ids: int) -> AbstractContextManager[bool]:
        """Hold a row for the length of a block; False where another worker has it. See `locks.worker_lock`."""
        return worker_lock(self.lock, self.lock_key(*ids))

    def is_free(self, *ids: int) -> bool:
        """Whether no worker holds the row. Call it inside a transaction, which keeps workers out until it ends."""
        return worker_lock_is_free(self.lock, self.lock_key(*ids))

    def backlog(self, *, at: datetime) -> Backlog:
        """How much is open; stalled is what the sweep should have enqueued again, and no worker holds."""
        rows, sent = self.rows(), self.enqueued_field
        waits, runs = Q(status__in=self.waiting), Q(status__in=self.running)
        counts = rows.aggregate(waiting=Count("pk", filter=waits), running=Count("pk", filter=runs))
        if not any(counts.values()):
            return Backlog()
        overdue = Q(**{sent: None}) | Q(**{f"{sent}__lt": at - ENQUEUE_AGAIN_AFTER - STALLED_AFTER})
        if self.may_pause:
            overdue &= Q(resume_at=None) | Q(resume_at__lte=at - STALLED_AFTER)
        held = held_worker_locks(self.lock)
        stalled = [row for row in rows.filter(waits | runs, overdue) if self.lock_key(*self.ids(row)) not in held]
        since = [getattr(row, sent) for row in stalled if getattr(row, sent) is not None]
        return Backlog(**counts, stalled=len(stalled), stalled_since=min(since, default=None))

    def sweep(self, *, at: datetime) -> int:
        """Enqueue again rows that a lost worker or an emptied broker left behind; returns their number."""
        count = 0
        for row in self.rows().filter(self.due(at=at)):
            with transaction.atomic():
                if self.is_free(*self.ids(row)) and self.is_wanted(row, at=at):
                    self.enqueue([row], at=at)
                    count += 1
        return count
