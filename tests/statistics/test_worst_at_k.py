"""Worst-at-k against every subset, listed."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.estimate import Undefined
from consilium.statistics.worst_at_k import minimum_weights, worst_at_k

scores = st.floats(-2, 1).map(lambda x: round(x, 4))


@pytest.mark.slow
@given(st.lists(st.lists(scores, min_size=1, max_size=7), min_size=1, max_size=6), st.integers(1, 6))
def test_equals_the_mean_minimum_of_all_subsets(cases, k):
    rows = [(number, score) for number, samples in enumerate(cases) for score in samples]
    worst = worst_at_k([case for case, _ in rows], [score for _, score in rows], k)
    expected = [fmean(min(chosen) for chosen in combinations(s, k)) for s in cases if len(s) >= k]
    assert worst.n_left_out == len(cases) - len(expected)
    if not expected:
        assert isinstance(worst.figure, Undefined)
    else:
        assert worst.figure.n == len(expected)
        assert worst.figure.value == pytest.approx(min(1, max(0, fmean(expected))), abs=1e-12)
        assert worst.by_case[~np.isnan(worst.by_case)] == pytest.approx(expected, abs=1e-12)


def test_by_hand():
    # Three samples 0.2, 0.5, 0.8 and k = 2: pairs have minima 0.2, 0.2, 0.5, mean 0.3.
    assert worst_at_k([0, 0, 0], [0.8, 0.2, 0.5], 2).figure.value == pytest.approx(0.3)
    assert worst_at_k([0, 0, 0], [0.8, 0.2, 0.5], 1).figure.value == pytest.approx(0.5)
    assert worst_at_k([0, 0, 0], [0.8, 0.2, 0.5], 3).figure.value == pytest.approx(0.2)


def test_weights_are_a_distribution_however_many_samples():
    for n, k in ((5, 2), (100, 16), (2000, 1000)):
        assert minimum_weights(n, k).sum() == pytest.approx(1, abs=1e-12)
    with pytest.raises(ValueError, match="between 1 and"):
        minimum_weights(3, 4)


@pytest.mark.slow
def test_more_samples_drawn_are_never_better():
    rng = np.random.default_rng(1)
    case, score = np.repeat(np.arange(8), 10), rng.random(80)
    values = [worst_at_k(case, score, k).figure.value for k in range(1, 11)]
    assert values == sorted(values, reverse=True)


@pytest.mark.slow
def test_reasons():
    assert worst_at_k([], [], 1).figure == Undefined("no samples")
    worst = worst_at_k([0, 0, 1], [0.1, 0.2, 0.3], 3)
    assert worst.figure == Undefined("no case has 3 samples")
    assert worst.n_left_out == 2
    assert "1 case excluded: fewer than 2 samples" in worst_at_k([0, 0, 1], [0.1, 0.2, 0.3], 2).figure.note
    assert "clipped from -0.5" in worst_at_k([0], [-0.5], 1).figure.note
