"""The relative level index by hand, from the formula of Kopka et al. 2023 as it is written."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.relative_level_index import relative_level_index


def by_the_formula(right: list[list[float]], candidate: int) -> float:
    """Σ [correct · (1 - p) - wrong · p] / n, rescaled to 0 to 100."""
    total = 0.0
    for case in right:
        p = sum(case) / len(case)
        total += case[candidate] * (1 - p) - (1 - case[candidate]) * p
    return (total / len(right) + 1) / 2 * 100


def test_three_cases_by_hand() -> None:
    """A alone is right on the first, both on the second, nobody on the third: x is (0.5 + 0 + 0) / 3 for A."""
    right = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert relative_level_index(right).whole() == pytest.approx([100 * (1 / 6 + 1) / 2, 100 * (-1 / 6 + 1) / 2])


def test_shares_of_readings_as_the_formula_has_them() -> None:
    right = [[1.0, 0.4, 0.0], [0.2, 0.2, 0.8], [0.6, 1.0, 1.0], [0.0, 0.0, 0.2]]
    values = relative_level_index(np.array(right)).whole()
    assert values == pytest.approx([by_the_formula(right, candidate) for candidate in range(3)])
    assert values.mean() == pytest.approx(50)


def test_only_cases_that_all_have_count() -> None:
    right = np.array([[1.0, 0.0], [1.0, np.nan], [0.0, 1.0], [np.nan, 1.0], [1.0, 0.0]])
    whole = relative_level_index(right)
    assert whole.whole() == pytest.approx(relative_level_index(right[[0, 2, 4]]).whole())
    assert whole.behind.sum(axis=0).tolist() == [3, 3]


def test_alone_or_without_a_shared_case_there_is_none() -> None:
    assert np.isnan(relative_level_index(np.array([[1.0], [0.0]])).whole()).all()
    assert np.isnan(relative_level_index(np.array([[1.0, np.nan], [np.nan, 1.0]])).whole()).all()
