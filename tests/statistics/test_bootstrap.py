"""Intervals: reproducible, right by an independent resampling loop, and absent where they are not due."""

from __future__ import annotations

import time

import numpy as np
import pytest

from consilium.statistics import bootstrap as module
from consilium.statistics.bootstrap import CaseBootstrap, percentile_intervals, replicates, standard_deviations
from consilium.statistics.case_figures import case_ratio, sums_by_case
from consilium.statistics.confusion import ConfusionCounts, confusion_counts
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import PercentileBootstrap
from consilium.statistics.macro_f1 import MACRO_F1
from consilium.statistics.ratios import estimated
from consilium.statistics.two_raters import WITH_INTERVAL as FIVE
from consilium.statistics.two_raters import two_rater_agreement


def some_pairs(n_cases: int = 40, n: int = 600, seed: int = 1):
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.6
    return a, np.where(rng.random(n) < 0.75, a, ~a), rng.integers(n_cases, size=n)


def mean_of_cases(values, rule: PercentileBootstrap, **bounds) -> Figure:
    """The mean of one value a case."""
    column = np.asarray(values, dtype=float).reshape(-1, 1)
    return estimated(case_ratio(column, np.ones_like(column), **bounds), n=[len(column)], rule=rule)[0]


def test_weights_draw_every_case_equally_often():
    (weights,) = CaseBootstrap(50, seed=3, resamples=4000).weight_blocks()
    assert weights.shape == (4000, 50)
    assert (weights.sum(axis=1) == 50).all()
    # Multinomial(50, 1/50): mean 1, variance 49/50 for each case.
    assert weights.mean(axis=0) == pytest.approx(np.ones(50), abs=0.08)
    assert weights.var() == pytest.approx(0.98, abs=0.02)


def test_the_seed_decides_and_blocks_do_not(monkeypatch):
    sums = np.arange(30.0).reshape(30, 1)
    totals = CaseBootstrap(30, seed=9).totals(sums)
    assert (totals == CaseBootstrap(30, seed=9).totals(sums)).all()
    assert (totals != CaseBootstrap(30, seed=10).totals(sums)).any()
    monkeypatch.setattr(module, "BLOCK_CELLS", 30 * 64)  # 16 blocks, none of them kept
    assert (totals == CaseBootstrap(30, seed=9).totals(sums)).all()


@pytest.mark.slow
def test_macro_f1_interval_equals_scikit_learn_on_the_same_resamples():
    from sklearn.metrics import f1_score

    a, b, case = some_pairs()
    bootstrap = CaseBootstrap(40, seed=2, resamples=60)
    counts = confusion_counts(a, b, case=case, n_cases=40)
    ours = replicates(MACRO_F1.of_cases(counts), bootstrap)[0]
    rows = [np.flatnonzero(case == number) for number in range(40)]
    (weights,) = bootstrap.weight_blocks()
    for resample, drawn in enumerate(weights.astype(int)):
        picked = np.concatenate([np.tile(rows[number], times) for number, times in enumerate(drawn)])
        assert ours[resample] == pytest.approx(f1_score(a[picked], b[picked], average="macro"), abs=1e-12)
    figure = two_rater_agreement(counts, rule=PercentileBootstrap(2, 60))[0].mf1
    assert (figure.low, figure.high) == pytest.approx(np.percentile(ours, [2.5, 97.5]), abs=1e-12)
    assert figure.low < figure.value < figure.high


@pytest.mark.slow
def test_interval_covers_the_truth_about_95_times_in_100():
    rng = np.random.default_rng(0)
    covered, trials = 0, 300
    for trial in range(trials):
        sums = rng.normal(0.4, 0.1, size=60)
        figure = mean_of_cases(sums, PercentileBootstrap(trial, 400))
        assert figure.low is not None
        covered += figure.low <= 0.4 <= figure.high
    # Binomial(300, 0.95) has standard deviation 0.0126; the percentile bootstrap of 60 cases runs a little low.
    assert 0.90 <= covered / trials <= 0.98


def test_standard_error_is_that_of_a_mean():
    values = np.random.default_rng(4).random(400)
    mean = case_ratio(values[:, None], np.ones((400, 1)))
    assert standard_deviations(mean, CaseBootstrap(400, seed=1, resamples=4000)) == [
        pytest.approx(values.std() / 20, rel=0.05)
    ]


def test_ten_cases_are_needed():
    a, b, case = some_pairs()
    for n_cases, due in ((9, False), (10, True)):
        mine = case < n_cases
        counts = confusion_counts(a[mine], b[mine], case=case[mine], n_cases=40)
        agreement = two_rater_agreement(counts, rule=PercentileBootstrap(1))[0]
        assert agreement.n_cases == n_cases
        for name in FIVE:
            figure = getattr(agreement, name)
            assert (figure.low is not None) is due, name
            assert ("9 of the 10 cases" in figure.note) is not due


