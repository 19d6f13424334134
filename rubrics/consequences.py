"""Registry of the consequences of a new rubric version; apps above this one fill it in ``AppConfig.ready``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rubrics.models import Case, Rubric

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise


@dataclass(frozen=True, slots=True)
class Consequence:
    """The decisions of a group or judge on a case: how many hold under a version, and how many are missing.

    ``url`` is the page where those who run the benchmark ask for the missing ones; ``links``, pairs of text and
    address, are set where there are several such pages.
    """

    who: str
    what: Text  # decisions or verdicts
    stands: int
    missing: int
    responses: int  # responses for which anything is missing
    url: str = ""
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """What would be needed again if criteria were reworded: so many decisions, or verdicts."""

    what: Text
    counts: dict[int, int]  # criterion → number; criteria without any may be missing


# The case, and the version whose criteria count.
Source = Callable[[Case, Rubric], Iterable[Consequence]]
_sources: list[Source] = []


def register(source: Source) -> None:
    """Add a source; each may run a constant number of queries."""
    if source not in _sources:
        _sources.append(source)


def consequences(case: Case, rubric: Rubric) -> list[Consequence]:
    """What still holds and what is missing for ``rubric``, a published or superseded version of the case."""
    return [row for source in _sources for row in source(case, rubric)]


# What is known about criteria (their ids) that rewording would lose.
CostSource = Callable[[Collection[int]], Cost]
_cost_sources: list[CostSource] = []


def register_cost(source: CostSource) -> None:
    """Add a source; each may run a constant number of queries."""
    if source not in _cost_sources:
        _cost_sources.append(source)


def costs(criteria: Collection[int]) -> list[Cost]:
    """What rewording these criteria would ask for again, in the order in which apps registered."""
    return [source(criteria) for source in _cost_sources]
