"""Intervals of agreement beyond chance on units of few ratings: numbers by hand, mid-p of SciPy, coverage."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom

from consilium.statistics.cohen_kappa import COHEN_KAPPA, cohen_kappa_values
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.fleiss_kappa import fleiss_kappa, kappa_figures
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.jackknife import jackknife, logit_ends
from consilium.statistics.krippendorff_alpha import alpha_figures, krippendorff_alpha
from consilium.statistics.macro_f1 import MACRO_F1, macro_f1_values
from consilium.statistics.unit_agreement import cases_apart, chance_corrected_ends

of_kappa = partial(fleiss_kappa, rule=DEFAULT_RULE)
of_alpha = partial(krippendorff_alpha, rule=DEFAULT_RULE)


def mid_p_high(x: int, n: int) -> float:
    return brentq(lambda p: binom.cdf(x - 1, n, p) + binom.pmf(x, n, p) / 2 - 0.025, 1e-9, 1 - 1e-9)


def mid_p_low(x: int, n: int) -> float:
    return brentq(lambda p: binom.sf(x, n, p) + binom.pmf(x, n, p) / 2 - 0.025, 1e-9, 1 - 1e-9)


def test_raters_who_always_agree_by_hand():
    # 20 items, 2 raters, 14 of the one category and 6 of the other: De = 1 - 0.7² - 0.3² = 0.42. None of 20 disagree:
    # at most 1 - 0.05^(1/20) = 0.139108 do, and kappa is at least 1 - 0.139108 / 0.42 = 0.668790.
    table = np.array([[2, 0]] * 14 + [[0, 2]] * 6)
    kappa = of_kappa(table)
    assert (kappa.value, kappa.low, kappa.high) == pytest.approx((1, 0.668790, 1), abs=1e-6)
    # Alpha draws without replacement: De = 2 · 28 · 12 / (40 · 39) = 0.430769.
    alpha = of_alpha(table)
    assert (alpha.value, alpha.low, alpha.high) == pytest.approx((1, 1 - (1 - 0.05 ** (1 / 20)) / (672 / 1560), 1))


def test_one_item_in_disagreement_is_at_the_edge():
    table = np.array([[2, 0]] * 14 + [[0, 2]] * 6 + [[1, 1]])
    jack = jackknife(kappa_figures(table))
    # Without the last item raters always agree. De = 1 - (29/42)² - (13/42)², Do = 1/21.
    expected = 1 - (29 / 42) ** 2 - (13 / 42) ** 2
    ends = chance_corrected_ends(jack, np.array([expected]))
    assert ends.at_edge[0]
    assert ends.low[0] == pytest.approx(1 - mid_p_high(1, 21) / expected, abs=1e-6)
    assert ends.high[0] == pytest.approx(1 - mid_p_low(1, 21) / expected, abs=1e-6)
    kappa = of_kappa(table)
    assert (kappa.value, kappa.low) == pytest.approx((1 - (1 / 21) / expected, ends.low[0]), abs=1e-9)


def test_away_from_the_edge_it_is_the_rule():
    rng = np.random.default_rng(1)
    counts = rng.multinomial(3, [0.5, 0.3, 0.2], size=25)
    for figure, figures in (
        (of_kappa(counts), kappa_figures(counts)),
        (of_alpha(counts, "ordinal"), alpha_figures(counts, "ordinal")),
    ):
        ends = logit_ends(jackknife(figures))
        assert (figure.low, figure.high) == (ends.low[0], ends.high[0])
    assert of_kappa(counts).value == fleiss_kappa(counts).value
    case = np.arange(25) // 2
    by_case = of_alpha(counts, case=case, n_cases=13)
    ends = logit_ends(jackknife(alpha_figures(counts, case=case, n_cases=13)))
    assert (by_case.value, by_case.low, by_case.n) == (krippendorff_alpha(counts).value, ends.low[0], 25)


def test_ordinal_distances_are_in_parts_of_the_largest():
    # 12 units, 4 of each of three levels, always agreed: margins 8, 8, 8; places 4, 12, 20; d² 64, 64, 256.
    table = np.repeat(2 * np.eye(3, dtype=int), 4, axis=0)
    alpha = of_alpha(table, "ordinal")
    expected = (4 * 64 * 64 + 2 * 64 * 256) / (24 * 23) / 256
    assert alpha.low == pytest.approx(1 - (1 - 0.05 ** (1 / 12)) / expected, abs=1e-6)


@pytest.mark.parametrize("of", [of_kappa, of_alpha])
def test_what_has_no_interval_says_why(of):
    few = of([[2, 0]] * 6 + [[0, 2]] * 3)
    assert (few.value, few.low, few.note) == (1, None, "no interval: 9 of the 10 cases needed")
    # One of two ratings in the other category may be an error; both are a case of it.
    for split in (0, 9):
        lone = of([[2, 0]] * 30 + [[1, 1]] * split + [[0, 2]] * 4)
        assert lone.low is None
        reason = "no interval: 4 of the 5 cases needed where most ratings are outside the most frequent category"
        assert lone.note == reason
        assert of([[2, 0]] * 30 + [[1, 1]] * split + [[0, 2]] * 5).low is not None
    assert not of([[2, 0]] * 30).defined
    assert cases_apart(np.zeros((0, 2))) == 0


def test_two_raters_at_the_edge_by_hand():
    # Ten cases of 30 pairs, 8 met and 22 not, all agreed: M = 160, N = 440, n = 300. M·N/n² = 0.782222, and half of it
    # is De of kappa. None of 10 disagrees: at most 1 - 0.05^(1/10) = 0.258866.
    cells = (np.full((10, 1), count) for count in (8, 0, 0, 22))
    counts = ConfusionCounts(*cells)
    by_case = MACRO_F1.of_cases(counts), COHEN_KAPPA.of_cases(counts)
    chances = [figures.chance for figures in by_case]
    assert [chance.expected[0] for chance in chances] == pytest.approx([160 * 440 / 300**2, 160 * 440 / 300**2 / 2])
    mf1, kappa = (chance_corrected_ends(jackknife(figures), figures.chance.expected) for figures in by_case)
    assert (mf1.low[0], mf1.high[0]) == pytest.approx((1 - 0.258866 / 0.782222, 1), abs=1e-5)
    assert (kappa.low[0], kappa.high[0]) == pytest.approx((1 - 0.258866 / 0.391111, 1), abs=1e-5)
    assert [chance.apart.tolist() for chance in chances] == [[10], [10]]
    assert [chance.matters.tolist() for chance in chances] == [[False], [False]]  # from 10 pairs a case on
    one_class = ConfusionCounts(*(np.full((10, 1), count) for count in (0, 0, 0, 9)))
    chance = MACRO_F1.of_cases(one_class).chance
    assert (chance.apart.tolist(), chance.expected.tolist(), chance.matters.tolist()) == ([0], [0.0], [True])


@pytest.mark.parametrize(("pairs", "reason"), [(1, "where most ratings are"), (2, "with the rarer answer")])
def test_two_raters_with_a_pair_a_case_must_agree_on_the_rarer_class(pairs, reason):
    """Twenty cases in which both say not met, and others: met said by both, by the first alone."""

    def mf1(by_both: int, by_one: int):
        sizes = np.zeros(20 + by_both + by_one, dtype=int)
        tp, fn, tn = sizes.copy(), sizes.copy(), sizes.copy()
        tn[:20], tp[20 : 20 + by_both], fn[20 + by_both :] = pairs, pairs, pairs
        counts = ConfusionCounts(*(cell[:, None] for cell in (tp, sizes, fn, tn)))
        return DEFAULT_RULE.intervals(MACRO_F1.of_cases(counts))

    assert not np.isnan(mf1(5, 4).low[0])
    few = mf1(4, 0)
    assert np.isnan(few.low[0]) and "4 of the 5 cases needed" in few.reason(0) and reason in few.reason(0)
    assert np.isnan(mf1(4, 5).low[0]) == (pairs == 1)


@given(st.tuples(*[st.integers(0, 30)] * 4).filter(lambda cells: sum(cells) > 0))
def test_both_figures_are_one_less_disagreement_over_the_expected(cells):
    counts = ConfusionCounts(*(np.array([count]) for count in cells))
    observed = (cells[1] + cells[2]) / sum(cells)
    for coefficient, value in ((MACRO_F1, macro_f1_values(counts)[0]), (COHEN_KAPPA, cohen_kappa_values(counts)[0])):
        expected = coefficient.expected(counts)[0]
        if expected:
            assert value == pytest.approx(1 - observed / expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("units", [20, 30, 50])
def test_kappa_of_rare_answers_is_covered(units):
    """Two raters, 15% in the rarer category, each right in nine of ten; studies with an interval of 1,500."""
    rng = np.random.default_rng(units)
    right, rare = 0.9, 0.15
    # Ratings are independent given the case: P(met) of a rater is m, agreement right² + (1 - right)².
    m = rare * right + (1 - rare) * (1 - right)
    truth = 1 - (2 * right * (1 - right)) / (2 * m * (1 - m))
    held = []
    for _ in range(1500):
        truly = rng.random(units) < rare
        met = (truly[:, None] == (rng.random((units, 2)) < right)).sum(axis=1)
        figure = of_kappa(np.column_stack([2 - met, met]))
        if figure.low is not None:
            held.append(figure.low <= truth <= figure.high)
    assert len(held) > 100
    assert np.mean(held) >= 0.925
