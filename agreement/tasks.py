"""Celery's tasks for reports. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from agreement import services
from agreement.reports import figures


@shared_task(ignore_result=True)
def run_report(report_id: int) -> None:
    """Compute one report, and draw its figures for whoever asked for it."""
    services.run(report_id=report_id, clock=timezone.now)
    figures.draw_ahead(report_id)


@shared_task(ignore_result=True)
def sweep_reports() -> None:
    """Enqueue again reports whose task or worker was lost."""
    services.REPORTS.sweep(at=timezone.now())
