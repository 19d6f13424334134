"""Differences from two intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.intervals import CaseJackknife
from consilium.statistics.jackknife import jackknife
from consilium.statistics.mover import correlations, difference_ends
from tests.statistics import by_hand
from tests.statistics.test_jackknife import OTHER, RATIO, ratio

# Value and ends of OTHER and of RATIO.
BOTH = ((0.52, 0.317074, 0.716535), (0.4, 0.272133, 0.543117))
CASES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=12)


def test_published_values() -> None:
    r = correlations(*(jackknife(ratio(cases)).deviations() for cases in (OTHER, RATIO)))
    # G* of these sizes is below 5, where the rule shows no interval: the ends are computed all the same.
    ends = difference_ends(*((np.array([v]), np.array([lo]), np.array([hi])) for v, lo, hi in BOTH), r)
    assert r[0] == pytest.approx(0.648293, abs=5.1e-7)
    assert (ends[0][0], ends[1][0]) == pytest.approx((-0.034938, 0.269641), abs=1e-6)


@pytest.mark.slow
@given(CASES)
def test_formula_and_sign(cases: list[tuple[int, int]]) -> None:
    first, second = ratio([(a, 9) for a, _ in cases]), ratio([(b, 9) for _, b in cases])
    rule = CaseJackknife()
    apart, back = rule.differences(first, second), rule.differences(second, first)
    assert (apart.low[0], apart.high[0]) == pytest.approx((-back.high[0], -back.low[0]), abs=1e-9)
    shown = [(figures.whole()[0], rule.intervals(figures)) for figures in (first, second)]
    ends, other_ends = ((value, own.low[0], own.high[0]) for value, own in shown)
    without = [
        by_hand.less_mean(by_hand.ratio_without(column, [9] * len(cases))) for column in zip(*cases, strict=True)
    ]
    deviations = list(zip(*without, strict=True))
    if any(0 < sum(each**2 for each in column) < 1e-20 for column in without):
        return  # Spread by rounding alone: r is not a number to compare.
    expected = by_hand.difference_ends(ends, other_ends, deviations)
    assert (apart.low[0], apart.high[0]) == pytest.approx(expected, abs=1e-7)
