"""Celery's tasks for imports. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from rubrics.services import import_jobs


@shared_task(ignore_result=True)
def run_import(job_id: int) -> None:
    """Import one uploaded file."""
    import_jobs.run(job_id=job_id, clock=timezone.now)


@shared_task(ignore_result=True)
def sweep_imports() -> None:
    """Enqueue again imports whose task or worker was lost."""
    import_jobs.IMPORTS.sweep(at=timezone.now())
