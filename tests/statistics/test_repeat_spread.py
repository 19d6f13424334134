"""The spread of repeats, against Python's own `statistics` and by hand."""

from __future__ import annotations

from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.estimate import Undefined
from consilium.statistics.repeat_spread import repeat_spread


def test_by_hand() -> None:
    # Mean 0.5; deviations −0.1, 0, 0.1; variance (0.01 + 0 + 0.01) / (3 − 1) = 0.01.
    spread = repeat_spread([0.4, 0.5, 0.6])
    assert [figure.value for figure in (spread.mean, spread.sd, spread.lowest, spread.highest)] == pytest.approx(
        [0.5, 0.1, 0.4, 0.6]
    )
    assert spread.sd.n == 3


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_as_the_standard_library(values: list[float]) -> None:
    spread = repeat_spread(values)
    assert spread.mean.value == pytest.approx(mean(values), abs=1e-9)
    assert spread.sd.value == pytest.approx(stdev(values), abs=1e-9)


def test_one_repeat_has_a_mean_and_no_deviation_and_none_has_nothing() -> None:
    spread = repeat_spread([0.4])
    assert (spread.mean.value, spread.sd) == (0.4, Undefined("1 of the 2 repeats needed", 1))
    assert repeat_spread([], empty="no case").mean == Undefined("no case")
    assert repeat_spread([]).sd == Undefined("0 of the 2 repeats needed")
