"""The percentile of a value among others, against scipy, by hand, and where it does not exist."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import percentileofscore

from consilium.statistics.estimate import Undefined
from consilium.statistics.percentile_rank import percentile_rank


def test_by_hand() -> None:
    # Of five, two are lower and one is equal: 100 · (2 + 1/2) / 5.
    figure = percentile_rank(0.7, [0.1, 0.5, 0.7, 0.9, 0.95])
    assert (figure.value, figure.n) == (50.0, 5)


@given(st.integers(0, 9), st.lists(st.integers(0, 9), min_size=2, max_size=40))
def test_as_scipy_with_ties_counting_half(value: int, others: list[int]) -> None:
    assert percentile_rank(value / 7, [other / 7 for other in others]).value == pytest.approx(
        percentileofscore([other / 7 for other in others], value / 7, kind="mean")
    )


def test_values_that_differ_by_rounding_are_equal() -> None:
    assert percentile_rank(0.1 + 0.2, [0.3, 0.3, 0.9, 0.9]).value == 25.0


def test_undefined_with_fewer_than_two_others_and_without_a_value() -> None:
    assert percentile_rank(0.5, [0.4]) == Undefined("1 of the 2 physicians needed have a figure", 1)
    assert percentile_rank(0.5, []) == Undefined("0 of the 2 physicians needed have a figure", 0)
    assert percentile_rank(None, [0.1, 0.2], reason="because") == Undefined("because", 2)
