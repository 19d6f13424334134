"""Calibration of k: the paper's numbers, the rounding rule, and how ranks depend on the threshold."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from consilium.statistics.calibration import Calibration, calibrate, threshold
from consilium.statistics.case_figures import case_ratio, sums_by_case
from consilium.statistics.estimate import Undefined
from consilium.statistics.intervals import DEFAULT_RULE, PercentileBootstrap
from consilium.statistics.ratios import estimated
from consilium.statistics.sensitivity import candidate_values, sensitivity
from tests.statistics import by_hand


def published_hits() -> np.ndarray:
    """285 numbers of 30 with sum 2,904 and quartiles 6, 9, 14. Sorted places 72, 143 and 214 are the quartiles."""
    hits = np.concatenate([np.full(71, 4), [6], np.full(70, 8), [9], np.full(70, 11), [14], np.full(71, 17)])
    hits[-54:] += 1
    assert (len(hits), hits.sum(), hits.max() <= 30, (np.diff(hits) >= 0).all()) == (285, 2904, True, True)
    return hits


def test_the_published_calibration():
    hits = published_hits()
    calibration = calibrate(np.random.default_rng(0).permutation(hits), 30)
    assert isinstance(calibration, Calibration)
    assert calibration.k.value == 10
    assert round(calibration.mean.value, 2) == 10.19
    assert round(100 * calibration.hit_rate, 2) == 33.96
    assert 100 * calibration.hit_rate == pytest.approx(100 * 2904 / 8550)
    assert (calibration.q1, calibration.median, calibration.q3) == (6, 9, 14)
    assert (calibration.n, calibration.n_cases, calibration.n_criteria, calibration.total_hits) == (285, 285, 30, 2904)
    assert sum(calibration.histogram) == 285
    assert len(calibration.histogram) == 31
    assert calibration.histogram[14] == 1
    # A normal interval of the mean is close by: 1.96 · s / sqrt(285).
    half = 1.96 * hits.std(ddof=1) / 285**0.5
    assert calibration.mean.low == pytest.approx(calibration.mean.value - half, abs=0.1)
    assert calibration.mean.high == pytest.approx(calibration.mean.value + half, abs=0.1)
    assert calibration.k.low <= 10 <= calibration.k.high
    assert calibration.k.low == int(calibration.k.low)
    assert calibration.k.high == int(calibration.k.high)
    assert calibrate(hits, 30).mean.value == calibration.mean.value


@pytest.mark.slow
@given(st.lists(st.integers(0, 40), min_size=1, max_size=50))
def test_k_is_the_mean_rounded_half_up_within_its_range(hits):
    exact = Fraction(sum(hits), len(hits))
    assert threshold(sum(hits), len(hits), 40) == min(40, max(1, floor(exact + Fraction(1, 2))))
    assert calibrate(hits, 40).k.value == threshold(sum(hits), len(hits), 40)


@pytest.mark.parametrize(("hits", "k"), [([0, 1], 1), ([1, 2], 2), ([2, 3], 3), ([3, 4], 4), ([0, 0], 1), ([9, 9], 5)])
def test_halves_go_up_and_ends_are_clamped(hits, k):
    # Banker's rounding would give 2 for 2.5.
    assert threshold(sum(hits), 2, 5) == k


def test_reasons():
    assert calibrate([], []) == Undefined("no responses")
    assert calibrate([3, 4], [30, 29]) == Undefined("the number of positive criteria is not constant (29 to 30)", 2)
    assert calibrate([0, 0], [0, 0]) == Undefined("no positive criteria", 2)
    with pytest.raises(ValueError, match="between 0 and 30"):
        calibrate([31], [30])


def test_few_cases_give_no_interval_and_say_so():
    hits = np.arange(40) % 12
    for n_cases, due in ((4, False), (5, True)):
        calibration = calibrate(hits, 30, case=np.arange(40) % n_cases)
        assert calibration.n_cases == n_cases
        assert (calibration.k.low is not None) is due
        assert ("4.0 of the 5 effective cases" in calibration.k.note) is not due
        assert (calibration.mean.low is not None) is due


def test_ends_of_k_are_those_of_the_mean_rounded_half_up():
    hits = [3, 9, 4, 14, 6, 8]
    calibration = calibrate(hits, 30)
    assert isinstance(calibration, Calibration)
    low, high = (30 * end for end in by_hand.ratio_ends([s / 30 for s in hits], [1] * 6))
    assert (calibration.mean.low, calibration.mean.high) == pytest.approx((low, high))
    assert (calibration.k.low, calibration.k.high) == (floor(low + 0.5), floor(high + 0.5))


def test_responses_of_one_case_are_left_out_together():
    rng = np.random.default_rng(2)
    level = rng.integers(3, 20, size=12)
    case = np.repeat(np.arange(12), 20)
    hits = level[case]
    together, apart = calibrate(hits, 30, case=case), calibrate(hits, 30)
    # 20 equal responses a case carry no more than one: the interval is about sqrt(20) times as wide.
    ratio = (together.mean.high - together.mean.low) / (apart.mean.high - apart.mean.low)
    assert 3.5 < ratio < 5.5


def test_sensitivity_names_nearby_settings_and_ranks():
    # Three candidates whose order at k = 2 is A > B > C; at k = 4 only C, with its one strong answer, scores.
    responses = {"A": ([3, 3], [4, 4]), "B": ([3, 2], [4, 4]), "C": ([4, 0], [4, 4])}
    rows = {(row.setting, row.k): row for row in sensitivity(responses, 2, reach=2)}
    assert [key for key in rows if key[0] == "cacs_at_k"] == [("cacs_at_k", k) for k in (1, 2, 3, 4)]
    # CACS@2 = mean of max(0, s - 1)/3: A 4/6, B 3/6, C 3/6.
    main = rows["cacs_at_k", 2]
    assert [main.values[name].value for name in "ABC"] == pytest.approx([400 / 6, 50, 50])
    assert main.spearman.value == pytest.approx(1)
    assert isinstance(main.top3, Undefined)  # all three are in the top 3
    # Pass@4: 0, 0, 0.5 against 66.7, 50, 50: mid-ranks (1.5, 1.5, 3) and (3, 1.5, 1.5), correlation -1/2.
    assert rows["pass_at_k", 4].spearman.value == pytest.approx(-0.5)
    # Rubric Accuracy: 75, 62.5, 50 against (3, 1.5, 1.5): correlation of (3, 2, 1) with it is sqrt(3)/2.
    assert rows["rubric_accuracy", None].spearman.value == pytest.approx(3**0.5 / 2)


def test_sensitivity_of_nothing():
    for row in sensitivity({}, 3):
        assert isinstance(row.spearman, Undefined)
        assert isinstance(row.top5, Undefined)


def drawn_candidates(seed: int = 4) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Six candidates on 15 cases, twice each; the last has shorter rubrics."""
    rng = np.random.default_rng(seed)
    sizes = dict(zip("abcdef", (12, 12, 12, 12, 12, 7), strict=True))
    return {
        name: (rng.integers(0, size + 1, 30), np.full(30, size), np.repeat(np.arange(15), 2))
        for name, size in sizes.items()
    }


