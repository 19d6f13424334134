"""``manage.py worker``: one worker that is watched from outside, for containers and further machines."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from standalone.processes import WORKER
from standalone.supervisor import Stopped, Supervisor, start_reaper

LOOK_EVERY_S = 0.5


class Command(BaseCommand):
    """Runs a Celery worker and replaces it when it ends or is frozen, as ``manage.py up`` does with its own."""

    help = (
        "Run a Celery worker, and start another in its place if it ends or is frozen. Ends if five of them end within "
        "a minute. For containers and for further machines; manage.py up runs a worker by itself."
    )
    requires_system_checks: list[str] = []  # the worker runs them as it starts

    def handle(self, **options: Any) -> None:
        """Start, watch, stop."""
        # So that a kill -9 of this process leaves no worker that nobody watches.
        reaper = start_reaper(cwd=settings.BASE_DIR)
        assert reaper.stdin is not None
        supervisor = Supervisor(
            logs=None,
            cwd=settings.BASE_DIR,
            environment={**os.environ, "SECRET_KEY": settings.SECRET_KEY, "PYTHONUNBUFFERED": "1"},
            reaper=reaper.stdin,
            say=self._say,
        )

        def on_signal(_number: int, _frame: FrameType | None) -> None:
            supervisor.request_stop()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, on_signal)
        try:
            supervisor.start(WORKER)
            while True:
                supervisor.keep_running()
                if reaper.poll() is not None:
                    self._say("The process that cleans up after this one has ended, so this one ends as well.")
                    break
                select.select([], [], [], LOOK_EVERY_S)
        except Stopped:
            pass
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            supervisor.stop()
            with suppress(BrokenPipeError):  # somebody may have killed it
                reaper.stdin.close()
            reaper.wait()

    def _say(self, line: str) -> None:
        self.stderr.write(line)
        self.stderr.flush()
