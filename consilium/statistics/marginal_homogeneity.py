"""Do two raters use the levels alike? Tests of a square table of paired answers.

With n[i, j] pairs in which the first said i and the second j, and d[i] the difference of their margins,

    Stuart-Maxwell   d' S⁺ d        S[i, i] = row[i] + column[i] - 2·n[i, i],  S[i, j] = -(n[i, j] + n[j, i])
    Bowker           Σ over i < j with n[i, j] + n[j, i] > 0 of (n[i, j] - n[j, i])² / (n[i, j] + n[j, i])

Stuart-Maxwell asks whether the margins are the same, over all levels and with the pseudo-inverse S⁺: its degrees of
freedom are the rank of S, so that a level on which the two never differ takes none. Bowker asks whether the table is
symmetric; its degrees of freedom are the pairs of levels in the sum.

Sources: Stuart 1955, Maxwell 1970, Bowker 1948. With two levels both are McNemar's test without correction. Undefined:
no pair on which the two differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined


@dataclass(frozen=True)
class MarginTest:
    """``statistic`` and ``p`` have the number of pairs as their n."""

    statistic: Figure
    degrees: int
    p: Figure


def stuart_maxwell(table: ArrayLike) -> MarginTest:
    """The test of equal margins of a table (L, L)."""
    counts = np.asarray(table, dtype=np.float64)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    spread = -(counts + counts.T)
    np.fill_diagonal(spread, rows + columns - 2 * np.diagonal(counts))
    degrees = int(np.linalg.matrix_rank(spread)) if counts.size else 0
    apart = rows - columns
    statistic = float(apart @ np.linalg.pinv(spread) @ apart) if degrees else 0.0
    return _tested(statistic, degrees, round(float(counts.sum())))


def bowker(table: ArrayLike) -> MarginTest:
    """The test of symmetry of a table (L, L)."""
    counts = np.asarray(table, dtype=np.float64)
    upper = np.triu_indices(len(counts), 1)
    first, second = counts[upper], counts.T[upper]
    both = first + second
    used = both > 0
    statistic = float((((first - second) ** 2)[used] / both[used]).sum())
    return _tested(statistic, int(used.sum()), round(float(counts.sum())))


def _tested(statistic: float, degrees: int, n: int) -> MarginTest:
    from scipy.special import chdtrc

    if not degrees:
        why = Undefined(Reason.LEVELS_NEVER_DIFFER() if n else Reason.NO_PAIRS(), n)
        return MarginTest(why, 0, why)
    return MarginTest(Estimate(statistic, n), degrees, Estimate(float(chdtrc(degrees, statistic)), n))
