"""Non-inferiority by hand: the conclusion from the interval of a difference at a margin."""

from __future__ import annotations

import pytest

from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.noninferiority import non_inferiority


@pytest.mark.parametrize(
    ("low", "high", "finding", "shown"),
    [
        (-0.049, 0.02, "non-inferior", True),
        (-0.05, 0.02, "open", False),  # the bound must lie above the margin, not on it
        (-0.2, 0.1, "open", False),
        (-0.04, -0.01, "non-inferior", True),  # worse for certain, but by less than the margin
        (0.001, 0.1, "superior", True),
        (0.0, 0.1, "non-inferior", True),
        (-0.2, -0.051, "inferior", False),
        (-0.2, -0.05, "open", False),
    ],
)
def test_the_interval_decides(low: float, high: float, finding: str, shown: bool) -> None:
    result = non_inferiority(Estimate((low + high) / 2, 400, low, high), 0.05)
    assert not isinstance(result, Undefined)
    assert (result.finding, result.shown, result.bound, result.n) == (finding, shown, low, 400)


def test_without_an_interval_there_is_no_conclusion() -> None:
    assert non_inferiority(Undefined("no pairs", 0)) == Undefined("no pairs", 0)
    short = Estimate(0.1, 30, note=joined("some remark", Reason.INTERVAL_CASES(cases=9, needed=10)))
    assert non_inferiority(short) == Undefined("no interval: 9 of the 10 cases needed", 30)


@pytest.mark.parametrize("margin", [0, -0.05, 1, float("nan")])
def test_a_margin_lies_between_0_and_1(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        non_inferiority(Estimate(0.1, 30, 0.0, 0.2), margin)
