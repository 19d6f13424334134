"""Rank agreement against SciPy, and the rule for ties at the border of a top-k."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.rank_agreement import (
    kendall_tau_b,
    mean_absolute_difference,
    pearson,
    rank_agreement,
    ranks,
    spearman,
    top_k_overlap,
)

pairs = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=0, max_size=15)


@pytest.mark.slow
@given(pairs)
def test_equals_scipy(values):
    from scipy import stats

    a, b = np.array(values, dtype=float).reshape(-1, 2).T
    assert ranks(a) == pytest.approx(stats.rankdata(a))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for ours, theirs in (
            (spearman, stats.spearmanr),
            (kendall_tau_b, stats.kendalltau),
            (pearson, stats.pearsonr),
        ):
            figure = ours(a, b)
            if len(values) < 3 or len({*a}) < 2 or len({*b}) < 2:
                assert isinstance(figure, Undefined)
            else:
                assert figure.value == pytest.approx(theirs(a, b).statistic, abs=1e-12)
                assert figure.n == len(values)


@pytest.mark.slow
@given(pairs)
def test_swapping_the_settings_changes_nothing(values):
    a, b = np.array(values, dtype=float).reshape(-1, 2).T
    agreement, other = rank_agreement(a, b), rank_agreement(b, a)
    for name in ("spearman", "kendall", "mean_absolute_difference", "top3", "top5"):
        assert getattr(agreement, name).value == pytest.approx(getattr(other, name).value, abs=1e-12), name


def test_pearson_of_extreme_units():
    tiny, huge = np.array([1.0, 2, 4]) * 1e-200, np.array([1.0, 2, 4]) * 1e200
    assert pearson(tiny, huge).value == pytest.approx(1)


def test_mean_absolute_difference_in_points():
    assert mean_absolute_difference([50.0, 40, 30], [52, 40, 26]) == Estimate(2.0, 3)
    assert mean_absolute_difference([], []) == Undefined("no candidates")


def test_top_k_overlap():
    a = [9, 8, 7, 6, 5, 4]
    assert top_k_overlap(a, a, 3) == Estimate(1.0, 6)
    assert top_k_overlap(a, [9, 8, 1, 6, 5, 4], 3) == Estimate(2 / 3, 6)
    assert top_k_overlap(a, [-x for x in a], 3) == Estimate(0.0, 6)
    # A tie for the third place lets both in: {1st, 2nd, 3rd, 4th} against {1st, 2nd, 3rd} is 3 of 4.
    tied = top_k_overlap(a, [9, 8, 7, 7, 5, 4], 3)
    assert tied.value == 0.75
    assert "ties at the border: 3 and 4" in tied.note
    # A tie above the border changes nothing.
    assert top_k_overlap(a, [9, 9, 7, 6, 5, 4], 3) == Estimate(1.0, 6)


def test_everyone_in_the_top_is_no_agreement():
    assert isinstance(top_k_overlap([1, 2, 3], [3, 2, 1], 3), Undefined)
    assert top_k_overlap([1, 2, 3, 4], [4, 3, 2, 1], 3).value == pytest.approx(2 / 3)


def test_refuses_values_that_are_not_there():
    with pytest.raises(ValueError, match="leave out"):
        spearman([1, 2, float("nan")], [1, 2, 3])
    with pytest.raises(ValueError, match="one value for each"):
        spearman([1, 2, 3], [1, 2])
