"""Registry of the onboarding steps of a benchmark; every app fills it in its ``AppConfig.ready``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext_lazy as _

from rubrics.models import Benchmark

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise


class Way(Enum):
    """What a benchmark may be for: grading by rubrics, or acuity; each has steps of its own."""

    GRADES = _("From cases to a report")
    ACUITY = _("From levels of urgency to a report on acuity")


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
    way: Way = Way.GRADES


@dataclass(frozen=True)
class ShownStep:
    """A step with its address, and whether it is the next one to take."""

    step: Step
    url: str
    is_next: bool


@dataclass(frozen=True)
class ShownWay:
    """The steps of one way; ``leads`` where its next step is the main one of the page."""

    title: Text
    steps: list[ShownStep]
    leads: bool

    @property
    def done(self) -> int:
        """How many steps are done."""
        return sum(shown.step.done for shown in self.steps)


Source = Callable[[Benchmark], Iterable[Step]]
_sources: list[Source] = []


def register(source: Source) -> None:
    """Add a source of steps; each may run a constant number of queries."""
    if source not in _sources:
        _sources.append(source)


def ways(benchmark: Benchmark, *, is_admin: bool) -> list[ShownWay]:
    """The steps of each way in order; of each, the first that is not done is its next one.

    The way that is further along comes first, and leads.
    """
    steps = sorted((step for source in _sources for step in source(benchmark)), key=lambda step: step.order)
    own = {way: [step for step in steps if step.way is way] for way in Way}
    order = sorted(Way, key=lambda way: -sum(step.done for step in own[way]))
    return [
        ShownWay(way.value, _shown(own[way], benchmark, is_admin=is_admin), leads=way is order[0])
        for way in order
        if own[way]
    ]


def _shown(steps: list[Step], benchmark: Benchmark, *, is_admin: bool) -> list[ShownStep]:
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
