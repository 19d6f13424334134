"""Distances of distributions against SciPy, and the ranked probability score by its identities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilium.statistics.distribution_distance import earth_movers, jensen_shannon, total_variation
from consilium.statistics.panel_ceiling import half_distances, left_out_score, matched_distances
from consilium.statistics.panel_votes import distribution
from consilium.statistics.ranked_probability import (
    below,
    corrected_cumulative_error,
    cumulative_error,
    ranked_probability,
)
from tests.statistics.test_panel_votes import VOTES, ends, singles

SHARES = (
    st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any).map(lambda counts: np.array(counts) / sum(counts))
)
DISTANCES = {"tvd": total_variation, "w1": earth_movers}


@pytest.mark.slow
@given(SHARES, SHARES)
def test_distances_of_scipy(f: np.ndarray, q: np.ndarray) -> None:
    from scipy.spatial.distance import jensenshannon
    from scipy.stats import wasserstein_distance

    levels = np.arange(4)
    assert earth_movers(f, q) == pytest.approx(wasserstein_distance(levels, levels, f, q), abs=1e-12)
    assert jensen_shannon(f, q) == pytest.approx(jensenshannon(f, q) ** 2, abs=1e-12)
    assert total_variation(f, q) == pytest.approx(np.maximum(f - q, 0).sum())
    for distance in (total_variation, earth_movers, jensen_shannon):
        assert distance(f, f) == pytest.approx(0, abs=1e-12)
        assert distance(f, q) == pytest.approx(distance(q, f))


def test_the_ends_of_the_distances() -> None:
    lowest, highest = np.eye(4)[0], np.eye(4)[3]
    assert total_variation(lowest, highest) == 1
    assert earth_movers(lowest, highest) == 3
    assert jensen_shannon(lowest, highest) == pytest.approx(math.log(2))
    both = np.stack([lowest, highest])
    assert earth_movers(both, both[::-1]).tolist() == [3, 3]


@given(SHARES, VOTES)
def test_the_score_is_the_error_and_the_spread_of_the_panel(f: np.ndarray, votes: list[tuple[int, int]]) -> None:
    low, high = ends(votes)
    q = distribution(low, high, 4)
    cumulative = np.cumsum(q)[:-1]
    spread = (cumulative * (1 - cumulative)).sum() / 3
    assert ranked_probability(f, low, high) == pytest.approx(cumulative_error(f, q) + spread)


def test_the_score_by_hand() -> None:
    # All for level 1 of 4, of votes 0 and 1|2. F = 0 1 1. The vote 0 gives 1 1 1: 1 / 3. The other one is 1 (0 1 1) and
    # 2 (0 0 1): the mean of 0 and 1 / 3.
    f = np.eye(4)[1]
    assert ranked_probability(f, *ends([(0, 0), (1, 2)])) == pytest.approx((1 / 3 + 1 / 6) / 2)
    assert below([1], [2], 4).tolist() == [[0, 0.5, 1]]
    assert math.isnan(ranked_probability(f, *singles()))


@pytest.mark.slow
def test_the_corrected_error_is_unbiased() -> None:
    rng = np.random.default_rng(19)
    f, q = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.3, 0.3, 0.2, 0.2])
    drawn = [(rng.choice(4, 5, p=f), np.sort(rng.choice(4, 5, p=q))) for _ in range(20_000)]
    corrected = np.array([corrected_cumulative_error(readings, votes, votes, 4) for readings, votes in drawn])
    # The standard error of the mean is about 0.0006.
    assert corrected.mean() == pytest.approx(cumulative_error(f, q), abs=0.003)
    assert math.isnan(corrected_cumulative_error([1], [1, 2], [1, 2], 4))
    assert math.isnan(corrected_cumulative_error([1, 2], [1], [1], 4))


def test_halves_of_a_panel_by_hand() -> None:
    # Votes 0 0 1 3 in halves of two: 00|13 once, 01|03 twice. TVD 1 and ½. W1 of 00|13: 1 1 1 against 0 ½ ½, so 2; of
    # 01|03: ½ 1 1 against ½ ½ ½, so 1.
    low, high = singles(0, 0, 1, 3)
    halves = half_distances(low, high, 4, DISTANCES)
    assert halves == {"tvd": pytest.approx((1 + 0.5 + 0.5) / 3), "w1": pytest.approx((2 + 1 + 1) / 3)}
    # Left out: each 0 by 0 1 3 (F ⅓ ⅔ ⅔), the 1 by 0 0 3 (⅔ ⅔ ⅔), the 3 by 0 0 1 (⅔ 1 1).
    third, two = 1 / 3, 2 / 3
    zero = (two**2 + 2 * third**2) / 3
    middle, top = (two**2 + 2 * third**2) / 3, (two**2 + 1 + 1) / 3
    assert left_out_score(low, high, 4) == pytest.approx((2 * zero + middle + top) / 4)
    # Readings 0 3, two at a time, against each two of the votes.
    matched = matched_distances(np.array([0, 3]), low, high, 4, {"tvd": total_variation})
    assert matched["tvd"] == pytest.approx((0.5 + 0.5 + 0 + 0.5 + 0 + 0.5) / 6)


def test_too_few_votes_or_readings() -> None:
    low, high = singles(2)
    assert math.isnan(left_out_score(low, high, 4))
    assert math.isnan(half_distances(low, high, 4, DISTANCES)["w1"])
    low, high = singles(0, 1, 2, 3)
    assert math.isnan(matched_distances(np.array([1]), low, high, 4, DISTANCES)["w1"])


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 3))
def test_large_panels_draw_their_pairs_by_the_seed(seed: int) -> None:
    rng = np.random.default_rng(2)
    votes = rng.integers(0, 4, 14)
    first, again = (half_distances(votes, votes, 4, DISTANCES, seed=seed) for _ in range(2))
    assert first == again
    assert 0 < first["w1"] < 3
    matched = matched_distances(rng.integers(0, 4, 14), votes, votes, 4, DISTANCES, seed=seed)
    assert 0 < matched["tvd"] < 1
