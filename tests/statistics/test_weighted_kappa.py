"""Agreement on ordered levels against scikit-learn and krippendorff, which share no code with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilium.statistics.multiclass_f1 import class_f1_values, multiclass_f1_values
from consilium.statistics.ordinal_alpha import ordinal_alpha_values
from consilium.statistics.weighted_kappa import weighted_kappa_values

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=40)


def table_of(pairs: list[tuple[int, int]]) -> np.ndarray:
    table = np.zeros((4, 4))
    for reference, level in pairs:
        table[reference, level] += 1
    return table


@pytest.mark.slow
@settings(max_examples=60)
@given(PAIRS)
def test_other_libraries(pairs: list[tuple[int, int]]) -> None:
    import krippendorff
    from sklearn.metrics import cohen_kappa_score, f1_score

    first, second = zip(*pairs, strict=True)
    table = table_of(pairs)
    used = sorted({*first, *second})
    assert multiclass_f1_values(table) == pytest.approx(
        f1_score(first, second, labels=used, average="macro", zero_division=0)
    )
    if len(used) == 1:
        assert np.isnan(weighted_kappa_values(table)) and np.isnan(ordinal_alpha_values(table))
        return
    # With the levels left out that nobody used the weights of scikit-learn would be others.
    kappa = cohen_kappa_score(first, second, labels=[0, 1, 2, 3], weights="quadratic")
    assert weighted_kappa_values(table) == pytest.approx(kappa)
    alpha = krippendorff.alpha([first, second], level_of_measurement="ordinal", value_domain=[0, 1, 2, 3])
    assert ordinal_alpha_values(table) == pytest.approx(alpha)


@given(PAIRS)
def test_exchanged_raters(pairs: list[tuple[int, int]]) -> None:
    table = table_of(pairs)
    for values in (weighted_kappa_values, ordinal_alpha_values, multiclass_f1_values):
        assert np.array(values(table)) == pytest.approx(np.array(values(table.T)), nan_ok=True)


def test_weights_count_as_numbers_do() -> None:
    table = table_of([(0, 0), (0, 1), (2, 2), (3, 2), (3, 3)])
    for values in (weighted_kappa_values, multiclass_f1_values):
        assert values(table / 5) == pytest.approx(values(table))


def test_undefined() -> None:
    empty = np.zeros((4, 4))
    for values in (weighted_kappa_values, ordinal_alpha_values, multiclass_f1_values):
        assert np.isnan(values(empty))
    # A level that neither used is left out; one that only one of them used has 0.
    f1 = class_f1_values(table_of([(0, 0), (0, 2)]))
    assert f1[[0, 2]] == pytest.approx([2 / 3, 0]) and np.isnan(f1[[1, 3]]).all()
