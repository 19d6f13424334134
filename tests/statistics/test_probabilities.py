"""Probabilities against outcomes, and the difference of two raters: scikit-learn, arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve as sklearn_curve
from sklearn.metrics import brier_score_loss, f1_score

from consilium.statistics.bootstrap import CaseBootstrap
from consilium.statistics.estimate import Undefined
from consilium.statistics.intervals import PercentileBootstrap
from consilium.statistics.paired_difference import mf1_difference
from consilium.statistics.probabilities import brier_score, calibration_curve, expected_calibration_error

N_CASES = 15


@pytest.fixture
def rated() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes, probabilities that have something to do with them, and cases."""
    rng = np.random.default_rng(8)
    probability = rng.random(600)
    return (rng.random(600) < probability**2).astype(int), probability, rng.integers(0, N_CASES, 600)


def test_brier_score_and_curve_are_those_of_scikit_learn(rated: tuple[np.ndarray, ...]) -> None:
    met, probability, case = rated
    rule = PercentileBootstrap(3)
    score = brier_score(met, probability, case=case, n_cases=N_CASES, rule=rule)
    assert score.value == pytest.approx(brier_score_loss(met, probability), abs=1e-12)
    assert brier_score(met, probability).value == pytest.approx(score.value, abs=1e-12)
    assert (score.n, score.low is not None and score.low < score.value < score.high) == (600, True)  # type: ignore[operator]
    curve = calibration_curve(met, probability, case=case, n_cases=N_CASES, rule=rule)
    share, mean = sklearn_curve(met, probability, n_bins=10)
    assert [part.share_met.value for part in curve] == pytest.approx(share.tolist())
    assert [part.mean_probability for part in curve] == pytest.approx(mean.tolist())
    assert sum(part.n for part in curve) == 600
    by_hand = sum(part.n * abs(part.share_met.value - part.mean_probability) for part in curve) / 600
    assert expected_calibration_error(met, probability).value == pytest.approx(by_hand, abs=1e-12)


def test_calibration_error_by_hand() -> None:
    # two bins: 0.2 twice with one met (off by 0.3), 0.9 three times with all met (off by 0.1); 0.3 opens a bin
    assert expected_calibration_error([1, 0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9, 0.9]).value == pytest.approx(
        (2 * 0.3 + 3 * 0.1) / 5
    )
    parts = calibration_curve([1, 0, 1], [0.1 + 0.2, 0.29, 1.0], case=[0, 0, 1], n_cases=2, rule=PercentileBootstrap(0))
    assert [(part.start, part.n) for part in parts] == [(0.2, 1), (0.3, 1), (0.9, 1)]
    assert parts[0].share_met.low is None  # two cases carry no interval
    assert "2 of the 10" not in parts[0].share_met.note
    assert parts[0].share_met.note.startswith("no interval: 1 of the 10 cases")


def test_without_pairs_there_is_no_figure_and_what_is_no_probability_is_refused() -> None:
    assert isinstance(brier_score([], []), Undefined)
    assert isinstance(expected_calibration_error([], []), Undefined)
    assert isinstance(mf1_difference([], [], [], case=[], n_cases=0, rule=PercentileBootstrap(0)), Undefined)
    with pytest.raises(ValueError, match="between 0 and 1"):
        brier_score([1], [1.2])
    with pytest.raises(ValueError, match="for each outcome"):
        brier_score([1, 0], [0.5])


@pytest.mark.slow
def test_a_difference_is_resampled_in_pairs(rated: tuple[np.ndarray, ...]) -> None:
    met, probability, case = rated
    good, poor = (probability > 0.7).astype(int), (probability > 0.2).astype(int)
    bootstrap, rule = CaseBootstrap(N_CASES, 5), PercentileBootstrap(5)
    estimate = mf1_difference(met, good, poor, case=case, n_cases=N_CASES, rule=rule)

    def difference(rows: np.ndarray) -> float:
        first, other = (f1_score(met[rows], verdicts[rows], average="macro") for verdicts in (good, poor))
        return float(first - other)

    assert estimate.value == pytest.approx(difference(np.arange(600)), abs=1e-12)
    weights = np.concatenate(list(bootstrap.weight_blocks()))[:200]
    by_hand = [difference(np.repeat(np.arange(600), drawn[case].astype(int))) for drawn in weights]
    fewer = mf1_difference(met, good, poor, case=case, n_cases=N_CASES, rule=PercentileBootstrap(5, resamples=200))
    assert (fewer.low, fewer.high) == pytest.approx(tuple(np.quantile(by_hand, [0.025, 0.975])), abs=1e-9)
    same = mf1_difference(met, good, good, case=case, n_cases=N_CASES, rule=rule)
    assert (same.value, same.low, same.high) == (0, None, None)
    assert same.note == "no interval: all resamples agree"
