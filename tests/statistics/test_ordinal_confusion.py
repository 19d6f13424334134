"""Shares of a table of ordered levels, by hand and by their symmetry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from consilium.statistics import ordinal_confusion as confusion

# References in the rows, advice in the columns: 10 self-care, 6 in the middle, 4 emergencies.
TABLE = np.array([[6.0, 3, 1], [0, 4, 2], [1, 1, 2]])
TABLES = arrays(np.float64, (4, 4), elements=st.integers(0, 9).map(float)).filter(lambda table: table.sum() > 0)


def test_shares_by_hand() -> None:
    shares = {
        "accuracy": 12 / 20, "over": 6 / 20, "under": 2 / 20, "severe_over": 1 / 20, "severe_under": 1 / 20,
        "within_one": 18 / 20, "safety": 18 / 20, "inclination": 6 / 8,
        # Over by 1 five times, by 2 once; under by 1 once, by 2 once.
        "bias": (5 + 2 - 1 - 2) / 20,
    }  # fmt: skip
    for name, share in shares.items():
        assert getattr(confusion, f"{name}_values")(TABLE) == pytest.approx(share), name
    assert confusion.recall_values(TABLE) == pytest.approx([0.6, 4 / 6, 0.5])


def test_undefined() -> None:
    empty = np.zeros((3, 3))
    for name in ("accuracy", "over", "under", "severe_over", "within_one", "safety", "bias", "inclination"):
        assert np.isnan(getattr(confusion, f"{name}_values")(empty)), name
    right = np.eye(3)
    assert np.isnan(confusion.inclination_values(right))
    assert confusion.over_values(right) == 0
    two = np.array([[1.0, 1], [1, 1]])
    assert np.isnan(confusion.severe_over_values(two)) and np.isnan(confusion.severe_under_values(two))
    assert confusion.recall_values(np.array([[2.0, 0], [0, 0]]))[0] == 1
    assert np.isnan(confusion.recall_values(np.array([[2.0, 0], [0, 0]]))[1])


@given(TABLES)
def test_levels_in_reverse_exchange_over_and_under(table: np.ndarray) -> None:
    reverse = table[::-1, ::-1]
    for first, second in (("over", "under"), ("severe_over", "severe_under")):
        first_values, second_values = (getattr(confusion, f"{name}_values") for name in (first, second))
        assert first_values(reverse) == pytest.approx(second_values(table))
    assert confusion.bias_values(reverse) == pytest.approx(-confusion.bias_values(table))
    assert confusion.accuracy_values(reverse) == pytest.approx(confusion.accuracy_values(table))


def test_many_tables_at_once() -> None:
    stack = np.stack([TABLE, 2 * TABLE, np.zeros((3, 3))])
    assert confusion.over_values(stack)[:2] == pytest.approx([0.3, 0.3])
    assert np.isnan(confusion.over_values(stack)[2])
