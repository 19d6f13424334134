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
        "right": 12 / 20, "over": 6 / 20, "under": 2 / 20, "severe_over": 1 / 20, "severe_under": 1 / 20,
        "within_one": 18 / 20, "safe": 18 / 20, "error": 8 / 20, "every": 1.0,
        # Over by 1 five times, by 2 once; under by 1 once, by 2 once.
        "steps": (5 + 2 - 1 - 2) / 20,
    }  # fmt: skip
    for name, share in shares.items():
        assert confusion.mean_of(TABLE, getattr(confusion, name)(3)) == pytest.approx(share), name
    inclination = confusion.mean_of(TABLE, confusion.over(3), confusion.error(3))
    assert inclination == pytest.approx(6 / 8)
    assert confusion.recall_values(TABLE) == pytest.approx([0.6, 4 / 6, 0.5])


def test_undefined() -> None:
    assert np.isnan(confusion.mean_of(np.zeros((3, 3)), confusion.over(3)))
    assert np.isnan(confusion.mean_of(np.eye(3), confusion.over(3), confusion.error(3)))
    assert confusion.mean_of(np.eye(3), confusion.over(3)) == 0
    # A severe error needs three levels.
    for cells in (confusion.severe_over, confusion.severe_under):
        assert np.isnan(confusion.mean_of(np.ones((2, 2)), cells(2)))
    recall = confusion.recall_values(np.array([[2.0, 0], [0, 0]]))
    assert recall[0] == 1 and np.isnan(recall[1])


@given(TABLES)
def test_levels_in_reverse_exchange_over_and_under(table: np.ndarray) -> None:
    def share(of: np.ndarray, name: str) -> float:
        return float(confusion.mean_of(of, getattr(confusion, name)(4)))

    reverse = table[::-1, ::-1]
    for first, second in (("over", "under"), ("severe_over", "severe_under"), ("right", "right")):
        assert share(reverse, first) == pytest.approx(share(table, second))
    assert share(reverse, "steps") == pytest.approx(-share(table, "steps"))


def test_many_tables_at_once() -> None:
    stack = np.stack([TABLE, 2 * TABLE, np.zeros((3, 3))])
    shares = confusion.mean_of(stack, confusion.over(3))
    assert shares[:2] == pytest.approx([0.3, 0.3])
    assert np.isnan(shares[2])
