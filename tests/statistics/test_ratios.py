"""Ratios over cases as figures."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_ratio
from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.intervals import CaseJackknife
from consilium.statistics.ratios import estimated, ratio_figures
from tests.statistics import by_hand

ABOVE, BELOW = [3, 5, 2, 6, 4, 5], [10, 10, 8, 12, 10, 10]


def columns(*values: list[int]) -> np.ndarray:
    return np.array(values, dtype=float).T


def test_value_n_and_ends_of_each_slice() -> None:
    first, empty = ratio_figures(columns(ABOVE, [0] * 6), columns(BELOW, [0] * 6), rule=CaseJackknife())
    assert isinstance(first, Estimate)
    assert (first.value, first.n) == (25 / 60, 60)
    assert (first.low, first.high) == pytest.approx(by_hand.ratio_ends(ABOVE, BELOW))
    assert first.effective == pytest.approx(by_hand.effective_number(BELOW))
    assert isinstance(empty, Undefined)
    assert empty.reason == Reason.NO_RESPONSES()


def test_without_a_rule_there_is_no_interval() -> None:
    figure = ratio_figures(columns(ABOVE), columns(BELOW))[0]
    assert isinstance(figure, Estimate)
    assert (figure.low, figure.high) == (None, None)


def test_bounds_of_the_ratio() -> None:
    figure = ratio_figures(columns(ABOVE), columns(BELOW), rule=CaseJackknife(), bounds=(-1, 2))[0]
    assert isinstance(figure, Estimate)
    assert (figure.low, figure.high) == pytest.approx(by_hand.ratio_ends(ABOVE, BELOW, -1, 2))


def test_clipped_figure_says_from_where() -> None:
    below = case_ratio(columns([-3, -1, -2, -1, -2, -3]), columns([4] * 6), bounds=(-2, 1), clip=(0, 1))
    figure = estimated(below, n=[24], rule=CaseJackknife())[0]
    assert isinstance(figure, Estimate)
    assert (figure.value, figure.low, figure.high) == (0, 0, 0)
    low, high = by_hand.ratio_ends([-3, -1, -2, -1, -2, -3], [4] * 6, -2, 1)
    assert Reason.CLIPPED(value="-0.5") in figure.note
    assert Reason.CLIPPED_INTERVAL(low=f"{low:.6g}", high=f"{high:.6g}") in figure.note


def test_no_slices() -> None:
    assert ratio_figures(np.zeros((3, 0)), np.zeros((3, 0)), rule=CaseJackknife()) == []
