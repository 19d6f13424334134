"""Bells for mails: a task carries an id and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from accounts.services import deliveries


@shared_task(ignore_result=True)
def mail_at_once(notification_id: int) -> None:
    """Send one notification to a reader who wants it at once."""
    deliveries.mail_at_once(notification_id=notification_id, at=timezone.now())


@shared_task(ignore_result=True)
def sweep_mails() -> None:
    """Send the daily mails that are due, and what was left behind."""
    deliveries.sweep_mails(at=timezone.now())
