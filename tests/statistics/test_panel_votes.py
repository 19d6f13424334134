"""A panel's votes on a case: the cases of the design by hand, and what holds for any votes."""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.core.reasons import Reason
from consilium.statistics.krippendorff_alpha import krippendorff_alpha, value_counts
from consilium.statistics.panel_votes import dispersion, distribution, reference, uncertainty
from consilium.statistics.set_distance_alpha import set_distance_alpha
from consilium.statistics.vote_substitution import substitution

VOTE = st.tuples(st.integers(0, 3), st.booleans()).map(lambda vote: (vote[0], min(vote[0] + vote[1], 3)))
VOTES = st.lists(VOTE, min_size=1, max_size=7)


def ends(votes: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.array(votes, dtype=np.int64).reshape(-1, 2).T
    return low, high


def singles(*levels: int) -> tuple[np.ndarray, np.ndarray]:
    return ends([(level, level) for level in levels])


def test_dispersion_by_hand() -> None:
    assert dispersion(*singles(0, 0, 0, 1, 1)) == pytest.approx(0.6)
    assert dispersion(*singles(0, 1, 1, 1, 2)) == pytest.approx(1.0)
    assert dispersion(*singles(0, 0, 0, 0, 2)) == pytest.approx(1.6)
    # A vote between 0 and 1 is no distance from either, and one level from 2.
    assert dispersion(*ends([(0, 1), (0, 0), (2, 2)])) == pytest.approx((0 + 1 + 4) / 3)
    assert math.isnan(dispersion(*singles(2)))


def test_references_by_hand() -> None:
    assert reference(*singles(0, 1, 3)) == (1, 1)
    # Of an even number: side by side they are a reference between two levels, further apart the more urgent counts.
    assert reference(*singles(0, 0, 1, 1)) == (0, 1)
    assert reference(*singles(0, 0, 2, 2)) == (2, 2)
    assert reference(*singles(0, 1, 1, 2)) == (1, 1)
    # 0.5 and 1: their mean 0.75 is rounded up to 1.
    assert reference(*ends([(0, 1), (1, 1)])) == (1, 1)
    assert reference(*ends([(0, 0), (0, 1)])) == (0, 1)
    assert reference(*ends([(1, 2)])) == (1, 2)
    with pytest.raises(ValueError, match="without a vote"):
        reference(*singles())


def test_distribution_and_uncertainty_by_hand() -> None:
    q = distribution(*ends([(0, 0), (0, 1), (1, 1), (1, 1), (3, 3)]), 4)
    assert q.tolist() == pytest.approx([0.3, 0.5, 0.0, 0.2])
    assert uncertainty([0.5, 0.5, 0, 0]) == pytest.approx(0.5)
    assert uncertainty([0.25] * 4) == pytest.approx(1)
    assert uncertainty([0, 1, 0, 0]) == 0
    assert np.isnan(distribution(*singles(), 4)).all()


@given(VOTES)
def test_what_holds_for_any_votes(votes: list[tuple[int, int]]) -> None:
    low, high = ends(votes)
    reverse = ends([(3 - b, 3 - a) for a, b in votes])
    lower, upper = reference(low, high)
    assert 0 <= lower <= upper <= 3 and upper - lower <= 1
    halves = [(a + b) / 2 for a, b in votes]
    middle = median(halves)
    # At most half a step above the middle, but where the votes in the middle are more than a level apart.
    ordered = sorted(halves)
    apart = ordered[len(ordered) // 2] - ordered[(len(ordered) - 1) // 2]
    assert (lower + upper) / 2 == (ordered[len(ordered) // 2] if apart > 1 else math.ceil(2 * middle) / 2)
    if len(votes) > 1:
        assert dispersion(low, high) == pytest.approx(dispersion(*reverse))
    assert distribution(low, high, 4)[::-1].tolist() == pytest.approx(distribution(*reverse, 4).tolist())
    shuffled = ends(votes[::-1])
    assert reference(*shuffled) == (lower, upper)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=2, max_size=24))
def test_set_distance_alpha_of_single_levels_is_that_of_interval_data(ratings: list[tuple[int, int]]) -> None:
    unit, level = np.array(ratings).T
    ours, other = (
        set_distance_alpha(unit, level, level),
        krippendorff_alpha(value_counts(unit, level, 6, 4), "interval"),
    )
    assert ours.n == other.n
    if other.value is None:
        assert ours.note == other.note
    else:
        assert ours.value == pytest.approx(other.value)


def test_set_distance_alpha_by_hand() -> None:
    # Two cases of two votes: 0 and 0|1 overlap; 2 and 3 are one apart. Do = (0 + 0 + 1 + 1) / 4 = 0.5. All ordered
    # pairs of the four: 0–2 4, 0–3 9, 0|1–2 1, 0|1–3 4, 2–3 1, twice each: 38 / 12.
    alpha = set_distance_alpha([0, 0, 1, 1], [0, 0, 2, 3], [0, 1, 2, 3])
    assert (alpha.value, alpha.n) == (pytest.approx(1 - 0.5 / (38 / 12)), 2)
    assert set_distance_alpha([0, 1], [0, 1], [0, 1]).note == Reason.NO_PAIRED_UNIT()
    assert set_distance_alpha([0, 0], [0, 0], [0, 1]).note == Reason.CONSTANT_ALPHA()


def test_substitution_by_hand() -> None:
    # 0 0 0 1 1: the median is 0. With 3 in the place of a 0 it is 1, in that of a 1 still 0.
    assert substitution(*singles(0, 0, 0, 1, 1), 3) == (pytest.approx(3 / 5), pytest.approx(3 / 5))
    # 0 0 1 1: between 0 and 1. With 1 in the place of a 0 it is 1, half a step more.
    assert substitution(*singles(0, 0, 1, 1), 1) == (pytest.approx(0.5), pytest.approx(0.25))
    assert all(math.isnan(figure) for figure in substitution(*singles(), 1))
