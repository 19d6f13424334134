"""Celery's tasks for reports. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from agreement import services
from agreement.replication import services as replication_services
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


@shared_task(ignore_result=True)
def run_replication(replication_id: int) -> None:
    """Make the tables and figures of a paper."""
    replication_services.run(replication_id=replication_id, clock=timezone.now)


@shared_task(ignore_result=True)
def sweep_replications() -> None:
    """Enqueue again replications whose task or worker was lost."""
    replication_services.REPLICATIONS.sweep(at=timezone.now())
