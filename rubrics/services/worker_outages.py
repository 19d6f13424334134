"""Notifies admins that no worker runs, so that imports, reports and runs only wait."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Max
from django.urls import reverse

from accounts.models import Notification, User
from accounts.services.deliveries import mail_at_once
from accounts.services.notifications import notify_each
from consilium.core.heartbeat import WorkerHeartbeat
from rubrics.models import BenchmarkRole

# Longer than a worker takes to be started again, on its own or by an update of the product.
SILENT_AFTER = timedelta(minutes=2)
KIND = Notification.Kind.WORKER


def newest_heartbeat() -> datetime | None:
    """When a worker that has not ended in good order was last seen."""
    newest: datetime | None = WorkerHeartbeat.objects.aggregate(newest=Max("beat_at"))["newest"]
    return newest


def notify_of_outage(*, watched_since: datetime, at: datetime) -> bool:
    """Notify the admins of all benchmarks, once an outage, if no worker was seen for `SILENT_AFTER`.

    ``watched_since``: since when the caller could have seen one, or when it saw the last one: a worker that ends in
    good order takes its heartbeat with it. Returns whether there is an outage. Mails are sent
    here, because no worker would send them.
    """
    last = newest_heartbeat()
    if at - max(last or watched_since, watched_since) < SILENT_AFTER:
        return False
    since = (last or watched_since).isoformat(timespec="seconds")
    key = f"worker:{since}"
    admins = User.objects.filter(
        is_active=True, benchmark_roles__role=BenchmarkRole.Role.ADMIN, benchmark_roles__active=True
    ).distinct()
    new = admins.exclude(notifications__key=key)
    notify_each(
        people={user: {"since": since} for user in new.order_by("pk").values_list("pk", flat=True)},
        kind=KIND,
        benchmark_title="Consilium",
        url=reverse("accounts:home"),
        at=at,
        key=key,
    )
    for row in Notification.objects.filter(kind=KIND, key=key, mailed_at=None, read_at=None).values_list(
        "pk", flat=True
    ):
        mail_at_once(notification_id=row, at=at)
    return True
