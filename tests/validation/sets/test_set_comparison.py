"""Two sets beside each other, counted by hand."""

from __future__ import annotations

import pytest

from tests.validation.sets.conftest import Import, lines_of
from validation.sets.comparison import compare

pytestmark = pytest.mark.django_db


def test_two_sets(import_set: Import) -> None:
    first = import_set(
        lines_of(
            {"case": "a", "rubrics": [_of("One", 5, "safety"), _of("Two", -3, "safety"), _of("Same", 2)]},
            {"case": "b", "rubrics": [_of("Same", 2)]},
        ),
        name="first",
    )
    second = import_set(
        lines_of(
            {"case": "a", "rubrics": [_of("Same", 2), _of("Same", 2), _of("One", 4, "accuracy")]},
            {"case": "c", "rubrics": [_of("Three", -1, "accuracy")]},
        ),
        name="second",
    )
    assert compare(second, first).rows[-1].first == 1  # whichever of them has it twice
    comparison = compare(first, second)
    assert [(row.measure, row.first, row.second, row.difference) for row in comparison.rows] == [
        ("cases", 2, 2, 0),
        ("cases_in_both", 1, 1, 0),
        ("cases_alone", 1, 1, 0),
        ("criteria", 4, 4, 0),
        ("criteria_a_case", 2, 2, 0),
        ("positive_criteria", 3, 3, 0),
        ("negative_criteria", 1, 1, 0),
        ("positive_points", 9, 8, -1),
        ("negative_points", -3, -1, 2),
        ("same_criteria", 1, 1, 0),
    ]
    assert [(row.axis, row.first, row.second) for row in comparison.axes] == [
        ("accuracy", 0, 2),
        ("safety", 2, 0),
        ("", 2, 2),
    ]
    assert comparison.cases == [
        ("a", 3, 3, 7, 8, -3, 0, 1, 1, 1),
        ("b", 1, None, 2, None, 0, None, 0, None, None),
        ("c", None, 1, None, 0, None, -1, None, 1, None),
    ]
    assert comparison.alone == (["b"], ["c"])


def test_a_set_beside_itself_differs_in_nothing(import_set: Import) -> None:
    row = import_set(lines_of({"case": "a", "rubrics": [_of("One", 5, "safety"), _of("Two", -3)]}))
    comparison = compare(row, row)
    assert {each.difference for each in [*comparison.rows, *comparison.axes]} == {0}
    assert comparison.alone == ([], [])
    assert comparison.rows[-1].first == 2


def _of(text: str, points: int, axis: str = "") -> dict[str, object]:
    return {"criterion": text, "points": points, "axis": axis}
