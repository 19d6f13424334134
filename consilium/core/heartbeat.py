"""The heartbeat of workers: one row each, written every few seconds as long as the worker makes progress.

All times are the database's own, so that clocks of several machines need not agree.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import F, Q
from django.db.models.functions import Now

# A row that was not written for this many limits belongs to a worker that ended without deleting it.
FORGET_AFTER_LIMITS = 10


class WorkerHeartbeat(models.Model):
    """When a worker was last seen to make progress, and what it was doing."""

    class State(models.TextChoices):
        """States without labels: the pages have their own words."""

        WORKING = "working"
        CONNECTING = "connecting"  # the broker is away
        STOPPING = "stopping"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField()
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


def leave_server_alone() -> None:
    """Keep this thread from starting the embedded server: it only observes, beside a thread that forks."""
    connection.starts_server = False  # type: ignore[attr-defined]  # of the project's own database backend


def remove_heartbeat(*, worker: uuid.UUID) -> None:
    """Delete the row of a worker that ends in good order."""
    WorkerHeartbeat.objects.filter(pk=worker).delete()


def remove_dead_workers(*, limit_s: float) -> None:
    """Delete rows of workers that ended without deleting them; a worker that still lives writes its row again."""
    WorkerHeartbeat.objects.filter(beat_at__lt=Now() - timedelta(seconds=limit_s * FORGET_AFTER_LIMITS)).delete()


def workers_seen(*, within_s: float) -> models.QuerySet[WorkerHeartbeat]:
    """Workers that made progress within the last ``within_s`` seconds, each with its ``age``, a timedelta."""
    return WorkerHeartbeat.objects.annotate(
        age=models.ExpressionWrapper(Now() - F("beat_at"), output_field=models.DurationField())
    ).filter(age__lte=timedelta(seconds=within_s))
