"""Quadratically weighted kappa (QWK) of two raters on ordered levels.

    QWK = 1 - Σ w·O / Σ w·E        w = (i - j)² / (L - 1)²        E[i, j] = row[i] · column[j] / n

for a table O (..., L, L) of counts or weights. Source: Cohen 1968. Symmetric in the raters. Undefined (NaN): a table
without weight; both raters using one and the same level throughout, since nothing is then expected to be apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def weighted_kappa_values(tables: Array) -> Array:
    """QWK of each table."""
    levels = np.arange(tables.shape[-1], dtype=np.float64)
    weights = (levels[:, None] - levels[None, :]) ** 2
    n = tables.sum(axis=(-2, -1))
    observed = (tables * weights).sum(axis=(-2, -1))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = ((rows[..., :, None] * columns[..., None, :]) * weights).sum(axis=(-2, -1))
    # (L - 1)² is in both sums.
    ratio = np.divide(n * observed, expected, out=np.full(n.shape, np.nan), where=expected > 0)
    return 1 - ratio
