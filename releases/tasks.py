"""Celery's tasks for releases. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from releases import services


@shared_task(ignore_result=True)
def run_release(release_id: int) -> None:
    """Make one release."""
    services.run(release_id=release_id, clock=timezone.now)


@shared_task(ignore_result=True)
def sweep_releases() -> None:
    """Enqueue again releases whose task or worker was lost."""
    services.RELEASES.sweep(at=timezone.now())
