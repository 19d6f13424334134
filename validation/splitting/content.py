"""Points of a case: single statements, each of one criterion. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from consilium.core.limits import MAX_CRITERION_LENGTH
from consilium.core.phrases import Phrase
from validation.coverage.config import MAX_POINTS


@dataclass(frozen=True, slots=True)
class Statement:
    """A point, and the number of the criterion that it belongs to, from 1."""

    criterion: int
    text: str

    @classmethod
    def of(cls, stored: Sequence[Any]) -> Statement:
        """As a correction keeps it."""
        criterion, text = stored
        return cls(criterion, text)

    def stored(self) -> list[Any]:
        """As a correction keeps it."""
        return [self.criterion, self.text]


class UnusablePoints(ValueError):
    """Points that are none of these criteria; ``kind`` for the code, ``phrase`` for people and for models."""

    def __init__(self, kind: str, phrase: Phrase) -> None:
        self.kind = kind
        self.phrase = phrase
        super().__init__(str(phrase))


def points_as_they_are(criteria: Iterable[str]) -> list[Statement]:
    """Each criterion as one point."""
    return [Statement(number, text) for number, text in enumerate(criteria, 1)]


def checked_points(points: Iterable[Statement], n_criteria: int) -> list[Statement]:
    """The points by criterion, each text without blanks around it; `UnusablePoints` names the first fault."""
    checked = [Statement(point.criterion, point.text.strip()) for point in points]
    for point in checked:
        if not 1 <= point.criterion <= n_criteria:
            raise UnusablePoints("wrong_numbers", Phrase("The criteria are numbered 1 to %(n)s.", n=n_criteria))
        if not point.text:
            raise UnusablePoints("empty_text", Phrase("A point of criterion %(n)s has no text.", n=point.criterion))
        if len(point.text) > MAX_CRITERION_LENGTH:
            phrase = Phrase("A point of criterion %(n)s is longer than %(most)s characters.", n=point.criterion,
                            most=MAX_CRITERION_LENGTH)  # fmt: skip
            raise UnusablePoints("too_long", phrase)
    lost = sorted(set(range(1, n_criteria + 1)) - {point.criterion for point in checked})
    if lost:
        raise UnusablePoints("wrong_numbers", Phrase("Criterion %(n)s has no points.", n=lost[0]))
    if len(checked) > MAX_POINTS:
        raise UnusablePoints("too_many", Phrase("A case has at most %(n)s points.", n=MAX_POINTS))
    return sorted(checked, key=lambda point: point.criterion)
