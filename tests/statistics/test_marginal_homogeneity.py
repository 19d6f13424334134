"""Tests of paired levels, and Holm's correction: published tables and arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from consilium.core.reasons import Reason
from consilium.statistics.holm import holm
from consilium.statistics.marginal_homogeneity import bowker, stuart_maxwell
from consilium.statistics.mcnemar import mcnemar_p

# Unaided vision of 7,477 women, right eye by left (Stuart 1955): margins 11.96 on 3 degrees, symmetry 19.11 on 6.
VISION = [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]]


def test_published_values() -> None:
    margins, symmetry = stuart_maxwell(VISION), bowker(VISION)
    assert (margins.statistic.value, margins.degrees, margins.statistic.n) == (pytest.approx(11.96, abs=0.005), 3, 7477)
    assert (symmetry.statistic.value, symmetry.degrees) == (pytest.approx(19.11, abs=0.005), 6)
    assert margins.p.value == pytest.approx(chi2.sf(11.9566, 3), rel=1e-3)


@given(st.integers(0, 30), st.integers(0, 30))
def test_two_levels_are_mcnemar_without_correction(b: int, c: int) -> None:
    table = [[5, b], [c, 7]]
    margins, symmetry = stuart_maxwell(table), bowker(table)
    if not b + c:
        assert margins.statistic.note == symmetry.statistic.note == Reason.LEVELS_NEVER_DIFFER()
        return
    for test in (margins, symmetry):
        assert test.degrees == 1
        assert test.statistic.value == pytest.approx((b - c) ** 2 / (b + c))
    assert mcnemar_p(b, c).n == b + c


def test_a_level_without_difference_takes_no_degree_of_freedom() -> None:
    table = np.zeros((4, 4))
    table[0, 1], table[1, 0], table[2, 2], table[3, 3] = 6, 2, 9, 4
    assert (stuart_maxwell(table).degrees, bowker(table).degrees) == (1, 1)
    assert stuart_maxwell(table).statistic.value == pytest.approx(16 / 8)


def test_nothing_to_test() -> None:
    assert stuart_maxwell(np.diag([3, 2, 1])).p.note == Reason.LEVELS_NEVER_DIFFER()
    assert bowker(np.zeros((3, 3))).p.note == Reason.NO_PAIRS()


def test_holm_by_hand() -> None:
    # Sorted 0.005 0.01 0.03 0.04 times 4 3 2 1: 0.02 0.03 0.06 0.04, of which the last is raised to 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_order_and_never_makes_smaller(p: list[float]) -> None:
    adjusted = holm(p)
    assert all(value <= corrected <= 1 for value, corrected in zip(p, adjusted, strict=True))
    assert [corrected for _, corrected in sorted(zip(p, adjusted, strict=True))] == sorted(adjusted)
