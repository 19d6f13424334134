"""Two rubric sets beside each other: their cases, and how many criteria, points and axes they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from validation.models import RubricSet, RubricSetItem

COLUMNS = ("measure", "axis", "first", "second", "difference", "note")
TEXT_COLUMNS = ("axis", "note")
CASE_COLUMNS = (
    *("case", "criteria_first", "criteria_second", "positive_first", "positive_second"),
    *("negative_first", "negative_second", "axes_first", "axes_second", "same_criteria"),
)
CASE_TEXT = ("case",)
MEASURES = (
    *("cases", "cases_in_both", "cases_alone", "criteria", "criteria_a_case", "positive_criteria"),
    *("negative_criteria", "positive_points", "negative_points", "same_criteria"),
)


@dataclass(slots=True)
class Totals:
    """What a set has for a case, or for all."""

    criteria: int = 0
    positive_criteria: int = 0
    positive: int = 0
    negative: int = 0
    criteria_by_axis: Counter[str] = field(default_factory=Counter)
    texts: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, text: str, points: int, axis: str) -> None:
        """Count a criterion."""
        self.criteria += 1
        self.positive_criteria += points > 0
        self.positive += max(points, 0)
        self.negative += min(points, 0)
        self.criteria_by_axis[axis] += 1
        self.texts[text, points] += 1


@dataclass(frozen=True, slots=True)
class Row:
    """A measure of both sets; ``axis`` for those of one axis. A measure that a set does not have says why in a note."""

    measure: str
    first: int | float | None
    second: int | float | None
    axis: str = ""
    note: str = ""

    @property
    def difference(self) -> int | float | None:
        """The second minus the first."""
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def label(self) -> str:
        """The measure in the reader's language."""
        labels = {
            "cases": _("Cases"),
            "cases_in_both": _("Cases in both sets"),
            "cases_alone": _("Cases in this set alone"),
            "criteria": _("Criteria"),
            "criteria_a_case": _("Criteria a case, mean"),
            "positive_criteria": _("Criteria with positive points"),
            "negative_criteria": _("Criteria with negative points"),
            "positive_points": _("Sum of positive points"),
            "negative_points": _("Sum of negative points"),
            "same_criteria": _("Criteria with the same text and points in the other set"),
        }
        return labels.get(self.measure, self.measure)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The measures, those of each axis, and a row for each case of either set."""

    rows: list[Row]
    axes: list[Row]
    cases: list[tuple[Any, ...]]
    alone: tuple[list[str], list[str]]  # keys of cases that only the first and only the second set has

    def csv_rows(self) -> Iterator[tuple[Any, ...]]:
        """Rows of `COLUMNS`."""
        for row in [*self.rows, *self.axes]:
            yield row.measure, row.axis, row.first, row.second, row.difference, row.note


def _totals(rubric_set: RubricSet) -> tuple[Totals, dict[str, Totals]]:
    whole: Totals = Totals()
    by_case: dict[str, Totals] = {}
    rows = RubricSetItem.objects.filter(rubric_set=rubric_set).order_by("case_id", "position")
    for key, text, points, axis in rows.values_list("case__key", "text", "points", "axis").iterator(chunk_size=5000):
        whole.add(text, points, axis)
        by_case.setdefault(key, Totals()).add(text, points, axis)
    return whole, by_case


def compare(first: RubricSet, second: RubricSet) -> Comparison:
    """Compare two sets of one benchmark. A set that is compared with itself differs in nothing."""
    (all_first, by_first), (all_second, by_second) = _totals(first), _totals(second)
    both = [key for key in by_first if key in by_second]
    same = {key: (by_first[key].texts & by_second[key].texts).total() for key in both}
    alone = [key for key in by_first if key not in by_second], [key for key in by_second if key not in by_first]
    n_same = sum(same.values())
    pairs: Mapping[str, tuple[int | float, int | float]] = {
        "cases": (len(by_first), len(by_second)),
        "cases_in_both": (len(both), len(both)),
        "cases_alone": (len(alone[0]), len(alone[1])),
        "criteria": (all_first.criteria, all_second.criteria),
        "criteria_a_case": (all_first.criteria / len(by_first), all_second.criteria / len(by_second)),
        "positive_criteria": (all_first.positive_criteria, all_second.positive_criteria),
        "negative_criteria": (
            all_first.criteria - all_first.positive_criteria,
            all_second.criteria - all_second.positive_criteria,
        ),
        "positive_points": (all_first.positive, all_second.positive),
        "negative_points": (all_first.negative, all_second.negative),
        "same_criteria": (n_same, n_same),
    }
    axes = sorted({*all_first.criteria_by_axis, *all_second.criteria_by_axis}, key=lambda axis: (not axis, axis))
    return Comparison(
        rows=[Row(measure, *pairs[measure]) for measure in MEASURES],
        axes=[
            Row(
                "criteria_of_axis",
                all_first.criteria_by_axis[axis],
                all_second.criteria_by_axis[axis],
                axis,
                "" if axis else "without an axis",
            )
            for axis in axes
        ],
        cases=[_case_row(key, by_first.get(key), by_second.get(key), same.get(key)) for key in [*by_first, *alone[1]]],
        alone=alone,
    )


def _case_row(key: str, first: Totals | None, second: Totals | None, same: int | None) -> tuple[Any, ...]:
    """A row of `CASE_COLUMNS`; what a set has not is empty."""

    def each(value: str) -> list[Any]:
        return [None if totals is None else getattr(totals, value) for totals in (first, second)]

    n_axes = [None if totals is None else len({*totals.criteria_by_axis} - {""}) for totals in (first, second)]
    return (key, *each("criteria"), *each("positive"), *each("negative"), *n_axes, same)
