"""Intervals of shares and medians against printed tables and scipy."""

from __future__ import annotations

import pytest

from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.median import interval_rank, median_figure
from consilium.statistics.wilson import wilson_interval


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [  # Newcombe 1998, Statistics in Medicine 17:857-872, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_printed_intervals(hits: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(hits, n) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_wilson_agrees_with_scipy_and_mirrors() -> None:
    from scipy.stats import binomtest

    for n in (1, 2, 7, 30, 413):
        for hits in {0, 1, n // 3, n - 1, n}:
            interval = binomtest(hits, n).proportion_ci(method="wilson")
            assert wilson_interval(hits, n) == pytest.approx((interval.low, interval.high), abs=1e-12)
            low, high = wilson_interval(n - hits, n)
            assert wilson_interval(hits, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_more_hits_than_trials_are_no_share() -> None:
    with pytest.raises(ValueError, match="4 of 3"):
        wilson_interval(4, 3)


def test_the_median_lies_between_the_order_statistics_of_the_table() -> None:
    # Ranks of the 95% interval of a median, as printed in Conover 1999 and the Geigy tables.
    assert [interval_rank(n) for n in (5, 6, 8, 9, 10, 20, 50, 100)] == [0, 1, 1, 2, 2, 6, 18, 40]
    median = median_figure(range(10, 0, -1))
    assert median == Estimate(5.5, 10, 2.0, 9.0)
    assert median_figure([3.0]) == Estimate(3.0, 1)
    assert isinstance(median_figure([]), Undefined)
