"""The heartbeat of workers and of beat: one row each, written as long as the process makes progress.

All times are the database's own, so that clocks of several machines need not agree.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import F, Q
from django.db.models.functions import Now

# A row that was not written for this many limits belongs to a worker that ended without deleting it.
FORGET_AFTER_LIMITS = 10


class Heartbeat(models.Model):
    """When a process was last seen to make progress."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField()

    class Meta:
        abstract = True


class WorkerHeartbeat(Heartbeat):
    """When a worker was last seen to make progress, and what it was doing."""

    class State(models.TextChoices):
        """States without labels: the pages have their own words."""

        WORKING = "working"
        CONNECTING = "connecting"  # the broker is away
        STOPPING = "stopping"

    state = models.CharField(max_length=16, choices=State)
    active_tasks = ArrayField(models.CharField(max_length=255))  # names of the tasks that run
    waiting_tasks = models.PositiveIntegerField()  # tasks received and not started

    class Meta:
        app_label = "consilium"
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["working", "connecting", "stopping"]), name="consilium_heartbeat_state"
            ),
        ]

    def __str__(self) -> str:
        return f"worker {self.pid} on {self.host}"


class BeatHeartbeat(Heartbeat):
    """When a beat last enqueued a task."""

    class Meta:
        app_label = "consilium"

    def __str__(self) -> str:
        return f"beat {self.pid} on {self.host}"


def record_heartbeat(
    *, worker: uuid.UUID, host: str, pid: int, state: str, active_tasks: Sequence[str], waiting_tasks: int
) -> None:
    """Insert or update the row of ``worker``; ``started_at`` stays the time of the first write."""
    row = WorkerHeartbeat(
        id=worker,
        host=host,
        pid=pid,
        started_at=Now(),
        beat_at=Now(),
        state=state,
        active_tasks=list(active_tasks),
        waiting_tasks=waiting_tasks,
    )
    WorkerHeartbeat.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["beat_at", "state", "active_tasks", "waiting_tasks"],
    )


def record_beat(*, beat: uuid.UUID, host: str, pid: int) -> None:
    """Insert or update the row of ``beat``; ``started_at`` stays the time of the first write."""
    BeatHeartbeat.objects.bulk_create(
        [BeatHeartbeat(id=beat, host=host, pid=pid, started_at=Now(), beat_at=Now())],
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["beat_at"],
    )


def leave_server_alone() -> None:
    """Keep this thread from starting the embedded server: it only observes, beside a thread that forks."""
    connection.starts_server = False  # type: ignore[attr-defined]  # of the project's own database backend


def remove_heartbeat(*, worker: uuid.UUID) -> None:
    """Delete the row of a worker that ends in good order."""
    WorkerHeartbeat.objects.filter(pk=worker).delete()


def remove_dead_workers(*, limit_s: float) -> None:
    """Delete rows of workers that ended without deleting them; a worker that still lives writes its row again."""
    _remove_silent(WorkerHeartbeat, limit_s=limit_s)


def remove_dead_beats(*, limit_s: float) -> None:
    """Delete rows of beats that ended; a beat that still lives writes its row again."""
    _remove_silent(BeatHeartbeat, limit_s=limit_s)


def _remove_silent(model: type[Heartbeat], *, limit_s: float) -> None:
    silent_since = Now() - timedelta(seconds=limit_s * FORGET_AFTER_LIMITS)
    model._default_manager.filter(beat_at__lt=silent_since).delete()


def with_age(rows: models.QuerySet[Any]) -> models.QuerySet[Any]:
    """The rows, each with its ``age`` by the database's clock, a timedelta."""
    return rows.annotate(age=models.ExpressionWrapper(Now() - F("beat_at"), output_field=models.DurationField()))


def workers_seen(*, within_s: float) -> models.QuerySet[WorkerHeartbeat]:
    """Workers that made progress within the last ``within_s`` seconds, each with its ``age``, a timedelta."""
    return with_age(WorkerHeartbeat.objects.all()).filter(age__lte=timedelta(seconds=within_s))
