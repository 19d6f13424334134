"""Alpha of many raters against the worked examples of Krippendorff 2011 and the krippendorff package."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.bootstrap import CaseBootstrap
from consilium.statistics.estimate import Undefined
from consilium.statistics.intervals import PercentileBootstrap
from consilium.statistics.krippendorff_alpha import coincidences, krippendorff_alpha, value_counts


def counts(*observers: str, categories: str) -> np.ndarray:
    """Ratings of several observers, one character a unit, '.' where there is none."""
    rows = [(unit, categories.index(value)) for row in observers for unit, value in enumerate(row) if value != "."]
    units, values = zip(*rows, strict=True)
    return value_counts(units, values, len(observers[0]), len(categories))


def test_krippendorff_2011_binary_two_observers():
    assert krippendorff_alpha(counts("0100000010", "1110010000", categories="01")).value == pytest.approx(
        0.095, abs=5e-4
    )


def test_krippendorff_2011_nominal_two_observers():
    table = counts("aabbdcccedda", "babbbccceddd", categories="abcde")
    assert krippendorff_alpha(table).value == pytest.approx(0.692, abs=5e-4)
    # The coincidence matrix printed there has 2, 4, 6, 4, 2 on its diagonal and 24 values in all.
    matrix = coincidences(table)
    assert np.diag(matrix).tolist() == [2, 4, 6, 4, 2]
    assert matrix.sum() == 24


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorff_2011_many_observers_missing_data(level, value):
    table = counts("123321412...", "1233224125.3", ".3332342251.", "12332441251.", categories="12345")
    figure = krippendorff_alpha(table, level)
    assert figure.value == pytest.approx(value, abs=5e-4)
    assert figure.n == 11  # unit 12 has one rating, which pairs with nothing


@pytest.mark.slow
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@given(units=st.lists(st.lists(st.integers(0, 3), min_size=0, max_size=5), min_size=1, max_size=25))
def test_equals_the_krippendorff_package(level, units):
    import krippendorff

    rows = [(unit, value) for unit, values in enumerate(units) for value in values]
    table = value_counts([u for u, _ in rows], [v for _, v in rows], len(units), 4)
    domain = [0, 1, 2, 3] if level != "interval" else [0, 10, 15, 100]
    ours = krippendorff_alpha(table, level, domain if level == "interval" else None)
    paired = table[table.sum(axis=1) >= 2]
    used = int((paired.sum(axis=0) > 0).sum())
    if used < 2:
        assert isinstance(ours, Undefined)
        return
    theirs = krippendorff.alpha(value_counts=table, level_of_measurement=level, value_domain=domain)
    assert ours.value == pytest.approx(theirs, abs=1e-9)
    assert ours.n == len(paired)


def test_reasons_when_undefined():
    assert krippendorff_alpha(np.zeros((0, 2), dtype=int)) == Undefined("no unit with two ratings")
    assert krippendorff_alpha([[1, 0], [0, 1]]) == Undefined("no unit with two ratings")
    constant = krippendorff_alpha([[3, 0], [2, 0], [0, 1]])  # the lone rating of the third unit pairs with nothing
    assert isinstance(constant, Undefined)
    assert "constant" in constant.reason
    assert constant.n == 2


@pytest.mark.slow
def test_interval_by_hand_on_units_drawn_again():
    rng = np.random.default_rng(4)
    table = value_counts(np.repeat(np.arange(14), 3), rng.integers(0, 4, size=42), 14, 4)
    table[:9, 0] += 3  # so that they agree somewhat
    weights = next(iter(CaseBootstrap(14, 8).weight_blocks())).astype(int)
    for level in ("nominal", "ordinal", "interval"):
        figure = krippendorff_alpha(table, level, rule=PercentileBootstrap(8))
        again = [krippendorff_alpha(np.repeat(table, row, axis=0), level).value for row in weights]
        assert (figure.low, figure.high) == pytest.approx(tuple(np.quantile(again, [0.025, 0.975])), abs=1e-12)
        assert figure.value == pytest.approx(krippendorff_alpha(table, level).value)
    few = krippendorff_alpha(table[:9], rule=PercentileBootstrap(8))
    assert few.low is None
    assert few.note == "no interval: 9 of the 10 cases needed"
