"""Prediction-powered intervals on the logit scale: where they meet the physicians' own, and against plain loops."""

from __future__ import annotations

from dataclasses import fields
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from consilium.statistics.prediction_powered import (
    NO_ERROR_SEEN,
    CaseSums,
    Powered,
    case_sums,
    fit,
    prediction_powered,
)
from tests.statistics.by_hand import ratio_ends

NAN = float("nan")


def of(labels, predictions, **more) -> CaseSums:
    return case_sums(case=np.arange(len(labels)), n_cases=len(labels), prediction=predictions, label=labels, **more)


def without(sums: CaseSums, i: int) -> CaseSums:
    return CaseSums(**{field.name: np.delete(getattr(sums, field.name), i, axis=0) for field in fields(CaseSums)})


def estimate(sums: CaseSums, **options) -> Powered:
    return prediction_powered(sums, **options)[0]


def plain_ends(sums: CaseSums, power: float | None = None) -> tuple[float, float]:
    """The same with `fit` called anew without each case."""
    n, m = len(sums.size), int((sums.n_labelled > 0).sum())
    weights = sums.weight.sum(axis=1)
    effective = weights.sum() ** 2 / (weights**2).sum()
    y = [float(fit(without(sums, i), power=power).value[0]) for i in range(n)]
    y = [log(value / (1 - value)) for value in y]
    half = stats.t.ppf(0.975, effective - 1) * sqrt((m - 1) / m * sum((value - sum(y) / n) ** 2 for value in y))
    value = float(fit(sums, power=power).value[0])
    centre = log(value / (1 - value))
    return 1 / (1 + exp(half - centre)), 1 / (1 + exp(-half - centre))


@pytest.mark.parametrize("power", [None, 0.0, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_ends_are_those_of_fitting_anew_without_each_case(seed, power):
    rng = np.random.default_rng(seed)
    y = rng.random(40) * 0.8 + 0.1
    f = np.clip(y + rng.normal(0, 0.15, 40), 0, 1)
    size, weight = rng.integers(1, 9, 40), rng.integers(1, 4, 40)
    sums = of(np.where(np.arange(40) < 15, y, NAN), f, size=size, weight=weight)
    figure = estimate(sums, power=power).powered
    assert (figure.low, figure.high) == pytest.approx(plain_ends(sums, power), abs=1e-9)
    assert not figure.note


def test_where_everything_is_labelled_they_are_the_scoreboards():
    # Hits of criteria of six cases, by the rule in plain Python.
    met, criteria = np.array([3, 5, 2, 6, 4, 7]), np.array([10, 10, 8, 12, 10, 11])
    figures = estimate(of(met / criteria, [0.2, 0.9, 0.4, 0.4, 0.1, 0.3], size=criteria))
    for figure in (figures.powered, figures.physicians):
        assert (figure.low, figure.high) == pytest.approx(ratio_ends(met.tolist(), criteria.tolist()), abs=1e-12)
        assert figure.effective == pytest.approx(criteria.sum() ** 2 / (criteria**2).sum())
    assert figures.width_ratio == 1


def test_figures_beside_it_are_ratios_by_the_rule():
    rng = np.random.default_rng(5)
    y, f, size = rng.random(30), rng.random(30), rng.integers(1, 9, 30)
    figures = estimate(of(np.where(np.arange(30) < 12, y, NAN), f, size=size), scale=100)
    for figure, scores, cases in ((figures.physicians, y, 12), (figures.judge, f, 30)):
        sizes = size[:cases]
        low, high = ratio_ends((scores[:cases] * sizes).tolist(), sizes.tolist())
        assert (figure.low, figure.high) == pytest.approx((100 * low, 100 * high), abs=1e-10)
    assert figures.judge.effective == pytest.approx(size.sum() ** 2 / (size**2).sum())


def test_labels_alike_are_the_edge_and_a_perfect_judge_has_no_interval():
    f = np.linspace(0.1, 0.9, 30)
    ten = np.arange(30) < 10
    figures = estimate(of(np.where(ten, 1.0, NAN), f))
    # All of 10: at least 0.05^(1/10).
    assert (figures.powered.low, figures.powered.high) == pytest.approx((0.05**0.1, 1.0), abs=1e-9)
    for figure in (figures.powered, figures.physicians):
        assert "interval by the number of cases" in figure.note
    figures = estimate(of(np.where(ten, f, NAN), f))
    assert (figures.powered.low, figures.powered.note) == (None, NO_ERROR_SEEN)
    assert figures.physicians.low < f[:10].mean() < figures.physicians.high
    figures = estimate(of(np.full(30, NAN), f))
    assert not figures.powered.defined and not figures.physicians.defined


def test_bounds_of_each_column():
    rng = np.random.default_rng(6)
    y, f = rng.random(24), rng.random(24)
    label = np.where(np.arange(24) % 12 < 7, y, NAN)
    here = {"case": np.tile(np.arange(12), 2), "n_cases": 12, "column": np.repeat([0, 1], 12), "n_columns": 2}
    apart = prediction_powered(case_sums(prediction=f, label=label, **here), bounds=([0.0, -1.0], 1.0))[1].powered
    second = estimate(of((label[12:] + 1) / 2, (f[12:] + 1) / 2)).powered
    assert (apart.low, apart.high) == pytest.approx((2 * second.low - 1, 2 * second.high - 1), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=8, max_size=20), st.integers(5, 8))
@settings(max_examples=40, deadline=None)
def test_ends_hold_the_estimate_and_mirror(rows, labelled):
    y, f = (np.array(column) / 6 for column in zip(*rows, strict=True))
    label = np.where(np.arange(len(y)) < labelled, y, NAN)
    sums, turned = of(label, f), of(1 - label, 1 - f)
    value = float(fit(sums).value[0])
    figure, other = estimate(sums).powered, estimate(turned).powered
    low, high = figure.low, figure.high
    if low is None:
        assert other.low is None
        return
    assert 0 <= low <= high <= 1
    # The estimate itself may lie outside the bounds of the score.
    assert low - 1e-9 <= min(max(value, 0), 1) <= high + 1e-9
    assert (1 - other.high, 1 - other.low) == pytest.approx((low, high), abs=1e-7)


def test_no_ratio_of_lengths_where_all_is_below_the_clip():
    """Scores that are all below 0 are shown as 0 to 0, which has no length to compare with."""
    rng = np.random.default_rng(1)
    y = -1.2 + 0.1 * rng.normal(size=60)
    f = y + 0.05 * rng.normal(size=60)
    (figure,) = prediction_powered(of(np.where(np.arange(60) < 20, y, NAN), f), bounds=(-2.0, 1.0), clip=(0.0, 1.0))
    assert (figure.physicians.low, figure.physicians.high, figure.width_ratio) == (0, 0, None)
    assert "before clipping" in figure.powered.note
