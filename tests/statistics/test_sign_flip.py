"""The sign-flip test against all patterns listed one by one, and against SciPy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import permutation_test

from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.sign_flip import sign_flip_p


def test_by_hand() -> None:
    # Of 8 patterns of 1, 2, 3 only +++ and --- reach 6.
    assert sign_flip_p([1, 2, 3], seed=0) == Estimate(2 / 8, 3)
    # A zero stays: both of its signs count.
    assert sign_flip_p([0, 1, 2, 3], seed=0) == Estimate(4 / 16, 4)
    assert sign_flip_p([0, 0], seed=0) == Estimate(1.0, 2)
    assert sign_flip_p([2, -2], seed=0) == Estimate(1.0, 2)


def test_all_patterns_of_fractions() -> None:
    differences = [0.1, 0.2, -0.3, 0.7, 0.1, -0.2, 0.4]
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True))) for signs in product((1, -1), repeat=7)
    ]
    assert sign_flip_p(differences, seed=0).value == sum(total >= observed - 1e-9 for total in sums) / 2**7


@pytest.mark.slow
def test_scipy_has_the_same_p() -> None:
    differences = np.random.default_rng(1).normal(0.4, 1, 13)
    theirs = permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip_p(differences, seed=0).value == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.slow
def test_twenty_cases_are_exact_and_more_are_drawn() -> None:
    assert sign_flip_p([1.0] * 20, seed=0) == Estimate(2 / 2**20, 20)
    drawn = sign_flip_p([1.0] * 21, seed=0)
    assert drawn.value == pytest.approx(1 / 100_001) and drawn.n == 21  # no pattern of a million is hit
    assert drawn.note == "by 100000 drawn patterns of signs"
    assert sign_flip_p([0.0] * 30, seed=0).value == 1
    differences = np.random.default_rng(2).normal(0.2, 1, 25)
    assert sign_flip_p(differences, seed=3) == sign_flip_p(-differences, seed=3)


def test_no_case() -> None:
    assert sign_flip_p([], seed=0) == Undefined("no case with both scores")
