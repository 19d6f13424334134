"""Responses beside their references, against arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.reference_comparison import (
    Ratios,
    best_of_references,
    compare_with_references,
    mean_of_references,
)

CASE = np.arange(3)


def ratios(above: list[float], below: list[float]) -> Ratios:
    return Ratios(np.array(above, dtype=float), np.array(below, dtype=float), np.zeros(len(above)))


def test_mean_and_best_of_the_references_of_each_response() -> None:
    # Two references of the first response, one of the second.
    shown = ratios([1, 3, 2], [4, 4, 2])
    whose = np.array([0, 0, 1])
    mean = mean_of_references(shown, whose, 2)
    assert (mean.above.tolist(), mean.below.tolist()) == ([2, 2], [4, 2])
    assert best_of_references(shown, whose).tolist() == [1, 2]
    # Of equal ones the first: 1/2 and 2/4.
    assert best_of_references(ratios([1, 2], [2, 4]), np.array([0, 0])).tolist() == [0]
    with pytest.raises(ValueError, match="each response needs a reference"):
        mean_of_references(shown, np.array([0, 0, 0]), 2)


def test_a_pooled_ratio_beside_another() -> None:
    # 3/4, 1/2, 2/2 beside 2/4, 1/2, 0/2: pooled 6/8 less 3/8; better, equal, better.
    both = compare_with_references(
        ratios([3, 1, 2], [4, 2, 2]), ratios([2, 1, 0], [4, 2, 2]), CASE, 3, rule=DEFAULT_RULE
    )
    assert (both.own.value, both.references.value, both.difference.value) == (6 / 8, 3 / 8, 3 / 8)
    assert (both.n_better, both.n_equal, both.n_worse) == (2, 1, 0)
    assert (both.better.value, both.equal.value, both.worse.value) == (2 / 3, 1 / 3, 0)
    assert both.difference.n == 3
    assert both.difference.low is None  # three cases are too few for an interval


def test_rounding_alone_is_no_difference() -> None:
    both = compare_with_references(ratios([0.1 + 0.2], [1]), ratios([0.3], [1]), CASE[:1], 1, rule=DEFAULT_RULE)
    assert (both.n_better, both.n_equal) == (0, 1)


def test_a_mean_below_0_is_clipped_before_it_is_subtracted() -> None:
    # Means -1/2 and 1/4: HealthBench clips a candidate's score at 0, so that the difference is 0 - 1/4.
    own = Ratios(np.array([-1.0, 0.0]), np.ones(2), np.full(2, -2.0))
    both = compare_with_references(own, ratios([0.5, 0], [1, 1]), CASE[:2], 2, rule=DEFAULT_RULE, clip=(0.0, 1.0))
    assert (both.own.value, both.difference.value) == (0, -1 / 4)
    assert (both.n_worse, both.n_equal) == (1, 1)


def test_the_interval_is_that_of_paired_values() -> None:
    """Where each response is 0.1 above its reference but for a little, the interval of the difference is short."""
    rng = np.random.default_rng(1)
    shown = rng.uniform(0.1, 0.8, 40)
    own = shown + 0.1 + rng.normal(0, 0.01, 40)
    both = compare_with_references(
        Ratios(own, np.ones(40), np.zeros(40)), Ratios(shown, np.ones(40), np.zeros(40)), np.arange(40), 40,
        rule=DEFAULT_RULE,
    )  # fmt: skip
    apart = own - shown
    # Student's t of the 40 differences, by hand: 2.0227 is its 97.5% quantile with 39 degrees of freedom.
    half = 2.0227 * apart.std(ddof=1) / np.sqrt(40)
    assert both.difference.low == pytest.approx(apart.mean() - half, abs=0.002)
    assert both.difference.high == pytest.approx(apart.mean() + half, abs=0.002)
    assert both.own.low is not None
    assert both.own.high is not None
    assert both.own.high - both.own.low > 5 * 2 * half