def test_sensitivity_over_every_threshold_against_scipy():
    candidates = {name: columns[:2] for name, columns in drawn_candidates().items()}
    rows = {(row.setting, row.k): row for row in sensitivity(candidates, 5, None)}
    assert [k for setting, k in rows if setting == "pass_at_k"] == list(range(1, 13))
    assert list(rows)[-1] == ("rubric_accuracy", None)

    def cacs(name: str, k: int) -> float | None:
        hits, present = candidates[name]
        return None if present[0] < k else 100 * np.maximum(0, hits - k + 1).mean() / (present[0] - k + 1)

    for k in range(1, 13):
        shared = [name for name in candidates if cacs(name, k) is not None]
        assert len(shared) == (6 if k <= 7 else 5)
        main, other = [cacs(name, 5) for name in shared], [cacs(name, k) for name in shared]
        row = rows["cacs_at_k", k]
        assert row.spearman.n == len(shared)
        assert row.spearman.value == pytest.approx(spearmanr(main, other).statistic)
        assert row.kendall.value == pytest.approx(kendalltau(main, other).statistic)
    # The same rows that are within 3 of the main threshold are those of the shorter list.
    assert all(rows[row.setting, row.k] == row for row in sensitivity(candidates, 5))


def test_level_candidates_share_a_rank_whatever_the_order_of_their_responses():
    # The same hits in another order: numpy's means may differ in the last bit, the ranks must not.
    rng = np.random.default_rng(1)
    hits = rng.integers(0, 31, 301)
    candidates = {name: (rng.permutation(hits), np.full(301, 30)) for name in "abcd"}
    for row in sensitivity(candidates, 10):
        assert row.spearman == Undefined("constant values", 4)
        assert row.kendall == Undefined("constant values", 4)


@pytest.mark.parametrize("rule", [DEFAULT_RULE, PercentileBootstrap(7)], ids=lambda rule: rule.key)
def test_intervals_of_candidates_are_those_over_their_cases(rule):
    candidates = drawn_candidates()
    rows = sensitivity({name: columns[:2] for name, columns in candidates.items()}, 5, None)
    values = {
        (row.setting, row.k): figures
        for row, figures in zip(rows, candidate_values(candidates, rows, rule=rule), strict=True)
    }
    hits, _present, case = candidates["b"]
    for key, value, scale in (
        (("cacs_at_k", 9), np.maximum(0, hits - 8) / 4, 100),
        (("pass_at_k", 9), (hits >= 9) * 1.0, 1),
        (("rubric_accuracy", None), hits / 12, 100),
    ):
        sums = sums_by_case(value, case, 15), sums_by_case(np.ones(30), case, 15)
        expected = estimated(case_ratio(*sums, scale=scale), n=[30], rule=rule)[0]
        for name in ("value", "low", "high"):
            assert getattr(values[key]["b"], name) == pytest.approx(getattr(expected, name))
    assert values["cacs_at_k", 9]["f"] == Undefined("no response has 9 positive criteria")


@pytest.mark.parametrize(
    ("rule", "n_cases", "reason"),
    [
        (DEFAULT_RULE, 4, "4.0 of the 5 effective cases"),
        (DEFAULT_RULE, 5, None),
        (PercentileBootstrap(7), 9, "9 of the 10 cases"),
        (PercentileBootstrap(7), 10, None),
    ],
)
def test_a_candidate_on_few_cases_has_no_interval_though_the_others_have(rule, n_cases, reason):
    candidates = drawn_candidates()
    few = {**candidates, "c": tuple(column[: 2 * n_cases] for column in candidates["c"])}
    rows = sensitivity({name: columns[:2] for name, columns in few.items()}, 5)
    values = candidate_values(few, rows, rule=rule)[0]
    assert values["b"].low is not None
    assert (values["c"].low is None) is (reason is not None)
    assert (reason or "") in values["c"].note


def test_values_of_no_candidates():
    rows = sensitivity({}, 2)
    assert candidate_values({}, rows, rule=DEFAULT_RULE) == [{}] * len(rows)
