"""An interval, where one is shown, has a width and contains the value beside it: of every statistic that gives any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import CaseBootstrap, standard_deviations
from consilium.statistics.cacs_error import ErrorRates, propagate
from consilium.statistics.calibration import calibrate
from consilium.statistics.case_figures import case_ratio
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule, PercentileBootstrap
from consilium.statistics.intraclass_correlation import intraclass_correlations
from consilium.statistics.noninferiority import non_inferiority
from consilium.statistics.rank_ranges import rank_ranges
from consilium.statistics.ratios import estimated
from tests.statistics import by_hand
from tests.statistics.every_figure import every_figure, table

# Exact, or in whole places: a range of one place (k, ranks, order statistics) says something.
WHOLE = ("calibration.k", "rank_range", "median")
PERCENTILE = PercentileBootstrap(1, 40)

words = st.builds(
    lambda case, labels, verdict: f"{case}:{''.join(f'{who}{met}' for who, met in labels.items())}:{verdict}",
    st.integers(0, 13),
    st.dictionaries(st.sampled_from("ABC"), st.integers(0, 1), max_size=3),
    st.sampled_from("0011x"),
)
# Few cases, many cases, and one case unlike eleven others that are alike.
tables = st.one_of(
    st.lists(words, max_size=40),
    st.builds(
        lambda usual, odd: [*(f"{case}:{usual}" for case in range(11)), f"11:{odd}"],
        st.sampled_from(["A1B1C1:1", "A0B0C0:0", "A1B1C1:0", "A1B0C0:1", "A0B0C1:x"]),
        st.sampled_from(["A1B1C1:1", "A0B0C0:0", "A0B1C0:1", "A1B0C1:0", "A1:x"]),
    ),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("rule", [DEFAULT_RULE, PERCENTILE], ids=lambda rule: rule.key)
@given(words=tables)
def test_every_statistic(rule: IntervalRule, words: list[str]) -> None:
    # `table` numbers cases; items of a case need not follow one another.
    ratings = table(" ".join(sorted(words, key=lambda word: int(word.split(":")[0]))))
    for path, figure in every_figure(ratings, rule).items():
        if figure.low is None:
            assert figure.high is None, path
            continue
        assert isinstance(figure, Estimate)
        assert figure.low <= figure.value <= figure.high, (path, figure)
        if not path.startswith(WHOLE):
            assert figure.low < figure.high, (path, figure)


ratings = st.integers(2, 12).flatmap(
    lambda raters: st.lists(st.lists(st.integers(0, 4), min_size=raters, max_size=raters), min_size=2, max_size=6)
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(ratings)
def test_intraclass_correlations_of_few_cases(rows: list[list[int]]) -> None:
    cells = [(case, rater, value) for case, row in enumerate(rows) for rater, value in enumerate(row)]
    correlations = intraclass_correlations(*zip(*cells, strict=True))
    for figure in (
        correlations.one,
        correlations.two,
        correlations.three,
        correlations.one_mean,
        correlations.two_mean,
        correlations.three_mean,
    ):
        if figure.low is not None and figure.high is not None:
            assert figure.low <= figure.value <= figure.high, figure


def test_an_intraclass_correlation_of_two_cases_whose_interval_would_miss_it() -> None:
    rows = [[0, 10], [4, 4]]
    cells = [(case, rater, value) for case, row in enumerate(rows) for rater, value in enumerate(row)]
    two = intraclass_correlations(*zip(*cells, strict=True)).two
    assert isinstance(two, Estimate)
    assert (two.low, two.high) == (None, None)
    assert two.note == "no interval: it would not contain the value"


def share(hits: list[int], rule: IntervalRule = PERCENTILE) -> Figure:
    met = np.array(hits)[:, None]
    return estimated(case_ratio(met, np.ones_like(met), scale=100), n=[len(hits)], rule=rule)[0]


def test_twelve_of_twelve_has_no_percentile_interval_and_no_spread() -> None:
    assert share([1] * 12) == Estimate(100.0, 12, note="no interval: all resamples agree", effective=12)
    met = np.ones((12, 1))
    # as HealthBench's bootstrap_std of the same figures
    assert standard_deviations(case_ratio(met, met), CaseBootstrap(12, 1, 40)) == [0]
    eleven = share([1] * 11 + [0])
    assert eleven.low is not None and eleven.low < eleven.value < (eleven.high or 0)


def test_twelve_of_twelve_has_an_interval_by_the_number_of_cases() -> None:
    twelve = share([1] * 12, DEFAULT_RULE)
    low, high = (100 * end for end in by_hand.mid_p(12, 12))
    assert (twelve.low, twelve.high) == (pytest.approx(low), high)
    assert pytest.approx(low) == 100 * 0.05 ** (1 / 12)


def test_too_few_cases_are_the_reason_before_resamples_that_agree() -> None:
    assert share([1] * 9).note == "no interval: 9 of the 10 cases needed"


def test_rounding_is_not_a_width() -> None:
    # 0.1 + 0.2 is not 0.3: each resample adds the same numbers in another order.
    thirds = np.full((30, 1), 1 / 3) + np.array([[0.0], [1e-16], [-1e-16]] * 10)
    mean = case_ratio(thirds, np.ones((30, 1)))
    figure = estimated(mean, n=[30], rule=PERCENTILE)[0]
    assert (figure.low, figure.note) == (None, "no interval: all resamples agree")
    alike = estimated(mean, n=[30], rule=DEFAULT_RULE)[0]
    assert (alike.low, alike.high) == pytest.approx(by_hand.mid_p(10, 30))
    assert alike.note == Reason.ALIKE_INTERVAL()


def test_an_interval_whose_ends_are_equal_although_some_resamples_differ() -> None:
    drawn = np.array([[0.0] * 990 + [0.5] * 10])
    estimate = (
        PercentileBootstrap(0).of_replicates(drawn, np.array([20]), np.array([20.0])).attach([Estimate(0.0, 20)])[0]
    )
    assert (estimate.low, estimate.note) == (None, "no interval: nearly all resamples agree")


def test_an_interval_that_would_miss_its_value() -> None:
    drawn = np.linspace(0.1, 0.2, 1000)[None]
    for value in (0.05, 0.5):
        estimate = (
            PercentileBootstrap(0)
            .of_replicates(drawn, np.array([20]), np.array([20.0]))
            .attach([Estimate(value, 20)])[0]
        )
        assert (estimate.low, estimate.high, estimate.note) == (
            None,
            None,
            "no interval: it would not contain the value",
        )


def test_k_has_an_interval_where_its_mean_has_one() -> None:
    alike = calibrate([10] * 12, [30] * 12, rule=PERCENTILE)
    assert not isinstance(alike, Undefined)
    assert (alike.mean.low, alike.k.low) == (None, None)
    assert alike.k.note == alike.mean.note == "no interval: all resamples agree"
    # The whole interval of the mean rounds to 10: a range of one k, and no certainty about the mean.
    near = calibrate([10] * 11 + [9], [30] * 12, rule=PERCENTILE)
    assert not isinstance(near, Undefined)
    assert near.mean.low is not None and near.mean.low < near.mean.value
    assert (near.k.low, near.k.high) == (10, 10)


def test_k_of_cases_that_are_alike() -> None:
    alike = calibrate([10] * 12, [30] * 12)
    assert not isinstance(alike, Undefined)
    # A third of 12 cases, by mid-p: the number of cases is all that is known.
    low, high = (30 * end for end in by_hand.mid_p(4, 12))
    assert (alike.mean.low, alike.mean.high) == pytest.approx((low, high))
    assert (alike.k.low, alike.k.high) == (round(low), round(high))
    assert alike.k.note == Reason.ALIKE_INTERVAL()


def test_a_range_of_ranks_that_rests_on_no_movement_says_so() -> None:
    fixed = rank_ranges([100.0, 0.0], np.array([[100.0] * 50, [0.0] * 50]), [12, 12])
    assert [(rank.value, rank.low, rank.high) for rank in fixed] == [(1, 1, 1), (2, 2, 2)]
    assert {rank.note for rank in fixed} == {"all resamples agree: no resample changes the ranks"}
    moving = rank_ranges([100.0, 0.0], np.array([[100.0] * 50, [0.0, 1.0] * 25]), [12, 12])
    assert [(rank.low, rank.high, rank.note) for rank in moving] == [(1, 1, ""), (2, 2, "")]


def test_a_rank_outside_its_range_has_none() -> None:
    ranks = rank_ranges([2.0, 1.0], np.array([[1.0] * 50, [2.0, 3.0] * 25]), [12, 12])
    assert [(rank.value, rank.low) for rank in ranks] == [(1, None), (2, None)]
    assert ranks[0].note == "no interval: it would not contain the value"


def test_draws_of_a_judge_without_errors_give_no_range() -> None:
    simulation = propagate([("a", [3, 4, 5], [8, 8, 8])], ErrorRates(1, 1), 2, draws=30)
    judged = simulation.accuracy["a"].judged
    assert (judged.value, judged.low, judged.note) == (50.0, None, "no interval: nearly all draws agree")


def test_a_mean_of_draws_above_nearly_all_of_them_has_no_range() -> None:
    # One hit more than k is rare: nearly every draw has CACS 0, their mean has not.
    simulation = propagate([("a", [0], [30])], ErrorRates(0.9, 0.9), 9, draws=400, seed=2)
    judged = simulation.cacs["a"].judged
    assert judged.value is not None and judged.value > 0
    assert judged.low is None or judged.low <= judged.value <= (judged.high or 0)


def test_non_inferiority_needs_resamples_that_differ() -> None:
    level = Estimate(0.0, 40, note=Reason.INTERVAL_RESAMPLES_AGREE())
    assert non_inferiority(level, 0.05) == Undefined("no interval: all resamples agree", 40)


@pytest.mark.parametrize("n_cases", [10, 12, 40])
def test_a_share_at_its_bound_has_no_percentile_interval_whatever_the_number_of_cases(n_cases: int) -> None:
    for hits in ([0] * n_cases, [1] * n_cases):
        assert share(hits).low is None
