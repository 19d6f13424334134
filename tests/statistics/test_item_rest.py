"""Discrimination of items and raters against numpy.corrcoef, and where it does not exist."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.estimate import Undefined
from consilium.statistics.item_rest import item_rest, rater_rest


def test_equals_corrcoef_with_the_rubric_score_of_the_rest() -> None:
    rng = np.random.default_rng(7)
    points = np.array([3, -2, 1, 5, 2])
    met = rng.integers(0, 2, size=(40, 5))
    answered = rng.random((40, 5)) < 0.9
    unit, item = np.nonzero(answered)
    shuffled = rng.permutation(len(unit))
    unit, item = unit[shuffled], item[shuffled]
    correlations = item_rest(
        unit, item, points[item] * met[unit, item], np.maximum(points[item], 0), n_units=40, n_items=5
    )
    for index in range(5):
        own, rest = [], []
        for response in range(40):
            others = [i for i in range(5) if i != index and answered[response, i]]
            best = sum(points[i] for i in others if points[i] > 0)
            if answered[response, index] and best:
                own.append(points[index] * met[response, index])
                rest.append(sum(points[i] * met[response, i] for i in others) / best)
        assert correlations[index].value == pytest.approx(np.corrcoef(own, rest)[0, 1], abs=1e-12)
        assert correlations[index].n == len(own)


def test_a_fault_that_comes_with_poor_responses_discriminates() -> None:
    # Three responses of 2, 1 and 0 good points; only the last has the fault, worth −4.
    unit, item = np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)
    met = np.array([1, 1, 0, 1, 0, 0, 0, 0, 1])
    points = np.array([1, 1, -4])[item]
    fault = item_rest(unit, item, points * met, np.maximum(points, 0), n_units=3, n_items=3)[2]
    # (0, 0, −4) with (1, 0.5, 0): sqrt(3)/2
    assert fault.value == pytest.approx(np.sqrt(3) / 2)


def test_reasons_when_undefined() -> None:
    unit, item = np.repeat([0, 1, 2], 2), np.tile([0, 1], 3)
    constant = item_rest(unit, item, [1, 1, 1, 0, 1, 1], np.ones(6), n_units=3, n_items=3)
    assert constant == [Undefined("constant values", 3)] * 2 + [Undefined("a correlation needs at least 3 units", 0)]
    alone = item_rest([0, 1, 2, 3], [0] * 4, [1, 0, 1, 0], np.ones(4), n_units=4, n_items=1)
    assert alone == [Undefined("a correlation needs at least 3 units", 0)]  # nothing beside it
    two = item_rest([0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1], np.ones(4), n_units=2, n_items=2)
    assert two[0] == Undefined("a correlation needs at least 3 units", 2)


def test_rests_that_differ_by_rounding_are_constant() -> None:
    # 0.1 + 0.2 and 0.3 are the same score.
    unit = np.array([0, 0, 0, 1, 1, 2, 2])
    item = np.array([0, 1, 2, 0, 3, 0, 3])
    correlations = item_rest(unit, item, [1, 0.1, 0.2, 0, 0.3, 1, 0.3], np.ones(7) * 0.5, n_units=3, n_items=4)
    assert correlations[0].n == 3
    best = np.array([0.3 / 1.0, 0.3 / 0.5, 0.3 / 0.5])
    assert correlations[0].value == pytest.approx(np.corrcoef([1, 0, 1], best)[0, 1])


def test_raters_with_the_mean_of_the_others() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, size=(30, 4))
    labels[:, 3] = 1
    present = rng.random((30, 4)) < 0.7
    pair, rater = np.nonzero(present)
    correlations = rater_rest(pair, rater, labels[pair, rater], n_pairs=30, n_raters=5)
    for index in range(3):
        shared = [p for p in range(30) if present[p, index] and present[p].sum() > 1]
        others = [(labels[p, present[p]].sum() - labels[p, index]) / (present[p].sum() - 1) for p in shared]
        assert correlations[index].value == pytest.approx(np.corrcoef(labels[shared, index], others)[0, 1], abs=1e-12)
        assert correlations[index].n == len(shared)
    assert isinstance(correlations[3], Undefined)
    assert correlations[4] == Undefined("a correlation needs at least 3 units", 0)
