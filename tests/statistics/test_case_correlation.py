"""Correlations over cases, against SciPy's without each case."""

from __future__ import annotations

import warnings
from math import atanh, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from consilium.statistics.case_correlation import pearson_figures, spearman_jackknife
from consilium.statistics.jackknife import Jackknife, jackknife, logit_ends


def correlated(rng, n: int):
    x = rng.normal(size=n)
    return np.round(1000 + 300 * x, -1), np.round(x + rng.normal(size=n), 1)  # ties


def expected_ends(correlation, x, y, case):
    """By SciPy without each case, on Fisher's scale."""
    cases, sizes = np.unique(case, return_counts=True)
    z = np.array([atanh(correlation(x[case != i], y[case != i]).statistic) for i in cases])
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    half = stats.t.ppf(0.975, effective - 1) * sqrt((len(cases) - 1) / len(cases) * ((z - z.mean()) ** 2).sum())
    centre = atanh(correlation(x, y).statistic)
    return tanh(centre - half), tanh(centre + half)


@pytest.mark.parametrize("seed", range(5))
def test_ends_are_those_without_each_case(seed):
    rng = np.random.default_rng(seed)
    case = rng.integers(0, 12, 60)
    x, y = correlated(rng, 60)
    pearson = logit_ends(
        jackknife(pearson_figures(x, y, case=case, n_cases=13))
    )  # a case without pairs changes nothing
    assert (pearson.low[0], pearson.high[0]) == pytest.approx(expected_ends(stats.pearsonr, x, y, case), abs=1e-9)
    jack = spearman_jackknife(x, y, case=case, n_cases=13)
    ranked = logit_ends(jack)
    assert jack.values[0] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert (ranked.low[0], ranked.high[0]) == pytest.approx(expected_ends(stats.spearmanr, x, y, case), abs=1e-9)


def test_slices_are_apart_and_may_number_their_cases_by_themselves():
    rng = np.random.default_rng(7)
    x, y, where = *correlated(rng, 30), np.arange(30) % 3
    case = np.arange(30) // 3
    figures = pearson_figures(x, y, case=case, n_cases=10, slice_of=where, n_slices=4)
    values = figures.whole()
    for i in range(3):
        assert values[i] == pytest.approx(stats.pearsonr(x[where == i], y[where == i]).statistic, abs=1e-12)
    assert np.isnan(values[3])
    assert figures.sizes.sum(axis=0).tolist() == [10, 10, 10, 0]


@pytest.mark.parametrize(
    ("x", "y"), [([0.1 + 0.2] * 6, [1, 2, 3, 4, 5, 6]), ([1e9, 1e9, 1e9, 1e9, 1e9, 1e9], [1, 2, 3, 4, 5, 6]), ([], [])]
)
def test_constant_sides_have_no_correlation(x, y):
    case = np.arange(len(x))
    assert np.isnan(pearson_figures(x, y, case=case, n_cases=len(x)).whole()[0])
    assert np.isnan(spearman_jackknife(x, y, case=case, n_cases=len(x)).values[0])


def test_perfect_correlation_and_one_that_rests_on_one_case_are_the_edge():
    x = np.arange(10.0)
    ends = logit_ends(jackknife(pearson_figures(x, 3 * x - 4, case=np.arange(10), n_cases=10)))
    # 10 of 10 on (-1, 1): at least 2 · 0.05^(1/10) - 1.
    assert (ends.low[0], ends.high[0]) == pytest.approx((2 * 0.05**0.1 - 1, 1), abs=1e-9)
    single = (x == 3).astype(float)
    jack = jackknife(pearson_figures(single, x, case=np.arange(10), n_cases=10))
    assert np.isnan(jack.without[3, 0]) and logit_ends(jack).at_edge[0]


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 6)), min_size=6, max_size=25))
@settings(max_examples=15, deadline=None)
def test_ends_hold_the_value_and_do_not_depend_on_units(rows):
    x, y, case = (np.array(column) for column in zip(*rows, strict=True))

    def both(a, b) -> list[tuple[float, float, float]]:
        results = []
        figures: list[Jackknife] = [
            jackknife(pearson_figures(a, b, case=case, n_cases=7)),
            spearman_jackknife(a, b, case=case, n_cases=7),
        ]
        for jack in figures:
            ends = logit_ends(jack)
            results.append((float(jack.values[0]), float(ends.low[0]), float(ends.high[0])))
        return results

    plain = both(x, y)
    for value, low, high in plain:
        assert np.isnan(value) == np.isnan(low)
        if not np.isnan(value):
            assert -1 <= low <= value + 1e-9 and value - 1e-9 <= high <= 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert plain[0][0] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9, nan_ok=True)
    for same in (both(1e4 + 7 * x, y / 3), both(y, x)):
        for first, second in zip(plain, same, strict=True):
            assert first == pytest.approx(second, abs=1e-6, nan_ok=True)
    for first, second in zip(plain, both(-x, y), strict=True):
        assert (first[0], first[1], first[2]) == pytest.approx(
            (-second[0], -second[2], -second[1]), abs=1e-6, nan_ok=True
        )
