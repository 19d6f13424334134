"""Celery's tasks for documents. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from documents.search import generations


@shared_task(ignore_result=True)
def build_generation(generation_id: int) -> None:
    """Build one generation of a search index."""
    generations.run(generation_id=generation_id, clock=timezone.now)


@shared_task(ignore_result=True)
def sweep_generations() -> None:
    """Enqueue again generations whose task or worker was lost, and remove folders that are out of use."""
    generations.GENERATIONS.sweep(at=timezone.now())
    generations.remove_old_folders(at=timezone.now())
