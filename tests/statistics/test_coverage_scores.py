"""Rubric Accuracy, Pass@k and CACS@k against the paper's numbers and arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.cacs import cacs_at_k, cacs_values
from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.pass_at_k import pass_at_k
from consilium.statistics.rubric_accuracy import rubric_accuracy


def test_cacs_of_the_published_rows():
    # Table 9 of ClinConsensus: max(0, s - 9) / 21 for s of 30.
    assert cacs_values([9, 10, 15, 30], [30] * 4, 10).round(1).tolist() == [0.0, 4.8, 28.6, 100.0]
    assert cacs_at_k([9, 10, 15, 30], [30] * 4, 10).value == pytest.approx(100 * (0 + 1 + 6 + 21) / 21 / 4)


@pytest.mark.slow
@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(1, 30))
def test_cacs_is_the_mean_of_pass_over_higher_thresholds(hits, k):
    present = [30] * len(hits)
    passes = [pass_at_k(hits, present, t).value for t in range(k, 31)]
    assert cacs_at_k(hits, present, k).value == pytest.approx(100 / (30 - k + 1) * sum(passes), abs=1e-9)


@pytest.mark.slow
@given(st.lists(st.integers(0, 12), min_size=1, max_size=30))
def test_cacs_at_1_is_the_rubric_accuracy_of_equal_rubrics(hits):
    present = [12] * len(hits)
    assert cacs_at_k(hits, present, 1).value == pytest.approx(rubric_accuracy(hits, present).value)


def test_short_rubrics():
    # Three responses with 30, 8 and 12 criteria, k = 10: the second cannot reach k.
    figure = cacs_at_k([20, 8, 12], [30, 8, 12], 10)
    assert figure.value == pytest.approx(100 * (11 / 21 + 3 / 3) / 2)
    assert figure.n == 2
    assert "1 response excluded: fewer than 10 positive criteria" in figure.note
    passed = pass_at_k([20, 8, 12], [30, 8, 12], 10)
    assert passed.value == pytest.approx(2 / 3)
    assert "cannot pass" in passed.note
    assert cacs_at_k([8], [8], 10) == Undefined("no response has 10 positive criteria")


def test_rubric_accuracy_is_pooled_over_criteria():
    # 5 of 10 and 1 of 30: 6 of 40, not the mean of 50% and 3.3%.
    assert rubric_accuracy([5, 1, 0], [10, 30, 0]) == Estimate(15.0, 2)


def test_reasons():
    assert rubric_accuracy([], []) == Undefined("no positive criteria")
    assert rubric_accuracy([0], [0]) == Undefined("no positive criteria")
    assert pass_at_k([], [], 3) == Undefined("no responses")
    assert cacs_at_k([], [], 3) == Undefined("no responses")
    for score in (pass_at_k, cacs_at_k):
        with pytest.raises(ValueError, match="at least 1"):
            score([1], [2], 0)


def test_order_of_responses_changes_nothing():
    rng = np.random.default_rng(8)
    hits, order = rng.integers(0, 31, size=200), rng.permutation(200)
    present = np.full(200, 30)
    assert pass_at_k(hits, present, 10) == pass_at_k(hits[order], present, 10)
    assert cacs_at_k(hits, present, 10).value == pytest.approx(cacs_at_k(hits[order], present, 10).value, abs=1e-12)
