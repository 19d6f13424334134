"""The ratio of two shares against Koopman's own example, a search that maximises the likelihood, and SciPy's ratio."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2
from scipy.stats.contingency import relative_risk

from consilium.statistics.estimate import Undefined
from consilium.statistics.ratio_of_shares import enrichment, koopman_interval

counts = st.tuples(st.integers(1, 40), st.integers(1, 40)).flatmap(
    lambda sizes: st.tuples(st.integers(0, sizes[0]), st.just(sizes[0]), st.integers(0, sizes[1]), st.just(sizes[1]))
)


def score(ratio: float, hits: int, n: int, hits_rest: int, n_rest: int) -> float:
    """χ² with the most likely share of the others found by a search, not by the formula."""

    def minus_log_likelihood(logit: float) -> float:
        top = min(1.0, 1.0 / ratio)
        rest = top / (1 + math.exp(-logit))
        own = ratio * rest
        total = 0.0
        for x, of, p in ((hits, n, own), (hits_rest, n_rest, rest)):
            total += x * math.log(max(p, 1e-300)) + (of - x) * math.log(max(1 - p, 1e-300))
        return -total

    best = minimize_scalar(minus_log_likelihood, bounds=(-40, 40), method="bounded", options={"xatol": 1e-12})
    rest = min(1.0, 1.0 / ratio) / (1 + math.exp(-best.x))
    own = ratio * rest
    return (hits - n * own) ** 2 / (n * own * (1 - own)) + (hits_rest - n_rest * rest) ** 2 / (
        n_rest * rest * (1 - rest)
    )


def test_koopmans_example() -> None:
    # Koopman 1984: 36 of 40 and 16 of 80.
    low, high = koopman_interval(36, 40, 16, 80)
    assert (round(low, 2), round(high, 2)) == (2.94, 7.15)


@pytest.mark.parametrize("table", [(5, 12, 9, 30), (1, 20, 3, 15), (14, 15, 6, 40), (2, 60, 30, 60)])
def test_the_ends_are_where_the_score_is_that_of_the_level(table: tuple[int, int, int, int]) -> None:
    limit = chi2.ppf(0.95, 1)
    hits, n, hits_rest, n_rest = table
    ratio = hits / n / (hits_rest / n_rest)
    low, high = koopman_interval(*table)
    assert low == pytest.approx(brentq(lambda r: score(r, *table) - limit, ratio / 500, ratio), rel=1e-4)
    assert high == pytest.approx(brentq(lambda r: score(r, *table) - limit, ratio, ratio * 500), rel=1e-4)


@given(counts)
def test_ratio_interval_and_enrichment_agree(table: tuple[int, int, int, int]) -> None:
    hits, n, hits_rest, n_rest = table
    both = enrichment(*table)
    total = n + n_rest
    if not hits + hits_rest:
        assert isinstance(both.to_rest, Undefined) and isinstance(both.to_whole, Undefined)
        return
    whole = both.to_whole
    assert whole.value == pytest.approx(hits / n / ((hits + hits_rest) / total))
    assert whole.low is not None and whole.high is not None
    assert 0 <= whole.low <= whole.value + 1e-9 and whole.value <= whole.high + 1e-9
    assert whole.high <= total / n + 1e-9
    if not hits_rest:
        assert isinstance(both.to_rest, Undefined)
        assert whole.high == pytest.approx(total / n)
        return
    ratio = both.to_rest
    assert ratio.value == pytest.approx(relative_risk(hits, n, hits_rest, n_rest).relative_risk)
    assert ratio.low is not None and ratio.high is not None
    # Turned round, the ends are those of the inverse ratio.
    if hits:
        low, high = koopman_interval(hits_rest, n_rest, hits, n)
        assert (1 / high, 1 / low) == pytest.approx((ratio.low, ratio.high), rel=1e-6)
    # Above 1 against the others is above 1 against all.
    assert (ratio.low > 1) == (whole.low > 1) or whole.low == pytest.approx(1)


def test_where_it_does_not_exist() -> None:
    assert enrichment(0, 0, 3, 9).to_rest == Undefined("no case in the slice", 9)
    assert enrichment(3, 9, 0, 0).to_whole == Undefined("no case outside the slice", 9)
    assert enrichment(0, 4, 0, 6).to_whole == Undefined("no case has this label", 10)
    only = enrichment(2, 4, 0, 6)
    assert only.to_rest == Undefined("no case outside the slice has this label", 10)
    assert only.to_whole.value == pytest.approx(2.5)
    with pytest.raises(ValueError):
        enrichment(5, 4, 0, 6)


def test_it_covers_the_ratio_in_nineteen_of_twenty_tables() -> None:
    # Every table of two sides of 12 and 25 cases, weighed by its chance with shares of 0.3 and 0.2.
    covered = total = 0.0
    for hits in range(13):
        for hits_rest in range(26):
            chance = math.comb(12, hits) * 0.3**hits * 0.7 ** (12 - hits)
            chance *= math.comb(25, hits_rest) * 0.2**hits_rest * 0.8 ** (25 - hits_rest)
            if not hits + hits_rest:
                continue
            low, high = koopman_interval(hits, 12, hits_rest, 25)
            total += chance
            covered += chance * (low <= 1.5 <= high)
    assert 0.93 < covered / total < 0.97
