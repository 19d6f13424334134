"""Registry of the onboarding steps of a benchmark; every app fills it in its ``AppConfig.ready``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import NoReverseMatch, reverse

from rubrics.models import Benchmark

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise


@dataclass(frozen=True)
class Step:
    """One step of the way from cases to a report.

    ``why`` is its purpose, shown until it is done; ``detail`` is the result, shown after that; ``view`` names a URL
    whose one argument is the slug of the benchmark; ``finished`` of ``total`` draw a bar.
    """

    order: int
    label: Text
    done: bool
    why: Text
    detail: Text = ""
    view: str = ""
    query: str = ""
    finished: int | None = None
    total: int | None = None
    admin_only: bool = False  # researchers see the step without a link


@dataclass(frozen=True)
class ShownStep:
    """A step with its address, and whether it is the next one to take."""

    step: Step
    url: str
    is_next: bool


Source = Callable[[Benchmark], Iterable[Step]]
_sources: list[Source] = []


def register(source: Source) -> None:
    """Add a source of steps; each may run a constant number of queries."""
    if source not in _sources:
        _sources.append(source)


def steps(benchmark: Benchmark, *, is_admin: bool) -> list[ShownStep]:
    """All steps in order; the first that is not done is the next one."""
    steps = sorted((step for source in _sources for step in source(benchmark)), key=lambda step: step.order)
    following = next((step for step in steps if not step.done), None)
    return [
        ShownStep(step, _address(step, benchmark) if is_admin or not step.admin_only else "", step is following)
        for step in steps
    ]


def _address(step: Step, benchmark: Benchmark) -> str:
    if not step.view:
        return ""
    try:
        return reverse(step.view, args=[benchmark.slug]) + step.query
    except NoReverseMatch:  # an app that is installed without its pages
        return ""