@pytest.mark.parametrize("n_valid", [3, 9, 10])
def test_cases_whose_verdicts_are_all_invalid_count_only_in_macro_f1(n_valid):
    rng = np.random.default_rng(6)
    case = np.repeat(np.arange(14), 20)
    a = rng.random(280) < 0.5
    b = np.where(rng.random(280) < 0.8, a, ~a)
    given = case < n_valid
    valid = confusion_counts(a[given], b[given], case=case[given], n_cases=14)
    counted = confusion_counts(a, np.where(given, b, ~a), case=case, n_cases=14)
    agreement = two_rater_agreement(valid, counted=counted, rule=PercentileBootstrap(1))[0]
    assert agreement.n_cases == 14
    assert agreement.mf1.low < agreement.mf1.value < agreement.mf1.high
    for name in ("raw", "kappa", "ac1", "alpha"):
        figure = getattr(agreement, name)
        assert (figure.low is not None) is (n_valid == 10), name
        assert (f"{n_valid} of the 10 cases needed" in figure.note) is (n_valid < 10), name


def test_undefined_resamples_are_dropped_and_counted():
    defined = np.linspace(0, 1, 960)
    drawn = np.full((2, 1000), np.nan)
    drawn[0, :960] = defined
    drawn[1, :940] = defined[:940]
    intervals = percentile_intervals(drawn, [50, 50])
    assert intervals.kept.tolist() == [960, 940]
    assert intervals.interval(0) == pytest.approx(np.percentile(defined, [2.5, 97.5]))
    assert intervals.interval(1) == Undefined("no interval: undefined in 60 of 1000 resamples", 50)
    attached = PercentileBootstrap(1).of_replicates(drawn, np.array([50, 50]), np.array([50.0, 50.0]))
    first, second = attached.attach([Estimate(0.5, 7), Estimate(0.5, 7)])
    assert first.note == "40 resamples excluded: undefined"
    assert second.low is None
    assert "60 of 1000" in second.note


def test_a_rare_class_leaves_kappa_without_an_interval():
    # One case of 20 holds the only disagreement: about 1 in e resamples misses it, and kappa is 0/0 there.
    counts = ConfusionCounts(*(np.zeros((20, 1), dtype=int) for _ in range(4)))
    counts.tp[:] = 5
    counts.tn[0] = 1
    counts.fp[0] = 1
    agreement = two_rater_agreement(counts, rule=PercentileBootstrap(1))[0]
    assert agreement.kappa.value == pytest.approx(2 * 100 * 1 / (100 * 1 + 2 * 101), abs=1e-12)
    assert agreement.kappa.low is None
    assert "no interval: undefined in" in agreement.kappa.note
    assert agreement.raw.low is not None


def test_the_value_and_every_resample_are_clipped():
    rng = np.random.default_rng(5)
    scores = rng.normal(-0.02, 0.1, size=50)
    figure = mean_of_cases(scores, PercentileBootstrap(1), clip=(0.0, 1.0))
    mean = scores.mean()
    assert mean < 0
    assert figure.value == 0
    assert f"clipped from {mean:.6g}" in figure.note
    # Every resample of this sample has a mean below 0 as well, which is clipped to 0: no interval of no width.
    assert (figure.low, figure.high) == (None, None)
    assert figure.note.endswith("no interval: all resamples agree")


def test_the_ends_of_an_interval_are_clipped():
    rng = np.random.default_rng(6)
    scores = rng.normal(0, 0.1, size=50)
    scores += 0.01 - scores.mean()
    figure = mean_of_cases(scores, PercentileBootstrap(1), clip=(0.0, 1.0))
    unclipped = mean_of_cases(scores, PercentileBootstrap(1))
    assert unclipped.low < 0 < unclipped.high
    assert (figure.value, figure.low, figure.high) == (unclipped.value, 0.0, unclipped.high)


def test_no_cases():
    assert mean_of_cases([], PercentileBootstrap(1)) == Undefined("no responses", 0)


def test_sums_by_case_places_values():
    sums = sums_by_case([1.0, 2, 4, 8], [0, 2, 2, 0], 3, [0, 1, 1, 1], 2)
    assert sums.tolist() == [[1, 8], [0, 0], [0, 6]]


@pytest.mark.slow
def test_all_slices_of_a_benchmark_in_milliseconds():
    rng = np.random.default_rng(6)
    counts = ConfusionCounts(*(rng.integers(0, 40, size=(250, 12)) for _ in range(4)))
    rule = PercentileBootstrap(1)
    two_rater_agreement(counts, rule=rule)  # draws the weights
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        two_rater_agreement(counts, rule=rule)
        best = min(best, time.process_time() - start)
    # About 8 ms when nothing else runs; scikit-learn takes seconds. The bound only catches a lost vectorisation.
    assert best < 0.2
