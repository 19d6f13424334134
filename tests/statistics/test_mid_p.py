"""Mid-p intervals against sums of binomial probabilities, and the values of the simulation report."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.mid_p import mid_p_ends
from tests.statistics import by_hand


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (0, 10, 0, 0.258866),
        (1, 10, 0.005001, 0.403476),
        (3, 10, 0.082600, 0.619919),
        (12, 12, 0.779078, 1),
        (0, 3.2, 0, 0.607872),
    ],
)
def test_published_values(hits: float, n: float, low: float, high: float) -> None:
    ends = mid_p_ends(hits, n)
    assert (float(ends[0]), float(ends[1])) == pytest.approx((low, high), abs=5.1e-7)


@pytest.mark.parametrize(("hits", "n"), [(1, 2), (1, 5), (3, 10), (9, 10), (17, 40), (99, 100)])
def test_whole_numbers_against_binomial_probabilities(hits: int, n: int) -> None:
    ends = mid_p_ends(hits, n)
    assert (float(ends[0]), float(ends[1])) == pytest.approx(by_hand.mid_p_of_whole_numbers(hits, n), abs=1e-9)


@pytest.mark.slow
@given(st.floats(0, 1), st.floats(0.5, 500))
def test_real_numbers_hold_their_share_and_are_symmetric(share: float, n: float) -> None:
    x = min(share * n, n)
    low, high = mid_p_ends(x, n)
    assert 0 <= low <= x / n + 1e-12
    assert x / n - 1e-12 <= high <= 1
    other_low, other_high = mid_p_ends(n - x, n)
    assert (other_low, other_high) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_arrays_element_by_element() -> None:
    hits, n = np.array([0, 2.5, 7]), np.array([4, 6.5, 7])
    low, high = mid_p_ends(hits, n)
    for i in range(3):
        assert (low[i], high[i]) == pytest.approx(by_hand.mid_p(hits[i], n[i]), abs=1e-9)


@pytest.mark.parametrize(("hits", "n"), [(-1, 3), (4, 3), (0, 0), (float("nan"), 3)])
def test_no_share(hits: float, n: float) -> None:
    with pytest.raises(ValueError, match="hits lie between"):
        mid_p_ends(hits, n)
