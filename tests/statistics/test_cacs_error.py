"""A judge's errors carried to CACS@k: the simulation against exact convolution, scipy and arithmetic by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom, spearmanr

from consilium.statistics.cacs import cacs_values
from consilium.statistics.cacs_error import (
    ErrorRates,
    exact_mean,
    hits_distribution,
    propagate,
    sensitivity_figures,
    specificity_figures,
)
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Estimate, Undefined

RATES = ErrorRates(0.85, 0.9)


def test_a_judge_of_two_criteria_by_hand():
    # One of two met: lost with 0.15, the other gained with 0.1. P(0) = 0.15 · 0.9, P(2) = 0.85 · 0.1.
    assert hits_distribution(1, 2, RATES) == pytest.approx([0.135, 0.015 + 0.765, 0.085])
    # CACS@2 of two criteria is 100 where both are met.
    assert exact_mean([1], [2], RATES, lambda s, n: cacs_values(s, n, 2)) == pytest.approx(8.5)
    # Where nothing or everything is met, one binomial is left.
    assert hits_distribution(0, 30, RATES) == pytest.approx(binom.pmf(np.arange(31), 30, 0.1))
    assert hits_distribution(30, 30, RATES) == pytest.approx(binom.pmf(np.arange(31), 30, 0.85))


def study(seed: int = 3, size: int = 60) -> list[tuple[str, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    shares = {"one": 0.55, "two": 0.5, "three": 0.3, "four": 0.1}
    return [(name, rng.binomial(30, share, size), np.full(size, 30)) for name, share in shares.items()]


@pytest.mark.slow
def test_the_simulation_has_the_exact_mean_and_spread():
    simulation = propagate(study(), RATES, 10, seed=5, draws=4000)
    for name, hits, present in study():
        exact = exact_mean(hits, present, RATES, lambda s, n: cacs_values(s, n, 10))
        second = [
            float(hits_distribution(s, 30, RATES) @ cacs_values(np.arange(31), 30, 10) ** 2)
            - float(hits_distribution(s, 30, RATES) @ cacs_values(np.arange(31), 30, 10)) ** 2
            for s in hits.tolist()
        ]
        deviation = (sum(second) ** 0.5) / len(hits)  # of one draw's mean over the responses
        under = simulation.cacs[name]
        assert under.judged.value == pytest.approx(exact, abs=4 * deviation / 4000**0.5)
        assert under.judged.high - under.judged.low == pytest.approx(2 * 1.96 * deviation, rel=0.15)
        assert under.bias.value == pytest.approx(under.judged.value - cacs_values(hits, present, 10).mean())
        # Rubric Accuracy is linear: sens · share + (1 - spec) · (1 - share).
        share = hits.sum() / present.sum()
        assert simulation.accuracy[name].judged.value == pytest.approx(
            100 * (0.85 * share + 0.1 * (1 - share)), abs=0.2
        )


@pytest.mark.slow
def test_order_against_the_same_draws_made_apart():
    candidates = study(size=8)
    simulation = propagate(candidates, ErrorRates(0.6, 0.7), 10, seed=9, draws=500)
    rng = np.random.Generator(np.random.PCG64(9))
    hits = np.concatenate([candidate[1] for candidate in candidates])
    judged = rng.binomial(hits, 0.6, size=(500, 32)) + rng.binomial(30 - hits, 1 - 0.7, size=(500, 32))
    drawn = 100 * np.maximum(0, judged - 9).reshape(500, 4, 8).sum(axis=2) / (21 * 8)
    true = [simulation.cacs[candidate[0]].true.value for candidate in candidates]
    assert simulation.spearman.value == pytest.approx(np.mean([spearmanr(true, draw).statistic for draw in drawn]))
    order = sorted(range(4), key=lambda i: -true[i])
    for pair, (upper, lower) in zip(simulation.neighbours, pairwise(order), strict=True):
        assert (pair.upper, pair.lower) == (candidates[upper][0], candidates[lower][0])
        assert pair.turned.value == pytest.approx((drawn[:, lower] > drawn[:, upper]).mean())
    assert any(0 < pair.turned.value < 1 for pair in simulation.neighbours)


def test_a_judge_without_errors_changes_nothing_and_one_that_always_errs_turns_all_round():
    faultless = propagate(study(), ErrorRates(1, 1), 10, draws=20)
    assert all(under.bias.value == pytest.approx(0, abs=1e-9) for under in faultless.cacs.values())
    assert faultless.spearman.value == pytest.approx(1)
    assert [pair.turned.value for pair in faultless.neighbours] == [0, 0, 0]
    contrary = propagate(study(), ErrorRates(0, 0), 1, draws=20)
    assert contrary.spearman.value == pytest.approx(-1)
    assert [pair.turned.value for pair in contrary.neighbours] == [1, 1, 1]


def test_a_response_with_fewer_than_k_criteria_counts_for_nothing():
    alone = propagate([("one", [20, 25], [30, 30])], ErrorRates(1, 1), 10, draws=20).cacs["one"]
    beside = propagate([("one", [20, 25, 2], [30, 30, 3])], ErrorRates(1, 1), 10, draws=20).cacs["one"]
    assert beside.judged.value == pytest.approx(alone.judged.value)
    assert beside.bias.value == pytest.approx(0, abs=1e-9)


def test_what_has_no_value_says_why():
    simulation = propagate(
        [("short", [2, 1], [3, 3]), ("long", [20], [30]), ("level", [20], [30])], RATES, 10, draws=50
    )
    assert simulation.cacs["short"].judged == Undefined("no response has 10 positive criteria")
    assert isinstance(simulation.accuracy["short"].judged, Estimate)
    assert simulation.spearman == Undefined("a correlation needs at least 3 units", 2)
    assert [pair.turned.note for pair in simulation.neighbours] == [
        "the true values are equal, so there is no order to reverse"
    ]
    nothing = propagate([], RATES, 10)
    assert (nothing.cacs, nothing.neighbours, nothing.spearman.defined) == ({}, [], False)
    with pytest.raises(ValueError, match="between 0"):
        propagate([("one", [4], [3])], RATES, 1)
    with pytest.raises(ValueError, match="shares"):
        ErrorRates(1.2, 0.5)


def test_sensitivity_and_specificity():
    # 8 of 10 met kept, 15 of 20 not met kept.
    counts = ConfusionCounts.single(tp=8, fp=5, fn=2, tn=15)
    assert sensitivity_figures(counts) == [Estimate(0.8, 10)]
    assert specificity_figures(counts) == [Estimate(0.75, 20)]
    one_class = ConfusionCounts.single(tp=0, fp=1, fn=0, tn=3)
    assert sensitivity_figures(one_class) == [Undefined("the reference never said met")]
    assert specificity_figures(ConfusionCounts.single(0, 0, 0, 0)) == [Undefined("no pairs")]


def test_the_seed_decides():
    whole = propagate(study(), RATES, 10, seed=2, draws=60)
    assert propagate(study(), RATES, 10, seed=2, draws=60) == whole
    assert propagate(study(), RATES, 10, seed=3, draws=60) != whole
