"""Tables counted while the cases are written: slices, splits, and the table of criteria."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from releases.content.record import ReleasedCase
from rubrics.tables.columns import CASE, COLUMNS, TEXT_COLUMNS, joined

SLICE_COLUMNS = ("slice", "n_cases", "n_criteria", "n_positive_criteria", "positive_points", "negative_points")
# The same columns as the table of the rubric editor, so that the file can be imported.
RUBRIC_COLUMNS = (CASE, *COLUMNS)
RUBRIC_TEXT = TEXT_COLUMNS
# Splits by attributes of a case; the tags of each prefix make one split.
BY_FIELD = ("difficulty", "register", "language")
BY_TAG = ("theme", "specialty", "task")


def splits_of(case: ReleasedCase) -> Iterator[tuple[str, str]]:
    """(split, part) of all parts that a case is in: ``("difficulty", "high")``, ``("theme", "hedging")``."""
    for name in BY_FIELD:
        if value := getattr(case, name):
            yield name, value
    for name in BY_TAG:
        for label in case.labels(name):
            if label:
                yield name, label


def rubric_rows(case: ReleasedCase) -> Iterator[tuple[Any, ...]]:
    """`RUBRIC_COLUMNS` of each criterion."""
    for each in case.criteria:
        locators = joined([place.locator for place in each.cited])
        yield (
            *(case.key, each.position, each.text, each.points),
            *(joined(each.tags), each.source, each.element, each.expectation, each.bank, locators),
        )


@dataclass(slots=True)
class _Count:
    cases: int = 0
    criteria: int = 0
    positive: int = 0
    positive_points: int = 0
    negative_points: int = 0


@dataclass(slots=True)
class Slices:
    """Cases and criteria by slice: all, fields and tags of cases, tags of criteria, named slices."""

    counts: defaultdict[str, _Count] = field(default_factory=lambda: defaultdict(_Count))

    def add(self, case: ReleasedCase, named: list[str]) -> None:
        """Count a case; ``named`` are the named slices that it is in."""
        fields = [f"{name}:{getattr(case, name)}" for name in BY_FIELD if getattr(case, name)]
        for name in dict.fromkeys(["all", *fields, *case.tags, *(f"subset:{slug}" for slug in named)]):
            self._count(name, case, set())
        for tag in sorted({tag for each in case.criteria for tag in each.tags}):
            self._count(tag, case, {tag})

    def _count(self, name: str, case: ReleasedCase, tags: set[str]) -> None:
        count = self.counts[name]
        count.cases += 1
        for each in case.criteria:
            if tags and not tags.intersection(each.tags):
                continue
            count.criteria += 1
            if each.points > 0:
                count.positive += 1
                count.positive_points += each.points
            else:
                count.negative_points += each.points

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """`SLICE_COLUMNS`: all first, the others by name."""
        for name in sorted(self.counts, key=lambda name: (name != "all", name)):
            count = self.counts[name]
            yield (name, count.cases, count.criteria, count.positive, count.positive_points, count.negative_points)
