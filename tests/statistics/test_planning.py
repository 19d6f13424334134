"""Label budgets and detectable differences, against SciPy's distributions and published tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from consilium.statistics.detectable_difference import detectable_from_standard_error, detectable_mean_difference
from consilium.statistics.estimate import Undefined
from consilium.statistics.label_budget import Pilot, cases_needed, half_widths
from consilium.statistics.prediction_powered import case_sums, prediction_powered

PILOT = Pilot(label_variance=0.04, residual_variance=0.01, n_labelled_cases=30, n_cases=400)


def by_trying(half_width, variance, share):
    """The least n of at least 5 effective cases to 400, one at a time; a share of them is effective."""
    for n in range(5, 401):
        if share * n >= 5 and stats.t(share * n - 1).ppf(0.975) * np.sqrt(variance(n)) <= half_width:
            return n
    return None


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.55])
@pytest.mark.parametrize("half_width", [1.0, 0.1, 0.05, 0.03, 0.021])
def test_the_least_number_that_reaches_the_half_width(half_width, share):
    pilot = replace(PILOT, effective_share=share)
    alone = cases_needed(pilot, half_width, with_judge=False)
    assert alone.value == by_trying(half_width, lambda n: 0.04 / n, share)
    powered = cases_needed(pilot, half_width, with_judge=True)
    assert powered.value == by_trying(half_width, lambda n: 0.04 / 400 + (1 / n - 1 / 400) * 0.01, share)
    assert powered.value <= alone.value


def test_by_hand():
    # t(0.975, 63) = 1.9983; 1.9983 · sqrt(0.04/64) = 0.04996, and with 63 cases 1.9990 · sqrt(0.04/63) = 0.05037.
    assert cases_needed(PILOT, 0.05, with_judge=False).value == 64
    assert half_widths(PILOT, [64], with_judge=False)[0] == pytest.approx(0.04996, abs=1e-5)
    # All 400 labelled: t(0.975, 399) = 1.96593; · sqrt(0.04/400) = 0.0196593, whatever the judge says.
    for with_judge in (True, False):
        assert half_widths(PILOT, [400], with_judge=with_judge)[0] == pytest.approx(0.0196593, abs=1e-7)


def test_out_of_reach_is_undefined():
    for with_judge in (True, False):
        plan = cases_needed(PILOT, 0.0196, with_judge=with_judge)
        assert isinstance(plan, Undefined)
        # t(0.975, 402) = 1.96588: 403 cases give 1.96588 · sqrt(0.04/403) = 0.019586, and 402 give 0.019610.
        assert plan.reason == "out of reach: physicians on all 400 cases give ±0.01966, and 403 are needed"
    # Labels on finitely many cases leave the spread of the cases: a perfect judge does not go below it.
    perfect = Pilot(0.04, 0.0, 30, 400)
    assert cases_needed(perfect, 0.0198, with_judge=True).value < cases_needed(perfect, 0.0198, with_judge=False).value
    assert not cases_needed(perfect, 0.0196, with_judge=True).defined


@pytest.mark.parametrize(
    ("pilot", "note"),
    [
        (Pilot(0.04, 0.01, 9, 400), "no plan: the pilot has 9.0 of the 10 effective labelled cases needed"),
        # 12 cases as unequal as these count for 9.96.
        (Pilot(0.04, 0.01, 12, 400, 0.83), "no plan: the pilot has 9.9 of the 10 effective labelled cases needed"),
        (Pilot(0.0, 0.0, 30, 400), "no plan: all labelled cases are alike"),
    ],
)
def test_no_plan(pilot, note):
    assert cases_needed(pilot, 0.05, with_judge=True).note == note


def test_a_plan_foretells_the_width_that_the_estimate_has():
    rng = np.random.default_rng(3)
    quality = rng.beta(2, 3, 400)
    y, f = rng.binomial(20, quality) / 20, rng.binomial(20, quality) / 20

    def estimate(n):
        labels = np.where(np.arange(400) < n, y, np.nan)
        return prediction_powered(case_sums(case=np.arange(400), n_cases=400, prediction=f, label=labels))[0]

    result = estimate(100)
    pilot = Pilot(result.label_variance, result.residual_variance, result.n_labelled_cases, result.n_cases)
    own = half_widths(pilot, [100], with_judge=True)[0]
    assert own == pytest.approx((result.powered.high - result.powered.low) / 2, rel=0.05)
    later = estimate(200)
    foretold = half_widths(pilot, [200], with_judge=True)[0]
    assert foretold == pytest.approx((later.powered.high - later.powered.low) / 2, rel=0.15)


def test_paired_t_test():
    # Cohen 1988, G*Power's own example: d = 0.5, alpha 0.05 two-sided, power 0.8 takes 34 pairs (power 0.8077).
    assert detectable_mean_difference(1.0, 20, 34).value < 0.5 < detectable_mean_difference(1.0, 20, 33).value
    for n in (10, 57, 2750):
        delta = detectable_mean_difference(0.3, 50, n).value
        border, shift = stats.t(n - 1).ppf(0.975), delta * np.sqrt(n) / 0.3
        power = 1 - stats.nct(n - 1, shift).cdf(border) + stats.nct(n - 1, shift).cdf(-border)
        assert power == pytest.approx(0.8, abs=1e-9)


def test_from_a_standard_error():
    # Of 50 cases 25 are effective; of 200 then 100. With 99 degrees of freedom the power is 0.8 at δ.
    delta = detectable_from_standard_error(0.02, 50, 200, effective=25).value
    border, shift = stats.t(99).ppf(0.975), delta / (0.02 * np.sqrt(50 / 200))
    assert 1 - stats.nct(99, shift).cdf(border) + stats.nct(99, shift).cdf(-border) == pytest.approx(0.8, abs=1e-9)
    # Many cases: 1.959964 + 0.841621 = 2.801585 standard errors, 0.02 · sqrt(50 / 20,000) each.
    many = detectable_from_standard_error(0.02, 50, 20_000, effective=50).value
    assert many == pytest.approx(2.801585 * 0.001, rel=1e-3)


def test_a_mean_has_the_same_plan_by_either_way():
    differences = np.random.default_rng(4).normal(0.1, 0.3, 17)
    error = np.std(differences, ddof=1) / np.sqrt(17)
    by_error = detectable_from_standard_error(error, 17, 60, effective=17).value
    assert by_error == pytest.approx(detectable_mean_difference(error * np.sqrt(17), 17, 60).value)


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        ((0.1, 9, 100), "no plan: both have 9.0 of the 10 effective cases needed"),
        ((0.1, 50, 4), "no plan: 4.0 of the 5 effective cases needed"),
        ((0.0, 50, 90), "no plan: the differences are all alike"),
    ],
)
def test_no_detectable_difference(arguments, note):
    assert detectable_mean_difference(*arguments).note == note
    assert detectable_from_standard_error(*arguments, effective=arguments[1]).note == note


def test_unequal_cases_are_fewer():
    few = detectable_from_standard_error(0.1, 20, 100, effective=8)
    assert few.note == "no plan: both have 8.0 of the 10 effective cases needed"
    assert (
        detectable_from_standard_error(0.1, 20, 8, effective=10).note == "no plan: 4.0 of the 5 effective cases needed"
    )
