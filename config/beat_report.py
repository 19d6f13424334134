"""Writes the heartbeat of beat, each time it has enqueued something."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from typing import Any

import structlog
from celery.signals import after_task_publish
from django.conf import settings
from django.db import close_old_connections

from consilium.core.heartbeat import leave_server_alone, record_beat, remove_dead_beats

logger = structlog.get_logger(__name__)
# Sweeps that are due at once are one row.
MIN_PAUSE_S = 1.0


class BeatReport(threading.Thread):
    """A thread of beat, so that a database that hangs keeps beat from nothing. It ends with the process.

    A beat that runs but cannot reach the broker enqueues nothing, and writes no row.
    """

    def __init__(self) -> None:
        super().__init__(name="beat-report", daemon=True)
        self._id = uuid.uuid4()
        self._enqueued = threading.Event()
        after_task_publish.connect(self._note, weak=False)

    def _note(self, **_kwargs: Any) -> None:
        self._enqueued.set()

    def run(self) -> None:
        """Write the row after each task; an error, such as a database that is away, ends nothing."""
        leave_server_alone()
        while True:
            self._enqueued.wait()
            self._enqueued.clear()
            close_old_connections()
            try:
                record_beat(beat=self._id, host=socket.gethostname(), pid=os.getpid())
                remove_dead_beats(limit_s=settings.SWEEP_SECONDS)
            except Exception:
                logger.exception("beat_report_failed")
            time.sleep(MIN_PAUSE_S)
