"""Looks from beat whether any worker runs, since a task of a worker could not."""

from __future__ import annotations

import threading

import structlog
from django.db import close_old_connections
from django.utils import timezone

from consilium.core.heartbeat import leave_server_alone
from rubrics.services.worker_outages import newest_heartbeat, notify_of_outage

logger = structlog.get_logger(__name__)
LOOK_EVERY_S = 30.0


class WorkerWatch(threading.Thread):
    """A thread of beat that notifies admins of an outage of all workers. It ends with the process."""

    def __init__(self) -> None:
        super().__init__(name="worker-watch", daemon=True)
        self._since = timezone.now()
        self._ended = threading.Event()

    def run(self) -> None:
        """Look every `LOOK_EVERY_S`; an error, such as a database that is away, ends nothing."""
        leave_server_alone()
        while not self._ended.wait(LOOK_EVERY_S):
            close_old_connections()
            try:
                self._since = max(self._since, newest_heartbeat() or self._since)
                notify_of_outage(watched_since=self._since, at=timezone.now())
            except Exception:
                logger.exception("worker_watch_failed")
