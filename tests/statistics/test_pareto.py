"""Frontier and running best: against a search through all pairs, pandas, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.pareto import best_before, best_until, domination, on_frontier

# Few different values, so that equal costs and scores are common.
numbers = st.one_of(st.integers(0, 4).map(float), st.just(math.nan))
candidates = st.lists(st.tuples(numbers, numbers), max_size=12)


def is_beaten(own: tuple[float, float], other: tuple[float, float]) -> bool:
    """At least as good and at most as expensive, one strictly; nothing is known of NaN."""
    if any(math.isnan(value) for value in (*own, *other)):
        return False
    (cost, score), (other_cost, other_score) = own, other
    return other_cost <= cost and other_score >= score and (other_cost < cost or other_score > score)


@given(candidates)
def test_the_frontier_is_what_a_search_through_all_pairs_leaves(pairs: list[tuple[float, float]]) -> None:
    costs, scores = [cost for cost, _score in pairs], [score for _cost, score in pairs]
    expected = [
        not any(math.isnan(value) for value in own) and not any(is_beaten(own, other) for other in pairs)
        for own in pairs
    ]
    assert on_frontier(costs, scores).tolist() == expected
    assert domination(costs, scores).tolist() == [[is_beaten(own, other) for other in pairs] for own in pairs]


def test_by_hand() -> None:
    # Cost 1: 0.4. Cost 2: 0.6 and, equal to it, once more. Cost 3: 0.5 is beaten by 0.6 at 2. Cost 4: 0.6 is dearer.
    assert on_frontier([1, 2, 2, 3, 4, 5], [0.4, 0.6, 0.6, 0.5, 0.6, 0.9]).tolist() == [
        True, True, True, False, False, True,
    ]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-3, 9)), max_size=15))
def test_the_best_until_a_day_is_the_cumulative_maximum_of_pandas(rows: list[tuple[int, int]]) -> None:
    days, values = [day for day, _value in rows], [float(value) for _day, value in rows]
    by_day = pd.Series(values, index=days, dtype=float).groupby(level=0).max().sort_index().cummax()
    assert best_until(np.array(days, dtype=np.int64), values).tolist() == [by_day[day] for day in days]
    earlier = by_day.shift()
    places = best_before(np.array(days, dtype=np.int64), values)
    for day, place in zip(days, places.tolist(), strict=True):
        if place < 0:
            assert math.isnan(earlier[day])
        else:
            assert (values[place], days[place] < day) == (earlier[day], True)
