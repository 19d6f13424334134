"""Ends a worker that makes no progress, so that its supervisor starts it again, and writes its heartbeat.

A thread of the worker's main process looks at what the event loop reports (``progress``) and asks the database. A
database or a broker that is away is no stall: a new worker would find it away as well. A process that is frozen as a
whole (SIGSTOP, a dead interpreter lock) runs no thread either, and writes no row: ``manage.py up`` notices that.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import socket
import threading
import time
import uuid
from collections import Counter
from typing import Any

import structlog
from celery import bootsteps, signals
from celery.concurrency.prefork import TaskPool
from celery.worker import state as worker_state
from django.conf import settings
from django.db import close_old_connections, connection

from consilium.core.heartbeat import (
    WorkerHeartbeat,
    leave_server_alone,
    record_heartbeat,
    remove_dead_workers,
    remove_heartbeat,
)
from consilium.core.progress import ProgressMonitor, Stall

log = structlog.get_logger(__name__)

EXIT_CODE = 70  # EX_SOFTWARE
STDERR = 2  # the descriptor: Celery puts a logger in place of sys.stderr
LOOKS_PER_LIMIT = 20
BEATS_PER_LIMIT = 6
# A thread that wakes this much later than it should was frozen itself, and saw nothing meanwhile.
FROZEN_AFTER_S = 1.0


class Watchdog(bootsteps.StartStopStep):
    """A step of Celery's worker."""

    label = "Watchdog"

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)
        self.limit_s: float = settings.WORKER_STALL_LIMIT_S
        self.interval_s = self.limit_s / LOOKS_PER_LIMIT
        self.worker = worker
        self.id = uuid.uuid4()
        self.host = socket.gethostname()
        self.active: list[str] = []
        self.waiting = 0
        self._ended = threading.Event()
        self._is_database_away = False

    def include_if(self, worker: Any) -> bool:
        """Only where the event loop is free of tasks: in other pools they run in the main process."""
        return bool(worker.use_eventloop) and issubclass(worker.pool_cls, TaskPool)

    def start(self, worker: Any) -> None:
        """Begin to watch; called once, before the worker connects to its broker."""
        self._look_at = self._beat_due_at = time.monotonic()
        self.monitor = ProgressMonitor(at=self._look_at)
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
        self._thread.start()
        signals.worker_shutdown.connect(self._on_shutdown, weak=False)

    def register_with_event_loop(self, worker: Any, hub: Any) -> None:
        """Report from the event loop, which starts once at first and again whenever the broker was away."""
        self._report()
        hub.call_repeatedly(self.interval_s, self._report)

    def _report(self) -> None:
        """Called by the event loop."""
        active = list(worker_state.active_requests)
        waiting = [request.id for request in worker_state.reserved_requests if request not in active]
        self.active = sorted(request.name for request in active)
        self.waiting = len(waiting)
        self.monitor.report(
            at=time.monotonic(), waiting=waiting, active=len(active), seats=self.worker.pool.num_processes
        )

    # The thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        leave_server_alone()
        # A connection that is closed for its age must be opened again, and a busy server may have none left.
        connection.settings_dict = {**connection.settings_dict, "CONN_MAX_AGE": None}
        while not self._ended.wait(self.interval_s):
            self._look()
        connection.close()

    def _look(self) -> None:
        now = time.monotonic()
        was_frozen = now - self._look_at > self.interval_s + FROZEN_AFTER_S
        self._look_at = now
        state = self._state()
        if was_frozen or state != WorkerHeartbeat.State.WORKING:
            self.monitor.start_afresh(at=now)
        stalled_s = self.monitor.stall(at=now).seconds
        if now < self._beat_due_at and stalled_s < self.limit_s:
            return
        self._beat_due_at = now + self.limit_s / BEATS_PER_LIMIT
        # Half the limit, so that a worker ends itself and logs why before `manage.py up` misses its row.
        is_answered = self._ask_database(state, is_well=stalled_s < self.limit_s / 2)
        now = self._look_at = time.monotonic()
        if not is_answered:
            self.monitor.start_afresh(at=now)
            return
        stall = self.monitor.stall(at=now)
        if stall.seconds >= self.limit_s:
            self._end(stall)

    def _state(self) -> WorkerHeartbeat.State:
        if self.worker.blueprint.state != bootsteps.RUN:
            return WorkerHeartbeat.State.STOPPING
        consumer = getattr(self.worker, "consumer", None)
        if consumer is None or consumer.connection is None:
            return WorkerHeartbeat.State.CONNECTING
        return WorkerHeartbeat.State.WORKING

    def _ask_database(self, state: WorkerHeartbeat.State, *, is_well: bool) -> bool:
        """Whether the database answers soon; if the worker ``is_well``, the query writes its row."""
        began = time.monotonic()
        try:
            close_old_connections()
            if is_well:
                record_heartbeat(
                    worker=self.id,
                    host=self.host,
                    pid=os.getpid(),
                    state=state,
                    active_tasks=self.active,
                    waiting_tasks=self.waiting,
                )
                remove_dead_workers(limit_s=self.limit_s)
            else:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT 1")
        except Exception as error:  # whatever it is, this thread must go on
            if not self._is_database_away:
                log.warning("heartbeat cannot be written", error=repr(error))
            self._is_database_away = True
            with contextlib.suppress(Exception):
                connection.close()
            return False
        self._is_database_away = False
        return time.monotonic() - began < self.interval_s + FROZEN_AFTER_S

    def _end(self, stall: Stall) -> None:
        """Log the stall, and end this process and its children at once."""
        # This ends the process even if writing the log hangs.
        faulthandler.dump_traceback_later(5, exit=True, file=STDERR)
        children: list[int] = self.worker.pool.info["processes"]
        log.error(
            f"worker made no progress for {self.limit_s:g} s and ends, to be started again: {stall.reason}",
            pid=os.getpid(),
            children=children,
            active_tasks=dict(Counter(self.active)),
            waiting_tasks=self.waiting,
        )
        faulthandler.dump_traceback(file=STDERR, all_threads=True)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        os._exit(EXIT_CODE)

    def _on_shutdown(self, **_kwargs: Any) -> None:
        self._ended.set()
        self._thread.join(self.interval_s + FROZEN_AFTER_S)
        with contextlib.suppress(Exception):
            remove_heartbeat(worker=self.id)
