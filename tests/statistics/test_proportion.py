"""Exact bounds against a published table, scipy, and a count over every possible sample."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from scipy.stats import binomtest

from consilium.statistics.proportion import clopper_pearson, exact_proportion, finite_population_bounds


# Newcombe 1998, Statistics in Medicine 17:857, table I, method 5 (Clopper–Pearson).
@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0, 0.1684), (1, 29, 0.0009, 0.1776)],
)
def test_clopper_pearson_is_the_published_one(hits: int, n: int, low: float, high: float) -> None:
    assert clopper_pearson(hits, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.slow
def test_clopper_pearson_is_scipys() -> None:
    for n in (1, 2, 7, 40):
        for hits in range(n + 1):
            interval = binomtest(hits, n).proportion_ci(method="exact")
            assert clopper_pearson(hits, n) == pytest.approx((interval.low, interval.high), abs=1e-9)


def least_and_greatest(hits: int, n: int, population: int) -> tuple[int, int]:
    """The same by counting samples: how many of all that can be drawn have as many marked, or more, or fewer."""
    kept = []
    for marked in range(population + 1):
        drawn = [sum(unit < marked for unit in sample) for sample in combinations(range(population), n)]
        more, fewer = sum(x >= hits for x in drawn), sum(x <= hits for x in drawn)
        if 1000 * more > 25 * len(drawn) and 1000 * fewer > 25 * len(drawn):
            kept.append(marked)
    return min(kept), max(kept)


def test_finite_population_bounds_by_counting_every_sample() -> None:
    for population, n in ((6, 2), (9, 4), (10, 7), (5, 5)):
        for hits in range(n + 1):
            assert finite_population_bounds(hits, n, population) == least_and_greatest(hits, n, population)


def test_nothing_found_among_sixty_of_three_hundred() -> None:
    low, high = finite_population_bounds(0, 60, 300)
    assert low == 0
    # The chance to miss all of D marked is C(300 − D, 60) / C(300, 60): above 2.5% for the bound, not for the next.
    missed = [comb(300 - marked, 60) / comb(300, 60) for marked in (high, high + 1)]
    assert missed[0] > 0.025 >= missed[1]
    assert high / 300 < clopper_pearson(0, 60)[1]


def test_what_is_no_sample_is_refused() -> None:
    assert not exact_proportion(0, 0).defined
    for wrong in ((3, 2, 9), (-1, 2, 9), (1, 10, 9), (0, 0, 9)):
        with pytest.raises(ValueError, match="is no sample"):
            finite_population_bounds(*wrong)
    with pytest.raises(ValueError, match="no proportion"):
        clopper_pearson(2, 1)
