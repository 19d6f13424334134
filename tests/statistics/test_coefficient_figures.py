"""Alpha of many raters and Fleiss' kappa as functions of sums: the same values, and the same without each case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilium.statistics.estimate import Estimate
from consilium.statistics.fleiss_kappa import fleiss_kappa, kappa_figures
from consilium.statistics.jackknife import jackknife, logit_ends
from consilium.statistics.krippendorff_alpha import Level, alpha_figures, krippendorff_alpha

# The data of Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C: 4 observers, 12 units, values
# 1 to 5; its alphas are 0.743 (nominal), 0.815 (ordinal) and 0.849 (interval).
OBSERVERS = """
    1 2 3 3 2 1 4 1 2 . . .
    1 2 3 3 2 2 4 1 2 5 . 3
    . 3 3 3 2 3 4 2 2 5 1 .
    1 2 3 3 2 4 4 1 2 5 1 .
"""


def published() -> np.ndarray:
    rows = [line.split() for line in OBSERVERS.strip().splitlines()]
    return np.array([[[row[unit] for row in rows].count(str(value)) for value in range(1, 6)] for unit in range(12)])


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_data(level, alpha):
    figures = alpha_figures(published(), level)
    assert figures.whole()[0] == pytest.approx(alpha, abs=5e-4)
    # Twelve units, of which the last has one rating and is no case.
    assert figures.behind.sum() == 11


def tables(raters: st.SearchStrategy[int]):
    def of(size: int):
        row = raters.flatmap(lambda n: st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
        counted = row.map(lambda ratings: [ratings.count(value) for value in range(size)])
        return st.lists(counted, min_size=2, max_size=9)

    return st.integers(2, 4).flatmap(of).map(np.array)


@given(tables(st.integers(0, 4)), st.sampled_from(Level))
@settings(max_examples=40, deadline=None)
def test_alpha_without_each_unit(table, level):
    jack = jackknife(alpha_figures(table, level))
    whole = krippendorff_alpha(table, level)
    assert jack.values[0] == pytest.approx(whole.value if whole.defined else np.nan, abs=1e-9, nan_ok=True)
    for i, row in enumerate(table):
        if row.sum() < 2:
            assert not jack.behind[i, 0]
            continue
        left = krippendorff_alpha(np.delete(table, i, axis=0), level)
        expected = left.value if left.defined else np.nan
        assert jack.without[i, 0] == pytest.approx(expected, abs=1e-9, nan_ok=True)
        assert np.isnan(expected) or expected > -1
    ends = logit_ends(jack)
    if whole.defined:
        assert -1 <= ends.low[0] <= whole.value + 1e-9 and whole.value - 1e-9 <= ends.high[0] <= 1


def test_units_of_a_case_are_left_out_together():
    table = published()
    case = np.arange(12) // 3
    jack = jackknife(alpha_figures(table, "ordinal", case=case, n_cases=4))
    for i in range(4):
        left = krippendorff_alpha(table[case != i], "ordinal")
        assert isinstance(left, Estimate)
        assert jack.without[i, 0] == pytest.approx(left.value, abs=1e-12)
    # Ratings of a case that can be paired: 3 + 4 + 4, 4 + 4 + 4, 4 + 4 + 4, 3 + 2.
    sizes = np.array([11, 12, 12, 5])
    assert jack.effective[0] == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum())


@given(tables(st.just(3)))
@settings(max_examples=40, deadline=None)
def test_kappa_without_each_item(table):
    jack = jackknife(kappa_figures(table))
    whole = fleiss_kappa(table)
    assert jack.values[0] == pytest.approx(whole.value if whole.defined else np.nan, abs=1e-9, nan_ok=True)
    for i in range(len(table)):
        left = fleiss_kappa(np.delete(table, i, axis=0))
        assert jack.without[i, 0] == pytest.approx(left.value if left.defined else np.nan, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("table", [[], [[1, 0]], [[2, 0], [2, 1]]])
def test_kappa_needs_as_many_ratings_of_each_item(table):
    with pytest.raises(ValueError, match="same number of ratings"):
        kappa_figures(np.array(table).reshape(-1, 2))
