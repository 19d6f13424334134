"""How far a candidate's distribution over ordered levels is from a panel's.

With f and q over L levels, summing to 1, and their cumulative sums F and Q,

    TVD = ½ Σ |f - q|                                     total variation, 0 to 1
    W1  = Σ over k < L - 1 of |F[k] - Q[k]|               earth mover's distance, in levels, 0 to L - 1
    JSD = (KL(f ‖ m) + KL(q ‖ m)) / 2, m = (f + q) / 2    Jensen-Shannon divergence, natural log, 0 to ln 2

Sources: Lin 1991 (JSD); Vallender 1974 (W1 on the line). Arrays of shape (..., L) give arrays of shape (...).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def total_variation(first: ArrayLike, second: ArrayLike) -> Array:
    f, q = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return np.asarray(np.abs(f - q).sum(axis=-1) / 2)


def earth_movers(first: ArrayLike, second: ArrayLike) -> Array:
    f, q = (np.cumsum(np.asarray(part, dtype=np.float64), axis=-1)[..., :-1] for part in (first, second))
    return np.asarray(np.abs(f - q).sum(axis=-1))


def jensen_shannon(first: ArrayLike, second: ArrayLike) -> Array:
    """In nats."""
    from scipy.special import rel_entr

    f, q = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    middle = (f + q) / 2
    return np.asarray((rel_entr(f, middle) + rel_entr(q, middle)).sum(axis=-1) / 2)
