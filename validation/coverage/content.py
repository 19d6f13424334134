"""What a run of coverage is about: gold points and criteria by case, and the steps that hold them together. Pure.

A *series* is the criteria that the gold points of a case are held against: those of a measured set (its place, such as
``0``), those of the same set for the next case (``s0``), or the gold points themselves (``g``). The last two are
controls. The key of a step is its series and the number of its point, such as ``s0.3``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.pipelines.kind import StepName
from validation.models.coverage import BACK, FORWARD

ITSELF, SHIFTED = "g", "s"


@dataclass(frozen=True, slots=True)
class Point:
    """A gold point, or a criterion of a set."""

    text: str
    points: int
    axis: str = ""

    @classmethod
    def of(cls, stored: Sequence[Any]) -> Point:
        """As settings keep it."""
        text, points, axis = stored
        return cls(text, points, axis)

    def stored(self) -> list[Any]:
        """As settings keep it."""
        return [self.text, self.points, self.axis]

    @property
    def sign(self) -> str:
        """Whether a response gains or loses points by it."""
        return "positive" if self.points > 0 else "negative"


Points = tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class CaseContent:
    """A case: its gold points, and its criteria in each measured set.

    ``criteria``: the criterion that each gold point is of, by number, where the gold set is split; else empty.
    """

    key: str
    gold: Points
    sets: tuple[Points, ...]
    criteria: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CoverageContent:
    """The cases of a run in the order of its frame, which is that of import."""

    cases: tuple[CaseContent, ...]

    @property
    def n_sets(self) -> int:
        """How many sets are measured."""
        return len(self.cases[0].sets) if self.cases else 0

    @property
    def has_shifted(self) -> bool:
        """Whether there is a next case: a single case would be held against its own criteria."""
        return len(self.cases) > 1

    @property
    def series(self) -> list[str]:
        """The series of the gold points, the measured sets first."""
        places = [str(place) for place in range(self.n_sets)]
        return [*places, ITSELF, *(f"{SHIFTED}{place}" for place in places if self.has_shifted)]

    def steps(self, place: int) -> Iterator[StepName]:
        """The steps of the case at ``place``: each gold point in each series, then each criterion against the points.

        A series without criteria for the case needs no answer: its steps are computed.
        """
        case = self.cases[place]
        for series in self.series:
            yield from (step_name(FORWARD, series, number) for number in range(1, len(case.gold) + 1))
        for own, criteria in enumerate(case.sets):
            yield from (step_name(BACK, str(own), number) for number in range(1, len(criteria) + 1))

    def criteria(self, place: int, series: str) -> Points:
        """The criteria that the gold points of the case at ``place`` are held against."""
        if series == ITSELF:
            return self.cases[place].gold
        if series.startswith(SHIFTED):
            return self.cases[(place + 1) % len(self.cases)].sets[int(series[1:])]
        return self.cases[place].sets[int(series)]

    def question(self, place: int, name: StepName) -> tuple[Point, Points]:
        """The point that a step asks about, and the numbered list that it is held against."""
        series, number = parsed(name.key)
        if name.stage == BACK:
            return self.cases[place].sets[int(series)][number - 1], self.cases[place].gold
        return self.cases[place].gold[number - 1], self.criteria(place, series)


def step_name(stage: str, series: str, number: int) -> StepName:
    """The name of a step."""
    return StepName(stage, f"{series}.{number}")


def parsed(key: str) -> tuple[str, int]:
    """The series and the number in the key of a step."""
    series, _dot, number = key.partition(".")
    return series, int(number)
