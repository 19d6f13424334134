"""McNemar's test against SciPy, published examples and its clustered form as Obuchowski first wrote it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from consilium.statistics.estimate import Undefined
from consilium.statistics.mcnemar import (
    BALANCED,
    NO_DISCORDANT,
    NO_PAIRS,
    Words,
    clustered_mcnemar,
    edwards_mcnemar,
    mcnemar,
    mcnemar_p,
)


@pytest.mark.parametrize(("b", "c"), [(0, 1), (1, 0), (3, 3), (2, 12), (40, 71), (5000, 5200), (0, 900)])
def test_the_exact_p_is_that_of_the_binomial_test(b: int, c: int) -> None:
    assert mcnemar_p(b, c).value == pytest.approx(binomtest(b, b + c).pvalue, rel=1e-9)
    assert mcnemar_p(c, b).value == mcnemar_p(b, c).value
    assert mcnemar_p(b, c).n == b + c


def test_published_examples() -> None:
    # Armitage and Berry 1994, p. 127: two media for tubercle bacilli, 12 and 2 apart. Yates' chi-square is 5.785714,
    # P = 0.0162; two-sided exact P = 0.0129.
    assert chi2.isf(mcnemar_p(12, 2, "chi-square").value, 1) == pytest.approx(5.785714, abs=1e-6)
    assert mcnemar_p(12, 2, "chi-square").value == pytest.approx(0.0162, abs=5e-5)
    assert mcnemar_p(12, 2).value == pytest.approx(0.0129, abs=5e-5)
    # Fagerland, Lydersen and Laake 2013, airway hyper-responsiveness: 1 and 7 apart.
    assert mcnemar_p(1, 7).value == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_p(1, 7, "mid-p").value == pytest.approx(0.0391, abs=5e-5)
    assert mcnemar_p(1, 7, "chi-square").value == pytest.approx(0.0771, abs=5e-5)
    # By hand: of 4 coins 2 fall each way with probability 6/16.
    assert mcnemar_p(2, 2, "mid-p").value == pytest.approx(1 - 3 / 16, abs=1e-12)
    assert mcnemar_p(2, 2, "chi-square").value == 1


def obuchowski(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> float:
    """Obuchowski 1998, as the difference of two proportions under one common one, with its variance over clusters."""
    n, k = a + b + c + d, len(a)
    total = n.sum()
    common = (2 * a + b + c).sum() / (2 * total)
    first, second = a + b - n * common, a + c - n * common
    variance = k / (k - 1) * ((first**2).sum() + (second**2).sum() - 2 * (first * second).sum()) / total**2
    return float(((b - c).sum() / total) ** 2 / variance)


def test_the_clustered_test_is_obuchowskis() -> None:
    rng = np.random.default_rng(5)
    a, b, c, d = rng.integers(0, 6, (4, 37))
    chi_square, p = clustered_mcnemar(b, c, n_cases=37)
    expected = obuchowski(a, b, c, d)
    assert chi_square.value == pytest.approx(expected, rel=1e-12)
    assert p.value == pytest.approx(chi2.sf(expected, 1), rel=1e-9)
    assert p.n == 37


def test_clusters_of_one_pair_give_the_plain_chi_square_and_copies_of_pairs_gain_nothing() -> None:
    b, c = np.repeat([1, 0, 0], [14, 6, 20]), np.repeat([0, 1, 0], [14, 6, 20])
    # (14 - 6)² / 20 = 3.2, times 39/40.
    assert clustered_mcnemar(b, c, n_cases=40)[0].value == pytest.approx(3.12, abs=1e-12)
    copied = mcnemar(10 * b, 10 * c, n_cases=40)
    assert copied.chi_square_clustered.value == pytest.approx(3.12, abs=1e-12)
    assert copied.p.value is not None and copied.p.value < 1e-7  # that of independent pairs believes every copy
    # Cases without a discordant pair may be left out of the arrays.
    assert clustered_mcnemar(b[:20], c[:20], n_cases=40) == clustered_mcnemar(b, c, n_cases=40)


@pytest.mark.parametrize(
    ("b", "c", "n_cases", "why", "clustered_why"),
    [
        ([], [], 0, NO_PAIRS, NO_PAIRS),
        ([0] * 12, [0] * 12, 12, NO_DISCORDANT, NO_DISCORDANT),
        ([3, 1], [0, 1], 9, None, "no test: 9 of the 10 cases needed"),
        ([2] * 12, [2] * 12, 12, None, BALANCED),
    ],
)
def test_what_is_undefined(b: list[int], c: list[int], n_cases: int, why: str | None, clustered_why: str) -> None:
    result = mcnemar(b, c, n_cases=n_cases)
    assert result.p.defined is (why is None)
    if why:
        assert result.p == Undefined(why, n_cases if n_cases == 0 else 0)
    assert result.chi_square_clustered == result.p_clustered == Undefined(clustered_why, n_cases)


def test_the_order_of_cases_changes_nothing() -> None:
    rng = np.random.default_rng(8)
    b, c = rng.integers(0, 4, (2, 25))
    order = rng.permutation(25)
    assert mcnemar(b, c, n_cases=25) == mcnemar(b[order], c[order], n_cases=25)
    assert mcnemar(b, c, n_cases=25).p_clustered == mcnemar(c, b, n_cases=25).p_clustered


def test_edwards_by_hand_and_words_of_what_is_compared() -> None:
    chi_square, p = edwards_mcnemar(8, 3)
    assert chi_square.value == pytest.approx(16 / 11) and chi_square.n == 11
    assert p == mcnemar_p(8, 3, "chi-square")
    assert p.value == pytest.approx(chi2.sf(16 / 11, 1), rel=1e-9)
    assert edwards_mcnemar(1, 1)[0].value == 0  # at least 0
    words = Words("no point", "none apart", "level")
    assert edwards_mcnemar(0, 0, words=words) == (Undefined("none apart"), Undefined("none apart"))
    assert mcnemar_p(0, 0, words=words) == Undefined("none apart")
    assert clustered_mcnemar([], [], n_cases=0, words=words)[0] == Undefined("no point")
    assert clustered_mcnemar([1] * 12, [1] * 12, n_cases=12, words=words)[0] == Undefined("level", 12)
