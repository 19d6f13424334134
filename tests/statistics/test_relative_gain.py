"""Gains by hand: three figures that are all called relative improvement."""

from __future__ import annotations

import pytest

from consilium.statistics.estimate import Undefined
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.relative_gain import gain_figures, gain_of_upper_bound, length_ratio


def test_by_hand() -> None:
    own = gain_figures([20, 80, 0, -20], [40, 80, 10, -30], rule=DEFAULT_RULE)
    # Means 20 and 25: 5/20, 5/80; own gains 1 and 0 of the two cases above 0.
    figures = (own.base, own.refined, own.gain, own.relative, own.headroom, own.relative_of_cases)
    assert [figure.value for figure in figures] == pytest.approx([20, 25, 5, 1 / 4, 1 / 16, 1 / 2])
    assert (own.n, own.n_relative, own.improved, own.same, own.worse) == (4, 2, 2, 1, 1)
    # 0.1 + 0.2 is 0.3 but for rounding.
    assert gain_figures([0.3], [0.1 + 0.2], rule=DEFAULT_RULE).same == 1


def test_what_is_undefined() -> None:
    none = gain_figures([], [], rule=DEFAULT_RULE)
    assert none.gain == none.relative == Undefined("no case with both scores")
    assert gain_figures([-5, 0], [10, 10], rule=DEFAULT_RULE).relative == Undefined(
        "the mean base score is not above 0", 2
    )
    assert gain_figures([100], [100], rule=DEFAULT_RULE).headroom == Undefined("the mean base score is 100", 1)
    assert gain_of_upper_bound([1, 2], [5, 1]).value == 0.5
    assert gain_of_upper_bound([1, 2], [5, -5]) == Undefined("the upper bound does not gain", 2)
    assert gain_of_upper_bound([], []) == Undefined("no case that the upper bound has too")
    assert length_ratio([10, float("nan"), 30], [20, 99, 40]).value == 60 / 40
    assert length_ratio([0], [20]) == Undefined("no case with both lengths", 1)
