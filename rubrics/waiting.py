"""Registry of what else waits for an author in a benchmark; apps above this one fill it in ``AppConfig.ready``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accounts.models import User
from rubrics.models import Benchmark

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise


@dataclass(frozen=True, slots=True)
class Waits:
    """A line of the list *What waits for you*: a case, and why it is there."""

    label: Text
    key: str  # of the case
    address: str
    detail: str = ""


Source = Callable[[User, Benchmark], Iterable[Waits]]

_sources: list[Source] = []


def register(source: Source) -> None:
    """Add a source of lines."""
    if source not in _sources:
        _sources.append(source)


def waiting_for(user: User, benchmark: Benchmark) -> list[Waits]:
    """All lines for an author."""
    return [line for source in _sources for line in source(user, benchmark)]
