"""Risk and odds ratios over cases: values and intervals against scipy, where each case has one response."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats.contingency import odds_ratio, relative_risk

from consilium.statistics.estimate import Undefined
from consilium.statistics.intervals import CaseJackknife, PercentileBootstrap
from consilium.statistics.risk_ratio import ratio_figures_of_groups

RULE = CaseJackknife()


def sums_of(events: int, units: int, events_rest: int, units_rest: int) -> list[np.ndarray]:  # type: ignore[type-arg]
    """Each response is a case: columns of events and units of both groups, (cases, 1)."""
    n = units + units_rest
    group = np.arange(n) < units
    event = np.zeros(n, dtype=bool)
    event[:events], event[units : units + events_rest] = True, True
    return [each.astype(float)[:, None] for each in (event & group, group, event & ~group, ~group)]


@pytest.mark.parametrize(("table"), [(60, 150, 90, 450), (20, 200, 45, 220), (130, 300, 120, 290)])
def test_values_and_intervals_are_those_of_scipy(table: tuple[int, int, int, int]) -> None:
    (ratios,) = ratio_figures_of_groups(*sums_of(*table), rule=RULE)
    a, n1, c, n0 = table
    risk = relative_risk(a, n1, c, n0)
    odds = odds_ratio(np.array([[a, n1 - a], [c, n0 - c]]), kind="sample")
    for figure, value, ends in (
        (ratios.risk, risk.relative_risk, risk.confidence_interval(0.95)),
        (ratios.odds, odds.statistic, odds.confidence_interval(0.95)),
    ):
        assert figure.value == pytest.approx(value)
        assert figure.n == n1 + n0
        # Katz' and Woolf's intervals have a normal quantile where the jackknife has one of t.
        assert figure.low is not None
        assert figure.high is not None
        assert np.log(figure.low) == pytest.approx(np.log(ends.low), abs=0.03)
        assert np.log(figure.high) == pytest.approx(np.log(ends.high), abs=0.03)


@pytest.mark.parametrize(
    ("table", "has_risk"),
    [((0, 10, 4, 10), False), ((4, 10, 0, 10), False), ((4, 10, 0, 0), False), ((10, 10, 4, 10), True)],
)
def test_a_ratio_of_nothing_or_infinity_is_undefined(table: tuple[int, int, int, int], has_risk: bool) -> None:
    (ratios,) = ratio_figures_of_groups(*sums_of(*table), rule=RULE)
    assert isinstance(ratios.odds, Undefined)
    assert ratios.odds.reason
    assert isinstance(ratios.risk, Undefined) is not has_risk


def test_without_a_slice_there_is_nothing() -> None:
    empty = np.zeros((3, 0))
    assert ratio_figures_of_groups(empty, empty, empty, empty, rule=RULE) == []


def test_an_interval_takes_10_effective_cases_on_each_side() -> None:
    for first, second, has in ((10, 60, True), (9, 60, False), (60, 9, False), (60, 10, True)):
        (ratios,) = ratio_figures_of_groups(*sums_of(first // 3, first, second // 3, second), rule=RULE)
        for figure in (ratios.risk, ratios.odds):
            assert figure.value is not None
            assert figure.effective == pytest.approx(min(first, second))
            assert (figure.low is not None) is has
            assert ("9.0 of the 10 effective cases needed on each side" in figure.note) is not has


def test_an_event_in_all_units_of_a_side_or_in_one_case_gives_a_ratio_without_an_interval() -> None:
    (whole,) = ratio_figures_of_groups(*sums_of(20, 20, 6, 20), rule=RULE)
    assert whole.risk.value == pytest.approx(20 / 6)
    assert whole.risk.low is None
    assert "marked in every response on one side" in whole.risk.note
    (single,) = ratio_figures_of_groups(*sums_of(1, 20, 6, 20), rule=RULE)
    for figure in (single.risk, single.odds):
        assert figure.value is not None
        assert figure.low is None
        assert "without one case the ratio is 0, infinite or undefined" in figure.note


def test_an_infinite_end_leaves_a_reason() -> None:
    # Two cases of twenty have the event on one side: 12% of resamples have neither.
    (ratios,) = ratio_figures_of_groups(*sums_of(10, 20, 2, 20), rule=PercentileBootstrap(seed=1, resamples=400))
    assert ratios.risk.value == pytest.approx(5)
    assert (ratios.risk.low, ratios.risk.high) == (None, None)
    assert "its upper end is infinite" in ratios.risk.note


@pytest.mark.parametrize("few", [3, 10])
def test_intervals_hold_the_true_ratio_with_few_cases_on_one_side(few: int) -> None:
    """1,000 simulated studies: cases of 6 responses with a beta-distributed rate of mean 0.5 and 0.3."""
    drawn, times, many, size = np.random.default_rng(5), 1000, 60, 6
    units, units_rest = (np.zeros((few + many, times)) for _ in range(2))
    units[:few], units_rest[few:] = size, size
    rates = np.concatenate([drawn.beta(2, 2, (few, times)), drawn.beta(1.2, 2.8, (many, times))])
    events = drawn.binomial(size, rates)
    sides = (np.where(units, events, 0), units, np.where(units_rest, events, 0), units_rest)
    risks = [ratios.risk for ratios in ratio_figures_of_groups(*sides, rule=RULE)]
    held = [risk.low <= 0.5 / 0.3 <= risk.high for risk in risks if risk.low is not None and risk.high is not None]
    if few < 10:
        assert not held
    else:
        assert len(held) > 990
        assert np.mean(held) >= 0.94
