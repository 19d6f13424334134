"""Registry of functions to call when a rubric is published; apps above this one fill it in ``AppConfig.ready``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from rubrics.models import Rubric

# Called in the transaction that publishes, with the former version, the new one, and the time.
Listener = Callable[[Rubric, Rubric, datetime], None]
_listeners: list[Listener] = []


def register(listener: Listener) -> None:
    """Add a function that is called with each new version of a rubric."""
    if listener not in _listeners:
        _listeners.append(listener)


def notify_listeners(before: Rubric, after: Rubric, at: datetime) -> None:
    """Call the registered functions: ``after`` replaces ``before``."""
    for listener in _listeners:
        listener(before, after, at)
