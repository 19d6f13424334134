"""Celery's tasks for the server. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from operations.services import backups


@shared_task(
    ignore_result=True,
    # A large database takes longer than other tasks may. A broker that delivers the task again meanwhile does no harm:
    # the row is claimed.
    time_limit=settings.BACKUP_TIME_LIMIT_S,
    soft_time_limit=settings.BACKUP_TIME_LIMIT_S - 60,
)
def run_backup(backup_id: int) -> None:
    """Make one backup."""
    backups.run(backup_id=backup_id, clock=timezone.now)


@shared_task(ignore_result=True)
def sweep_backups() -> None:
    """Enqueue again backups whose task or worker was lost."""
    backups.BACKUPS.sweep(at=timezone.now())


@shared_task(ignore_result=True)
def schedule_backups() -> None:
    """Request the backup of the day, and notify operators if the last good one is old."""
    now = timezone.now()
    backups.schedule(at=now)
    backups.notify_if_overdue(at=now)
