"""Waiting on conditions, so that no test sleeps for a time that somebody guessed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = TypeVar("T")
# The pages of the running test. What a page asks a test for, such as a request that is routed, is answered only while
# the test waits for the browser.
open_pages: list[Page] = []


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
        pages = [page for page in open_pages if not page.is_closed()]
        if pages and threading.current_thread() is threading.main_thread():
            pages[-1].wait_for_timeout(50)
        else:
            pause.wait(0.05)
