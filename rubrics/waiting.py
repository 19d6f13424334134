"""Registry of what else waits for an author in a benchmark; apps above this one fill it in ``AppConfig.ready``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accounts.models import User
from rubrics.models import Benchmark, Case

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise


@dataclass(frozen=True, slots=True)
class Waits:
    """A line of the list *To do*: a case, and why it is there.

    ``elsewhere``: the line is about work on another page, which the home page lists by itself; ``key`` then has the
    words of the link.
    """

    label: Text
    key: Text  # of the case
    address: str
    detail: str = ""
    elsewhere: bool = False


# With a case, the lines of that case alone.
Source = Callable[[User, Benchmark, Case | None], Iterable[Waits]]

_sources: list[Source] = []


def register(source: Source) -> None:
    """Add a source of lines."""
    if source not in _sources:
        _sources.append(source)


def waiting_for(user: User, benchmark: Benchmark, case: Case | None = None) -> list[Waits]:
    """All lines for an author, or those of one case."""
    return [line for source in _sources for line in source(user, benchmark, case)]
