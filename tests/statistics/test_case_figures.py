"""Figures over cases: their sums, sizes, bounds and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.case_figures import CaseFigures, case_joint, case_ratio, case_table, sums_by_case
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.macro_f1 import macro_f1_values
from tests.statistics.test_jackknife import OTHER, RATIO, ends_of, ratio


def test_wrong_shapes_and_sizes() -> None:
    with pytest.raises(ValueError, match="shape"):
        CaseFigures(np.zeros((3, 2)), lambda sums: sums, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="shape"):
        CaseFigures(np.zeros((3, 2, 1)), lambda sums: sums, np.zeros((3, 1)))
    with pytest.raises(ValueError, match="smaller than nothing"):
        CaseFigures(np.zeros((1, 1, 1)), lambda sums: sums[..., 0], np.full((1, 1), -1.0))


def test_case_without_size_adds_nothing() -> None:
    figures = CaseFigures(np.array([[[3.0]], [[9.0]]]), lambda sums: sums[..., 0], np.array([[1.0], [0.0]]))
    assert figures.whole().tolist() == [3]
    assert figures.behind.tolist() == [[True], [False]]


def test_ratio_without_denominator_is_not_a_number() -> None:
    assert np.isnan(case_ratio([[0.0]], [[0.0]]).whole()[0])


def test_scaled_figure_has_scaled_ends() -> None:
    value, low, high = ends_of(ratio(RATIO))
    assert ends_of(ratio(RATIO).scaled(100)) == pytest.approx((100 * value, 100 * low, 100 * high))
    above, below = np.array(RATIO, dtype=float).T[:, :, None]
    assert ends_of(case_ratio(above, below, scale=100)) == pytest.approx((100 * value, 100 * low, 100 * high))
    clipped = case_ratio([[-3.0]], [[2.0]], bounds=(-2, 1), clip=(0, 1)).scaled(100)
    assert (clipped.unclipped().tolist(), clipped.whole().tolist()) == ([-150], [0])
    assert [end.tolist() for end in clipped.bounds] == [[-200], [100]]


def test_some_slices_keep_their_bounds() -> None:
    figures = case_ratio([[1.0, 2.0, 3.0]], [[4.0, 4.0, 4.0]], bounds=([-1.0, -2.0, -3.0], 1.0))
    for chosen in ([2, 0], np.array([True, False, True])):
        some = figures.of_slices(chosen)
        order = [2, 0] if isinstance(chosen, list) else [0, 2]
        assert some.whole().tolist() == [(i + 1) / 4 for i in order]
        assert some.bounds[0].tolist() == [-float(i + 1) for i in order]
        assert some.bounds[1].tolist() == [1, 1]


def test_table_is_pooled_over_cases_and_as_large_as_its_pairs() -> None:
    cells = np.array([(8, 1, 2, 19), (10, 2, 0, 18)], dtype=np.int64).T[:, :, None]
    tp, fp, fn, tn = cells
    figures = case_table(macro_f1_values, ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn))
    assert figures.sizes.tolist() == [[30], [30]]
    assert figures.whole()[0] == pytest.approx((36 / 41 + 74 / 79) / 2)


def test_joint_figure_is_made_of_its_parts() -> None:
    parts = ratio(RATIO), ratio(OTHER)
    joint = case_joint(lambda values: values.mean(axis=-1), *parts, bounds=(0, 1))
    assert joint.whole()[0] == pytest.approx(0.46)
    assert joint.sizes[:, 0].tolist() == [20, 20, 16, 24, 20]
    # The mean of a figure and itself is the figure.
    same = case_joint(lambda values: values.mean(axis=-1), parts[0], parts[0], bounds=(0, 1))
    assert ends_of(same) == pytest.approx(ends_of(parts[0]))


def test_sums_by_case() -> None:
    summed = sums_by_case([1, 2, 4, 8], [0, 0, 2, 2], 3, [1, 1, 0, 1], 2)
    assert summed.tolist() == [[0, 3], [0, 0], [4, 8]]
