"""Waiting on conditions, so that no test sleeps for a time that somebody guessed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(condition: Callable[[], T], *, within_s: float = 60.0, message: str = "") -> T:
    """Return the first truthy value of ``condition``; fail after ``within_s`` seconds."""
    pause = threading.Event()
    until = time.monotonic() + within_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"Not within {within_s:g} s: {message or condition}")
        pause.wait(0.05)
