"""What a run of trials is about: pairs and criteria by case, and the steps that judge them. Pure.

A *series* is a rubric set, by its place, or `WITHOUT` a rubric. The key of a step is series, place of the pair within
its case, order and number of the trial, such as ``0.2.r.1``: order ``r`` has the reference first, ``c`` the candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scoring.pipelines.kind import StepName
from validation.coverage.content import Points
from validation.models.trials import NO_RUBRIC, SIDE_BY_SIDE

WITHOUT = "n"  # the series without a rubric
ORDERS = REFERENCE_FIRST, CANDIDATE_FIRST = "r", "c"
MAX_SCORE = 10  # of a response that is scored without a rubric


@dataclass(frozen=True, slots=True)
class PairContent:
    """A pair as a run keeps it; ``id`` is its public id in this database."""

    id: str
    key: str
    kind: str
    axis: str
    reference: str
    candidate: str
    change: str
    why: str
    grade: str  # when the run began


@dataclass(frozen=True, slots=True)
class CaseContent:
    """A case with its tags and pairs, and its criteria in each set; without any, the set is not tried there."""

    key: str
    tags: tuple[str, ...]
    pairs: tuple[PairContent, ...]
    sets: tuple[Points, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial: the text that stands first is A."""

    series: str
    pair: int
    order: str
    number: int

    @classmethod
    def of(cls, key: str) -> Trial:
        """From the key of a step."""
        series, pair, order, number = key.split(".")
        return cls(series, int(pair), order, int(number))

    @property
    def step(self) -> StepName:
        """The name of its step."""
        stage = NO_RUBRIC if self.series == WITHOUT else SIDE_BY_SIDE
        return StepName(stage, f"{self.series}.{self.pair}.{self.order}.{self.number}")

    @property
    def is_reference_first(self) -> bool:
        """Whether A is the reference."""
        return self.order == REFERENCE_FIRST


@dataclass(frozen=True, slots=True)
class TrialContent:
    """The cases of a run in the order of import."""

    cases: tuple[CaseContent, ...]
    trials: int
    has_no_rubric: bool

    def series(self, case: CaseContent) -> list[str]:
        """The series that a case is tried in."""
        places = [str(place) for place, criteria in enumerate(case.sets) if criteria]
        return [*places, *([WITHOUT] if self.has_no_rubric else [])]

    def of_case(self, place: int) -> Iterator[Trial]:
        """The trials of the case at ``place``: each number in all series, pairs and orders before the next number."""
        case = self.cases[place]
        for number in range(self.trials):
            for series in self.series(case):
                for pair in range(len(case.pairs)):
                    for order in ORDERS:
                        yield Trial(series, pair, order, number)

    def steps(self, place: int) -> set[StepName]:
        """The steps of the case at ``place``."""
        return {trial.step for trial in self.of_case(place)}

    def texts(self, place: int, trial: Trial) -> tuple[str, str]:
        """The texts A and B of a trial."""
        pair = self.cases[place].pairs[trial.pair]
        texts = (pair.reference, pair.candidate)
        return texts if trial.is_reference_first else (texts[1], texts[0])

    def criteria(self, place: int, trial: Trial) -> Points:
        """The criteria of a trial; none without a rubric."""
        return () if trial.series == WITHOUT else self.cases[place].sets[int(trial.series)]


def points_range(criteria: Sequence[int]) -> tuple[int, int, int]:
    """Σ|p|, the least and the greatest total that criteria with these points can give."""
    return (
        sum(map(abs, criteria)),
        sum(points for points in criteria if points < 0),
        sum(points for points in criteria if points > 0),
    )
