"""Two rubric sets beside each other: their cases, and how many criteria, points and axes they have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce
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


@dataclass(frozen=True, slots=True)
class OfCase:
    """What a set has for a case: numbers of criteria and of axes, and sums of points."""

    criteria: int
    positive_criteria: int
    positive: int
    negative: int
    axes: int


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
            "cases_alone": _("Cases only in this set"),
            "criteria": _("Criteria"),
            "criteria_a_case": _("Criteria per case, mean"),
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


def _by_case(rubric_set: RubricSet) -> dict[str, OfCase]:
    """What a set has, by the key of the case, in the order of import."""
    rows = RubricSetItem.objects.filter(rubric_set=rubric_set).order_by("case_id").values("case_id")
    counted = rows.annotate(
        n=Count("pk"),
        n_positive=Count("pk", filter=Q(points__gt=0)),
        positive=Coalesce(Sum("points", filter=Q(points__gt=0)), 0),
        negative=Coalesce(Sum("points", filter=Q(points__lt=0)), 0),
        n_axes=Count("axis", distinct=True, filter=~Q(axis="")),
    )
    columns = ("case__key", "n", "n_positive", "positive", "negative", "n_axes")
    return {key: OfCase(*numbers) for key, *numbers in counted.values_list(*columns)}


def _by_axis(rubric_set: RubricSet) -> dict[str, int]:
    """How many criteria of each axis a set has."""
    rows = RubricSetItem.objects.filter(rubric_set=rubric_set).order_by().values("axis").annotate(n=Count("pk"))
    return dict(rows.values_list("axis", "n"))


def _same_criteria(first: RubricSet, second: RubricSet) -> dict[str, int]:
    """How many criteria of a case have the same text and points in both sets, by the key of the case.

    A criterion that stands twice in one set and once in the other is counted once.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH counted AS (
                SELECT rubric_set_id, case_id, points, text, count(*) AS n FROM validation_rubricsetitem
                WHERE rubric_set_id IN (%(first)s, %(second)s) GROUP BY rubric_set_id, case_id, points, text
            )
            SELECT c.key, sum(least(a.n, b.n))::bigint FROM counted a
            JOIN counted b ON b.case_id = a.case_id AND b.points = a.points AND b.text = a.text
            JOIN rubrics_case c ON c.id = a.case_id
            WHERE a.rubric_set_id = %(first)s AND b.rubric_set_id = %(second)s GROUP BY c.key
            """,
            {"first": first.pk, "second": second.pk},
        )
        return dict(cursor.fetchall())


def compare(first: RubricSet, second: RubricSet) -> Comparison:
    """Compare two sets of one benchmark. A set that is compared with itself differs in nothing."""
    by_case = _by_case(first), _by_case(second)
    by_axis = _by_axis(first), _by_axis(second)
    same = _same_criteria(first, second)
    both = [key for key in by_case[0] if key in by_case[1]]
    alone = [key for key in by_case[0] if key not in by_case[1]], [key for key in by_case[1] if key not in by_case[0]]

    def each(value: str) -> tuple[int, int]:
        total, other = (sum(getattr(row, value) for row in rows.values()) for rows in by_case)
        return total, other

    criteria, positive_criteria = each("criteria"), each("positive_criteria")
    n_cases = len(by_case[0]), len(by_case[1])
    pairs: dict[str, tuple[int | float, int | float]] = {
        "cases": n_cases,
        "cases_in_both": (len(both), len(both)),
        "cases_alone": (len(alone[0]), len(alone[1])),
        "criteria": criteria,
        "criteria_a_case": (criteria[0] / n_cases[0], criteria[1] / n_cases[1]),
        "positive_criteria": positive_criteria,
        "negative_criteria": (criteria[0] - positive_criteria[0], criteria[1] - positive_criteria[1]),
        "positive_points": each("positive"),
        "negative_points": each("negative"),
        "same_criteria": (sum(same.values()), sum(same.values())),
    }
    axes = sorted({*by_axis[0], *by_axis[1]}, key=lambda axis: (not axis, axis))
    return Comparison(
        rows=[Row(measure, *pairs[measure]) for measure in MEASURES],
        axes=[
            Row(
                "criteria_of_axis",
                by_axis[0].get(axis, 0),
                by_axis[1].get(axis, 0),
                axis,
                "" if axis else "without an axis",
            )
            for axis in axes
        ],
        cases=[
            _case_row(key, by_case[0].get(key), by_case[1].get(key), same.get(key, 0))
            for key in [*by_case[0], *alone[1]]
        ],
        alone=alone,
    )


def _case_row(key: str, first: OfCase | None, second: OfCase | None, same: int) -> tuple[Any, ...]:
    """A row of `CASE_COLUMNS`; what a set has not is empty."""

    def each(value: str) -> list[Any]:
        return [None if row is None else getattr(row, value) for row in (first, second)]

    in_both = first is not None and second is not None
    columns = (*each("criteria"), *each("positive"), *each("negative"), *each("axes"))
    return (key, *columns, same if in_both else None)
