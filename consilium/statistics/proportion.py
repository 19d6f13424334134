"""Exact bounds of a share: of a process, and of a finite set that a sample was drawn from without replacement.

*Clopper–Pearson* (Clopper and Pearson 1934, Biometrika 26:404): the shares that a two-sided binomial test with equal
tails would not reject. It holds its 95% for every n and every share, and pays for that with width.

*Finite population* (Buonaccorsi 1987, The American Statistician 41:215; Wright 1991, Exact Confidence Bounds when
Sampling from Small Finite Universes): of N units D are marked, n were drawn without replacement, ``hits`` of them
marked. The bounds are the whole numbers D that a two-sided hypergeometric test with equal tails would not reject:

    low  = least D with P(X ≥ hits | N, D, n) > α/2          high = greatest D with P(X ≤ hits | N, D, n) > α/2

Where all units were drawn both ends are ``hits``. It knows that the sample is a large part of the set, so it is never
wider than what the set allows, and is the interval to read where the set itself is what is asked about.
"""

from __future__ import annotations

import numpy as np

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

LEVEL = 0.95
NOTHING_COUNTED = Reason.NOTHING_COUNTED()


def clopper_pearson(hits: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Ends of the interval of ``hits`` of ``n``; ValueError where that is no proportion."""
    from scipy.stats import beta

    if n < 1 or not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no proportion")
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta.ppf(1 - tail, hits + 1, n - hits))
    return low, high


def finite_population_bounds(hits: int, n: int, population: int, level: float = LEVEL) -> tuple[int, int]:
    """Least and greatest number of marked units among ``population``, of which ``n`` were drawn and ``hits`` marked.

    ValueError where ``n`` were not drawn from so many, or ``hits`` are not among them.
    """
    from scipy.stats import hypergeom

    if n < 1 or not 0 <= hits <= n or n > population:
        raise ValueError(f"{hits} of {n} out of {population} is no sample")
    tail = (1 - level) / 2
    # What was seen is certain: so many are marked at least, and so many are not.
    possible = np.arange(hits, population - (n - hits) + 1)
    enough = hypergeom.sf(hits - 1, population, possible, n) > tail
    not_too_many = hypergeom.cdf(hits, population, possible, n) > tail
    return int(possible[enough].min()), int(possible[not_too_many].max())


def exact_proportion(hits: int, n: int, *, empty: str = NOTHING_COUNTED) -> Figure:
    """The share with its Clopper–Pearson interval; n is the number of units drawn."""
    if n == 0:
        return Undefined(empty)
    return Estimate(hits / n, n, *clopper_pearson(hits, n))
