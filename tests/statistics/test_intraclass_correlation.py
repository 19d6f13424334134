"""Intraclass correlations against the worked example of Shrout and Fleiss, and tables where they do not exist."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.intraclass_correlation import IntraclassCorrelations, intraclass_correlations

# Shrout and Fleiss 1979, table 2: six targets rated by four judges.
TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def of(table: list[list[float]]) -> IntraclassCorrelations:
    rows = [(case, rater, value) for case, row in enumerate(table) for rater, value in enumerate(row)]
    return intraclass_correlations(*zip(*rows, strict=True))


def test_shrout_and_fleiss_1979() -> None:
    correlations = of(TARGETS)
    # Their table 4, and the intervals that R's psych::ICC prints for the same data.
    published = {
        "one": (0.17, -0.133, 0.72),
        "two": (0.29, 0.019, 0.76),
        "three": (0.71, 0.342, 0.95),
        "one_mean": (0.44, -0.884, 0.91),
        "two_mean": (0.62, 0.071, 0.93),
        "three_mean": (0.91, 0.676, 0.99),
    }
    for name, (value, low, high) in published.items():
        figure = getattr(correlations, name)
        assert figure.value == pytest.approx(value, abs=5e-3), name
        assert figure.low == pytest.approx(low, abs=5e-4), name
        assert figure.high == pytest.approx(high, abs=5e-3), name
        assert figure.n == 6


def test_equals_least_squares_on_dummies_and_scipy() -> None:
    """Mean squares from residuals of least squares, formulas of McGraw and Wong 1996, F from SciPy."""
    from scipy.stats import f, f_oneway

    rng = np.random.default_rng(4)
    n, k = 14, 3
    case, rater = np.repeat(np.arange(n), k), np.tile(np.arange(k), n)
    values = rng.normal(0, 1.2, n)[case] + rng.normal(0, 0.5, k)[rater] + rng.normal(size=n * k)

    def left(*dummies: np.ndarray) -> float:
        columns = np.concatenate([np.ones((n * k, 1)), *dummies], axis=1)
        return float(((values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0]) ** 2).sum())

    cases, raters = np.eye(n)[case], np.eye(k)[rater]
    b, j = (left() - left(cases)) / (n - 1), (left() - left(raters)) / (k - 1)
    w, e = left(cases) / (n * (k - 1)), left(cases, raters) / ((n - 1) * (k - 1))
    correlations = intraclass_correlations(case, rater, values)
    ratio = f_oneway(*values.reshape(n, k)).statistic
    ends = ratio / f.ppf(0.975, n - 1, n * (k - 1)), ratio * f.ppf(0.975, n * (k - 1), n - 1)
    assert ratio == pytest.approx(b / w, rel=1e-9)
    assert (correlations.one.value, correlations.one.low, correlations.one.high) == pytest.approx(
        tuple((x - 1) / (x + k - 1) for x in (ratio, *ends)), abs=1e-9
    )
    assert (correlations.one_mean.value, correlations.one_mean.low) == pytest.approx(
        (1 - 1 / ratio, 1 - 1 / ends[0]), abs=1e-9
    )
    ends = b / e / f.ppf(0.975, n - 1, (n - 1) * (k - 1)), b / e * f.ppf(0.975, (n - 1) * (k - 1), n - 1)
    assert (correlations.three.value, correlations.three.low, correlations.three.high) == pytest.approx(
        tuple((x - 1) / (x + k - 1) for x in (b / e, *ends)), abs=1e-9
    )
    assert correlations.three_mean.high == pytest.approx(1 - 1 / ends[1], abs=1e-9)
    two = (b - e) / (b + (k - 1) * e + k / n * (j - e))
    assert (correlations.two.value, correlations.two_mean.value) == pytest.approx(
        (two, (b - e) / (b + (j - e) / n)), abs=1e-9
    )
    # McGraw and Wong's table 7: a, b and the degrees of freedom v of ICC(A,1).
    over, by = k * two / (n * (1 - two)), 1 + k * two * (n - 1) / (n * (1 - two))
    v = (over * j + by * e) ** 2 / ((over * j) ** 2 / (k - 1) + (by * e) ** 2 / ((n - 1) * (k - 1)))
    upper, lower = f.ppf(0.975, n - 1, v), f.ppf(0.975, v, n - 1)
    rest = k * j + (k * n - k - n) * e
    assert correlations.two.low == pytest.approx(n * (b - upper * e) / (upper * rest + n * b), abs=1e-9)
    assert correlations.two.high == pytest.approx(n * (lower * b - e) / (rest + n * lower * b), abs=1e-9)


def test_order_of_rows_and_names_change_nothing() -> None:
    rows = [(f"case {c}", f"rater {-r}", value) for c, row in enumerate(TARGETS) for r, value in enumerate(row)]
    mixed = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    correlations, expected = intraclass_correlations(*zip(*mixed, strict=True)), of(TARGETS)
    for name in ("one", "two", "three", "one_mean", "two_mean", "three_mean"):
        assert astuple(getattr(correlations, name)) == pytest.approx(astuple(getattr(expected, name))), name


def test_unequal_numbers_give_icc_1_alone() -> None:
    # By hand: cases (1, 3), (5,), (8, 9, 10). Means 2, 5, 9; grand mean 6. Between (2·16 + 1·1 + 3·9)/2 = 30,
    # within (1 + 1 + 1 + 1)/3 = 4/3, k0 = (6 - 14/6)/2 = 11/6. ICC(1) = (30 - 4/3)/(30 + 5/6·4/3) = 129/140.
    correlations = intraclass_correlations([0, 0, 1, 2, 2, 2], [0, 1, 0, 0, 1, 2], [1, 3, 5, 8, 9, 10])
    assert isinstance(correlations.one, Estimate)
    assert correlations.one.value == pytest.approx(129 / 140)
    assert (correlations.one.n, correlations.one.low) == (3, None)
    assert correlations.two == Undefined("unequal numbers of ratings: 1 to 3 a case", 3)
    assert correlations.one_mean == correlations.two


def test_other_raters_on_each_case_leave_the_two_way_figures_undefined() -> None:
    correlations = intraclass_correlations([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], [1, 2, 4, 6, 9, 8])
    assert correlations.one.defined
    assert correlations.one_mean.defined
    assert correlations.two == correlations.three == Undefined("not the same raters on each case", 3)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([], "an intraclass correlation needs at least 2 cases"),
        ([[3, 4]], "an intraclass correlation needs at least 2 cases"),
        ([[3], [4], [9]], "no case with two ratings"),
        ([[50, 50], [50, 50]], "constant ratings"),
    ],
)
def test_reasons_when_all_are_undefined(table: list[list[float]], reason: str) -> None:
    correlations = of(table) if table else intraclass_correlations([], [], [])
    assert {
        getattr(correlations, name).note for name in ("one", "two", "three", "one_mean", "two_mean", "three_mean")
    } == {reason}


def test_tables_at_the_edge() -> None:
    alike = of([[0.1, 0.1], [0.7, 0.7], [0.9, 0.9]])  # nobody differs: all of it is between cases
    assert alike.one.value == alike.two.value == alike.three.value == 1
    assert alike.one.low is None
    shifted = of([[0.1, 0.4], [0.3, 0.6], [0.2, 0.5]])  # the same order, 0.3 higher throughout
    assert shifted.three.value == pytest.approx(1)
    # B = 0.02, E = 0, J = 6·0.15² = 0.135: 0.02 / (0.02 + 2·0.135/3)
    assert shifted.two.value == pytest.approx(0.02 / 0.11)
    crossed = of([[0, 1], [1, 0]])  # cases and raters have the same means
    assert crossed.one.value == -1
    assert isinstance(crossed.two, Undefined)
    assert isinstance(crossed.one_mean, Undefined)


def test_two_ratings_by_one_rater_are_refused() -> None:
    with pytest.raises(ValueError, match="once"):
        intraclass_correlations([0, 0], [1, 1], [2, 3])
