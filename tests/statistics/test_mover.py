"""Differences from two intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_ratio
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
    assert (apart.low[0], apart.high[0]) == pytest.approx((-back.high[0], -back.low[0]), abs=1e-9, nan_ok=True)
    shown = [(figures.whole()[0], rule.intervals(figures)) for figures in (first, second)]
    ends, other_ends = ((value, own.low[0], own.high[0]) for value, own in shown)
    without = [
        by_hand.less_mean(by_hand.ratio_without(column, [9] * len(cases))) for column in zip(*cases, strict=True)
    ]
    deviations = list(zip(*without, strict=True))
    if any(0 < sum(each**2 for each in column) < 1e-20 for column in without):
        return  # Spread by rounding alone: r is not a number to compare.
    if max(abs(a - b) for a, b in deviations) < 1e-12 and any(deviations[0]):
        assert np.isnan(apart.low[0])
        return
    expected = by_hand.difference_ends(ends, other_ends, deviations)
    assert (apart.low[0], apart.high[0]) == pytest.approx(expected, abs=1e-7)


def test_a_part_of_the_cases_and_all_of_them() -> None:
    """All cases of the whole count in its sum of squares, those of the part and those beside it."""
    met = [2, 5, 4, 7, 3, 8, 6, 1, 5, 9, 4, 6]
    part = ratio([(a, 9) for a in met[:6]] + [(0, 0)] * 6)
    whole = ratio([(a, 9) for a in met])
    rule = CaseJackknife()
    apart = rule.differences(part, whole)
    of_part = [*by_hand.less_mean(by_hand.ratio_without(met[:6], [9] * 6)), *[0.0] * 6]
    of_whole = by_hand.less_mean(by_hand.ratio_without(met, [9] * 12))
    ends = [
        (figures.whole()[0], own.low[0], own.high[0])
        for figures, own in ((figures, rule.intervals(figures)) for figures in (part, whole))
    ]
    expected = by_hand.difference_ends(*ends, list(zip(of_part, of_whole, strict=True)))
    assert (apart.low[0], apart.high[0]) == pytest.approx(expected, abs=1e-9)


def test_figures_that_change_alike_without_each_case_have_no_interval() -> None:
    met = [2, 5, 4, 7, 3, 8, 6, 1]
    rule = CaseJackknife()
    first, tenths = ratio([(a, 9) for a in met]), ratio([(a / 10, 9 / 10) for a in met])
    for second in (first, tenths, ratio([(a + 1, 9) for a in met])):
        apart = rule.differences(first, second)
        assert np.isnan([apart.low[0], apart.high[0]]).all()
        assert apart.reason(0) == Reason.INTERVAL_CHANGES_ALIKE()
    # One decision in one case is enough for a difference.
    other = rule.differences(first, ratio([(a, 9) for a in [3, *met[1:]]]))
    assert other.low[0] < -1 / 72 < other.high[0]
    # Two that are always right: nothing changes, and mid-p says how far they may be apart.
    both = ratio([(9, 9)] * 8)
    assert rule.differences(both, both).low[0] == pytest.approx(-(1 - 0.05 ** (1 / 8)), abs=1e-6)


@pytest.mark.slow
def test_the_difference_of_a_family_and_the_whole_holds_its_truth() -> None:
    rng = np.random.default_rng(18)
    met = rng.binomial(30, 1 / (1 + np.exp(-rng.normal(size=(40, 1000)))))
    in_family = np.arange(40)[:, None] < 10
    family = case_ratio(np.where(in_family, met, 0), np.where(in_family, 30, np.zeros(met.shape)))
    apart = CaseJackknife().differences(family, case_ratio(met, np.full(met.shape, 30)))
    assert ((apart.low <= 0) & (apart.high >= 0)).mean() >= 0.93
