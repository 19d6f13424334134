"""Ordinal alpha against Krippendorff's published example and the krippendorff package."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.estimate import Undefined
from consilium.statistics.krippendorff_alpha import value_counts
from consilium.statistics.ordinal_alpha import ordinal_alpha


def counts(*observers: str, categories: str) -> np.ndarray:
    rows = [(unit, categories.index(value)) for row in observers for unit, value in enumerate(row) if value != "."]
    units, values = zip(*rows, strict=True)
    return value_counts(units, values, len(observers[0]), len(categories))


def test_krippendorff_2011_many_observers_missing_data() -> None:
    figure = ordinal_alpha(counts("123321412...", "1233224125.3", ".3332342251.", "12332441251.", categories="12345"))
    assert figure.value == pytest.approx(0.815, abs=5e-4)
    assert figure.n == 11


@given(st.lists(st.lists(st.integers(0, 3), min_size=0, max_size=5), min_size=1, max_size=25))
def test_equals_the_krippendorff_package(units: list[list[int]]) -> None:
    import krippendorff

    rows = [(unit, value) for unit, values in enumerate(units) for value in values]
    table = value_counts([unit for unit, _ in rows], [value for _, value in rows], len(units), 4)
    ours = ordinal_alpha(table)
    paired = table[table.sum(axis=1) >= 2]
    if int((paired.sum(axis=0) > 0).sum()) < 2:
        assert isinstance(ours, Undefined)
        return
    theirs = krippendorff.alpha(value_counts=table, level_of_measurement="ordinal", value_domain=[0, 1, 2, 3])
    assert ours.value == pytest.approx(theirs, abs=1e-9)
    assert ours.n == len(paired)
