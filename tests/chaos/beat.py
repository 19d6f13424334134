"""Celery's beat for a test: it runs the sweep of judge runs in the test's own process."""

from __future__ import annotations

import threading
from typing import Self

from django.db import connection

from scoring.tasks import sweep_runs


class Beat:
    """Enqueues the sweep every second, as long as the block lasts."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.errors: list[Exception] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._over.wait(1):
                sweep_runs()
        except Exception as error:  # the test looks at it
            self.errors.append(error)
        finally:
            connection.close()
