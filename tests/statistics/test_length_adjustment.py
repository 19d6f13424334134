"""The length-adjusted score: the numbers of the published code's own test, and arithmetic by hand."""

from __future__ import annotations

import pytest

from consilium.statistics.length_adjustment import DEFAULT_ADJUSTMENT, LengthAdjustment


def test_the_published_example() -> None:
    # The test of simple-evals: 0.8 with 2,500 characters, centre 2,000, penalty 0.022.
    assert LengthAdjustment(2000, 0.022).adjusted(0.8, 2500) == pytest.approx(0.778)


def test_by_hand() -> None:
    # At the centre nothing changes; 500 characters more cost 0.0147, 500 fewer give it. Nothing is clipped.
    scores = DEFAULT_ADJUSTMENT.adjusted([1, 1, 1, -0.5], [2000, 2500, 1500, 2500])
    assert scores == pytest.approx([1, 0.9853, 1.0147, -0.5147])
    assert LengthAdjustment(0, 0).adjusted([0.3], [10_000]) == pytest.approx([0.3])


@pytest.mark.parametrize(("centre", "penalty"), [(-1, 0.1), (0, -0.1), (float("nan"), 0), (0, float("inf"))])
def test_other_options_are_refused(centre: float, penalty: float) -> None:
    with pytest.raises(ValueError, match="numbers from 0"):
        LengthAdjustment(centre, penalty)
