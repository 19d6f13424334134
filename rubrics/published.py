"""Who has to know that a rubric was published: a registry that apps above this one fill in ``AppConfig.ready``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from rubrics.models import Rubric

# Called in the transaction of publishing with the version that stood before, the new one, and the moment.
Listener = Callable[[Rubric, Rubric, datetime], None]
_listeners: list[Listener] = []


def register(listener: Listener) -> None:
    """Add somebody who is told of each new version of a rubric."""
    if listener not in _listeners:
        _listeners.append(listener)


def tell(before: Rubric, after: Rubric, at: datetime) -> None:
    """Tell everybody that ``after`` stands in place of ``before``."""
    for listener in _listeners:
        listener(before, after, at)
