"""Trials beside another task: somebody waits for them, and a judge run or an import may hold a worker for minutes.

Each child of a worker has a thread that looks for trials while a task occupies the child, and sends their requests. The
task goes on: no run ends its turn for a trial, and neither the order of messages nor what a worker has fetched of them
matters. The message of a trial may come to a child as well; the first to claim the trial does it.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import structlog
from celery import signals
from django.db import connection
from django.utils import timezone

from consilium.core.heartbeat import leave_server_alone
from scoring.endpoint_trials.jobs import TRIALS
from scoring.endpoint_trials.selectors import waiting_trials

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 1.0
# Of one child. An endpoint that hangs holds each for up to a minute.
MAX_AT_ONCE = 3


class TrialsBeside:
    """Does trials in threads of this process while a task occupies it."""

    def __init__(self) -> None:
        self._is_busy = threading.Event()
        self._threads: list[threading.Thread] = []

    def connect(self) -> None:
        """Begin in every child of a worker, and note when a task occupies it."""
        signals.worker_process_init.connect(self._begin, weak=False)
        signals.task_prerun.connect(self._task_began, weak=False)
        signals.task_postrun.connect(self._task_ended, weak=False)

    def _begin(self, **_signal: Any) -> None:
        threading.Thread(target=self._run, name="trials beside tasks", daemon=True).start()

    def _task_began(self, **_signal: Any) -> None:
        self._is_busy.set()

    def _task_ended(self, **_signal: Any) -> None:
        self._is_busy.clear()

    def _run(self) -> None:
        leave_server_alone()
        while True:
            if not self._is_busy.is_set():
                connection.close()
                self._is_busy.wait()
            time.sleep(LOOK_EVERY_S)
            if self._is_busy.is_set():
                self._look()

    def _look(self) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        try:
            waiting = waiting_trials(at=timezone.now(), limit=MAX_AT_ONCE - len(self._threads))
        except Exception as error:  # the database may be away; the thread must outlive that
            log.warning("no_look_for_trials", error=type(error).__name__)
            connection.close()
            return
        for trial_id in waiting:
            thread = threading.Thread(target=_ask, args=(trial_id,), name=f"trial {trial_id}", daemon=True)
            thread.start()
            self._threads.append(thread)


def _ask(trial_id: int) -> None:
    leave_server_alone()
    try:
        TRIALS.run(job_id=trial_id, clock=timezone.now)
    except Exception:  # its row says that it failed
        log.exception("trial_failed", trial=trial_id)
    finally:
        connection.close()
