"""McNemar's test: are two judges right about equally many of the same labels?

Only pairs on which one judge is right and the other wrong say anything: b pairs on which the first alone is right, c on
which the second alone is. Where neither is the better one, b of the b + c is a fair coin.

    exact        2 · P(X ≤ min(b, c)), X ~ Binomial(b + c, 1/2), at most 1
    mid-p        the same less P(X = min(b, c)); 1 − P(X = b) / 2 where b = c
    chi-square   (|b − c| − 1)² / (b + c), at least 0, on one degree of freedom (with Edwards' continuity correction)

Pairs of one case are not independent, and the three above take them for independent: with many criteria to a case their
p is too small. The clustered test takes cases for independent instead. With b_k and c_k of case k, and K cases:

    chi-square   (K − 1) / K · (Σ (b_k − c_k))² / Σ (b_k − c_k)², on one degree of freedom

Sources: McNemar 1947; Edwards 1948; mid-p, Fagerland, Lydersen and Laake 2013; clustered, Obuchowski 1998 in the form
that Yang, Sun and Hardin 2010 bring it into. With one pair to a case it is (K − 1) / K times (b − c)² / (b + c).

Undefined: all of them where no pair has exactly one judge right; the clustered one also on fewer than 10 cases, and
where in every case as many pairs speak for the one judge as for the other, so that there is nothing to measure by.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import MINIMUM_CASES
from consilium.statistics.estimate import Estimate, Figure, Undefined

NO_PAIRS = Reason.NO_PAIRS()
NO_DISCORDANT = Reason.NO_DISCORDANT_PAIR()
BALANCED = Reason.DISCORDANT_PAIRS_BALANCED()


@dataclass(frozen=True)
class Words:
    """Why a test is undefined, for what is compared: nothing at all, nothing discordant, all cases balanced."""

    no_pairs: str = NO_PAIRS
    no_discordant: str = NO_DISCORDANT
    balanced: str = BALANCED


OF_JUDGES = Words()


class Method(StrEnum):
    """How the p of independent pairs is computed."""

    EXACT = "exact"
    MID_P = "mid-p"
    CHI_SQUARE = "chi-square"


@dataclass(frozen=True)
class McNemar:
    """``only_first`` and ``only_second`` are b and c. n of ``p`` is b + c; n of the clustered figures, the cases."""

    only_first: int
    only_second: int
    p: Figure
    chi_square_clustered: Figure
    p_clustered: Figure


def edwards_mcnemar(only_first: int, only_second: int, *, words: Words = OF_JUDGES) -> tuple[Figure, Figure]:
    """Chi-square with Edwards' correction and its p, of independent pairs; n is the number of discordant ones."""
    from scipy.special import chdtrc

    n = only_first + only_second
    if not n:
        return Undefined(words.no_discordant), Undefined(words.no_discordant)
    chi_square = max(abs(only_first - only_second) - 1, 0) ** 2 / n
    return Estimate(chi_square, n), Estimate(float(chdtrc(1, chi_square)), n)


def mcnemar_p(
    only_first: int, only_second: int, method: Method | str = Method.EXACT, *, words: Words = OF_JUDGES
) -> Figure:
    """Two-sided p of independent pairs; n is the number of discordant ones. ValueError on a negative count."""
    from scipy.special import bdtr

    how = Method(method)
    if only_first < 0 or only_second < 0:
        raise ValueError("a count of pairs is not negative")
    n, fewer = only_first + only_second, min(only_first, only_second)
    if not n:
        return Undefined(words.no_discordant)
    if how is Method.CHI_SQUARE:
        return edwards_mcnemar(only_first, only_second)[1]
    tail = float(bdtr(fewer, n, 0.5))
    if how is Method.EXACT:
        return Estimate(min(1.0, 2 * tail), n)
    at = tail - (float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0)
    return Estimate(1 - at / 2 if only_first == only_second else 2 * tail - at, n)


def clustered_mcnemar(
    only_first: ArrayLike, only_second: ArrayLike, *, n_cases: int, words: Words = OF_JUDGES
) -> tuple[Figure, Figure]:
    """Chi-square and p from the discordant pairs of each case; n of both is ``n_cases``, the cases that have a pair.

    Cases without a discordant pair may be left out of the arrays, never out of ``n_cases``.
    """
    from scipy.special import chdtrc

    first, second = np.asarray(only_first, dtype=np.int64), np.asarray(only_second, dtype=np.int64)
    apart = first - second
    if not first.any() and not second.any():
        why: str = words.no_discordant if n_cases else words.no_pairs
    elif n_cases < MINIMUM_CASES:
        why = Reason.TEST_CASES(cases=n_cases, needed=MINIMUM_CASES)
    else:
        why = "" if apart.any() else words.balanced
    if why:
        return Undefined(why, n_cases), Undefined(why, n_cases)
    chi_square = (n_cases - 1) / n_cases * int(apart.sum()) ** 2 / int((apart**2).sum())
    return Estimate(chi_square, n_cases), Estimate(float(chdtrc(1, chi_square)), n_cases)


def mcnemar(
    only_first: ArrayLike, only_second: ArrayLike, *, n_cases: int, method: Method | str = Method.EXACT
) -> McNemar:
    """Both tests from the discordant pairs of each case; arguments as `clustered_mcnemar`."""
    first, second = int(np.asarray(only_first).sum()), int(np.asarray(only_second).sum())
    p = mcnemar_p(first, second, method) if n_cases else Undefined(NO_PAIRS)
    return McNemar(first, second, p, *clustered_mcnemar(only_first, only_second, n_cases=n_cases))
