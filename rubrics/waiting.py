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
    """A line of the list *To do*: a case, and why it is there. About work on another page, ``key`` names the link.

    ``sentence`` says the same on the page of the published rubric; without it, ``detail`` is shown there.
    """

    label: Text
    key: Text  # of the case
    address: str
    detail: str = ""
    sentence: str = ""


# With a case, the lines of that case alone.
Source = Callable[[User, Benchmark, Case | None], Iterable[Waits]]

MAX_LINES = 20  # a source lists at most this many cases under one label

_sources: dict[Source, bool] = {}  # whether its lines are about work on another page


def register(source: Source, *, elsewhere: bool = False) -> None:
    """Add a source of lines. ``elsewhere``: about work on another page, which the home page lists by itself."""
    _sources.setdefault(source, elsewhere)


def waiting_for(user: User, benchmark: Benchmark, case: Case | None = None, *, elsewhere: bool = True) -> list[Waits]:
    """All lines for an author, or those of one case; without ``elsewhere``, none about work on another page."""
    sources = [source for source, of_other_page in _sources.items() if elsewhere or not of_other_page]
    return [line for source in sources for line in source(user, benchmark, case)]
