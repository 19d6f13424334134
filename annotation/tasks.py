"""Celery's tasks for slots, due dates and gold items. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone


@shared_task(ignore_result=True)
def sweep_slots() -> None:
    """Put work back whose lease has run out or whose annotator has left, and accept what no checker is to see."""
    from annotation.services import slots

    at = timezone.now()
    slots.release_expired(at=at)
    slots.release_abandoned(at=at)
    slots.settle_gold(at=at)


@shared_task(ignore_result=True)
def sweep_due_dates() -> None:
    """Remind of due dates whoever it is morning for, and tell admins of batches that need them."""
    from annotation.services.batch_notices import notify_of_overdue_batches, notify_of_stuck_work
    from annotation.services.due import remind

    at = timezone.now()
    remind(at=at)
    notify_of_overdue_batches(at=at)
    notify_of_stuck_work(at=at)


@shared_task(ignore_result=True)
def sweep_gold() -> None:
    """Hold back whoever lies below the mark on gold items."""
    from annotation.qualification.gold import hold_back_by_gold

    hold_back_by_gold(at=timezone.now())
