"""Ranked probability score of a candidate's distribution against the votes of a panel.

A vote is one level, or two adjacent ones that count half each. With F the candidate's cumulative distribution, Q that
of the panel's m votes, and 1[vote <= k] a vote's indicator, which is ½ for a vote between k and k + 1,

    RPS  = mean over votes of Σ over k < L - 1 of (F[k] - 1[vote <= k])² / (L - 1)
    CDF² = Σ over k < L - 1 of (F[k] - Q[k])² / (L - 1)

A vote between two levels has the mean of the terms of both. So RPS = CDF² + Σ Q(1 - Q) / (L - 1): the error of the
candidate plus the spread that the panel has by itself.

CDF² is too large by what chance adds, since both F and Q come from a few readings and votes. *Corrected* CDF² takes
off, for each k, the sample variances of the votes' and of the readings' indicators over their numbers. It is unbiased
for endless votes and readings, and may be negative.

Sources: Epstein 1969; Ferro 2014 (fair scores of small ensembles). Undefined (NaN): no vote; the corrected one also
with fewer than two votes or readings.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def below(low: ArrayLike, high: ArrayLike, n_levels: int) -> Array:
    """1[vote <= k] of votes from ``low`` to ``high`` (votes,), shape (votes, L - 1): 1, 0, or ½ between the two."""
    borders = np.arange(n_levels - 1)
    ends = (np.asarray(end)[:, None] <= borders for end in (low, high))
    return np.asarray(sum(end.astype(np.float64) for end in ends)) / 2


def ranked_probability(forecast: ArrayLike, low: ArrayLike, high: ArrayLike) -> float:
    """RPS of a distribution (L,) over votes from ``low`` to ``high`` (votes,)."""
    f = np.asarray(forecast, dtype=np.float64)
    n_levels = len(f)
    if not len(np.asarray(low)):
        return float("nan")
    cumulative = np.cumsum(f)[:-1]
    terms = [(cumulative - below(end, end, n_levels)) ** 2 for end in (low, high)]
    return float(np.mean(terms, axis=0).sum(axis=1).mean() / (n_levels - 1))


def cumulative_error(first: ArrayLike, second: ArrayLike) -> Array:
    """CDF² of distributions (..., L)."""
    f, q = (np.cumsum(np.asarray(part, dtype=np.float64), axis=-1)[..., :-1] for part in (first, second))
    return np.asarray(((f - q) ** 2).sum(axis=-1) / f.shape[-1])


def corrected_cumulative_error(readings: ArrayLike, low: ArrayLike, high: ArrayLike, n_levels: int) -> float:
    """Corrected CDF² of levels read (readings,) against votes from ``low`` to ``high`` (votes,)."""
    of_readings, of_votes = below(readings, readings, n_levels), below(low, high, n_levels)
    if len(of_readings) < 2 or len(of_votes) < 2:
        return float("nan")
    apart = (of_readings.mean(axis=0) - of_votes.mean(axis=0)) ** 2
    chance = sum(part.var(axis=0, ddof=1) / len(part) for part in (of_readings, of_votes))
    return float((apart - chance).sum() / (n_levels - 1))
