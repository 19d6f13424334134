"""Length control against one full least-squares fit with every dummy in the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilium.statistics.estimate import Undefined
from consilium.statistics.length_control import length_control, residual_pearson
from tests.statistics.by_hand import logit_jackknife


def full_fit(x, y, candidate, case):
    from scipy import stats

    design = np.column_stack(
        [
            np.ones(len(x)),
            *[np.array(candidate) == name for name in sorted(set(candidate))],
            *[np.array(case) == name for name in sorted(set(case))],
        ]
    ).astype(float)
    left = [column - design @ np.linalg.lstsq(design, column, rcond=None)[0] for column in (x, y)]
    return stats.pearsonr(*left).statistic, len(x) - np.linalg.matrix_rank(design)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_residual_correlation_equals_the_full_fit(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 60))
    candidate = rng.integers(rng.integers(1, 6), size=n).tolist()
    case = rng.integers(rng.integers(1, 15), size=n).tolist()
    x = rng.normal(800, 200, n).round()
    y = 0.01 * x + np.array(case) * 3 + rng.normal(0, 2, n)
    ours = residual_pearson(x, y, candidate, case)
    expected, freedom = full_fit(x, y, candidate, case)
    if freedom < 2:
        assert isinstance(ours, Undefined)
    else:
        assert ours.value == pytest.approx(expected, abs=1e-9)
        assert ours.n == n


def test_length_that_only_marks_the_candidate_is_taken_out():
    # The wordy candidate scores higher on every case; within candidate and case length says nothing.
    rng = np.random.default_rng(3)
    candidate, case = np.repeat([0, 1], 200), np.tile(np.arange(200), 2)
    length = 500 + 900 * candidate + rng.normal(0, 40, 400)
    score = 8 + 6 * candidate + rng.normal(0, 1, 400)
    correlations = length_control(length, score, candidate, case)
    assert correlations.pearson.value > 0.9
    assert abs(correlations.residual_pearson.value) < 0.25


def test_plain_correlations_equal_scipy():
    from scipy import stats

    rng = np.random.default_rng(4)
    length, score = rng.integers(100, 3000, 50), rng.integers(0, 30, 50)
    correlations = length_control(length, score, np.arange(50) % 5, np.arange(50) // 5)
    assert correlations.pearson.value == pytest.approx(stats.pearsonr(length, score).statistic, abs=1e-12)
    assert correlations.spearman.value == pytest.approx(stats.spearmanr(length, score).statistic, abs=1e-12)


def test_reasons():
    nothing = length_control([], [], [], [])
    assert all(
        isinstance(figure, Undefined) for figure in (nothing.pearson, nothing.spearman, nothing.residual_pearson)
    )
    constant = length_control([5, 5, 5, 5], [1, 2, 3, 4], [0, 0, 1, 1], [0, 1, 0, 1])
    assert "constant" in constant.pearson.reason
    assert "constant" in constant.spearman.reason
    # Two candidates on two cases: 4 responses, 3 dummies, one degree of freedom: always 1 or -1, so no figure.
    assert residual_pearson([1, 2, 3, 5], [1, 3, 2, 9], [0, 0, 1, 1], [0, 1, 0, 1]) == Undefined(
        "1 degree of freedom left after candidate and case", 4
    )
    # Length is candidate plus case exactly: nothing is left to vary.
    candidate, case = np.repeat(np.arange(4), 10), np.tile(np.arange(10), 4)
    exact = residual_pearson(100 * candidate + 7 * case, np.random.default_rng(1).random(40), candidate, case)
    assert exact == Undefined("nothing varies after adjustment for candidate and case", 40)


def test_the_rank_correlation_has_an_interval_over_cases():
    from scipy.stats import spearmanr

    # Two responses to each of six cases, with ties.
    x = np.array([410, 380, 520, 610, 300, 450, 700, 380, 640, 520, 480, 350])
    y = np.array([5, 4, 6, 8, 3, 6, 7, 5, 9, 4, 5, 5])
    case = np.repeat(np.arange(6), 2)
    figure = length_control(x, y, np.tile([0, 1], 6), case).spearman
    without = [spearmanr(x[case != i], y[case != i]).statistic for i in range(6)]
    ends = logit_jackknife(without, spearmanr(x, y).statistic, [2] * 6, -1, 1)
    assert (figure.low, figure.high) == pytest.approx(ends)
    assert figure.effective == pytest.approx(6)
    without = length_control(x, y, np.tile([0, 1], 6), case, with_interval=False).spearman
    assert (without.value, without.low) == (figure.value, None)
    assert without.note == "no interval: percentile intervals are not given for correlations"
    few = length_control(x[:8], y[:8], np.tile([0, 1], 4), case[:8]).spearman
    assert (few.low, few.note) == (None, "no interval: 4.0 of the 5 effective cases needed")
