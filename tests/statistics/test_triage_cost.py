"""The cost of triage errors, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.triage_cost import (
    answer_costs,
    cheapest,
    cost_parts,
    cost_values,
    crossing,
    worst_costs,
)

# 10 self-care, 6 in the middle, 4 emergencies: under by 1 and by 2 once each, over by 1 five times, by 2 once.
TABLE = np.array([[6.0, 3, 1], [0, 4, 2], [1, 1, 2]])


def test_costs_by_hand() -> None:
    assert cost_values(TABLE) == pytest.approx((5 * (1 + 2) + 5 + 2) / 20)
    assert cost_values(TABLE, 5, 0) == pytest.approx((5 * 2 + 6) / 20)
    assert cost_values(TABLE, 5, 2) == pytest.approx((5 * (1 + 4) + 5 + 4) / 20)
    assert cost_parts(TABLE) == (pytest.approx(3 / 20), pytest.approx(7 / 20))
    # The worst answers: self-care 2 over, the middle 1 under at 5, an emergency 2 under at 5.
    assert worst_costs([0, 1, 2], [0, 1, 2], 3).tolist() == [2, 5, 10]
    # A reference between the upper two of three levels: 1 under the lower one costs 5, over the upper one nothing.
    assert worst_costs([1], [2], 3).tolist() == [5]


def test_one_to_one_is_the_mean_distance() -> None:
    level = np.arange(3)
    distance = np.abs(level[:, None] - level[None, :])
    assert cost_values(TABLE, 1, 1) == pytest.approx((TABLE * distance).sum() / 20)


def test_a_right_answer_costs_nothing_at_any_power() -> None:
    for power in (0.0, 0.5, 1, 2):
        assert cost_values(np.eye(3), 5, power) == 0
    assert np.isnan(cost_values(np.zeros((3, 3))))


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_costs_are_the_same_where_they_cross(numbers: list[int]) -> None:
    under, over, other_under, other_over = numbers
    ratio = crossing((under, over), (other_under, other_over))
    if ratio is not None:
        assert ratio > 0
        assert under * ratio + over == pytest.approx(other_under * ratio + other_over)
    elif under != other_under:
        # Else one of them is dearer at every ratio above 0.
        assert (under - other_under) * (over - other_over) >= 0


def test_published_crossing() -> None:
    # Of 225 readings: over 64 and under 6, against over 12 and under 16, each by one level: alike at 5.2.
    assert crossing((6, 64), (16, 12)) == pytest.approx(5.2)


def test_who_is_the_cheapest_by_hand() -> None:
    # At r = 1: 28, 70, 44. The first costs 12 + 16 r, and meets 64 + 6 r at 5.2, before 30 + 14 r at 9.
    assert cheapest([(16, 12), (6, 64), (14, 30)], 1, 20) == [(1, 0), (pytest.approx(5.2), 1)]
    assert cheapest([(16, 12), (6, 64), (14, 30)], 6, 20) == [(6, 1)]
    assert cheapest([(16, 12), (6, 64)], 1, 5) == [(1, 0)]
    # Alike at the start: the one that costs less later. Alike throughout: the first.
    assert cheapest([(3, 1), (2, 2)], 1, 20) == [(1, 1)]
    assert cheapest([(3, 1), (3, 1)], 1, 20) == [(1, 0)]
    # Three that cross at one ratio: 3 r, 2 r + 2 and r + 4 at 2.
    assert cheapest([(3, 0), (2, 2), (1, 4)], 1, 20) == [(1, 0), (2, 2)]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=6))
def test_nobody_costs_less_than_the_cheapest(parts: list[tuple[int, int]]) -> None:
    steps = cheapest(parts, 1, 20)
    assert [ratio for ratio, _place in steps] == sorted({ratio for ratio, _place in steps})
    for ratio in np.linspace(1, 20, 39):
        place = [place for start, place in steps if start <= ratio + 1e-9][-1]
        costs = [under * ratio + over for under, over in parts]
        assert costs[place] == pytest.approx(min(costs))


def test_answers_where_the_panel_is_split() -> None:
    # Half of the votes for the lowest of three levels, half for the highest: the lowest answer is 2 under half of the
    # time, the middle one 1 under or 1 over, the highest 2 over.
    assert answer_costs([0.5, 0, 0.5]).tolist() == pytest.approx([5.0, 3.0, 1.0])
