"""Krippendorff's ordinal alpha of two raters, from their table of levels.

Each pair of readings is a unit with two ratings, so that the coincidence matrix of a table O is O + O', and the number
of ratings of a level its row and column sums together (`krippendorff_alpha`). Tables of shape (..., L, L) hold counts:
weights would be no numbers of ratings, on which alpha depends. Undefined (NaN): no pair; one level throughout.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.krippendorff_alpha import Level, alpha_values

Array = NDArray[np.float64]


def ordinal_alpha_values(tables: Array) -> Array:
    """Alpha of each table."""
    n_levels = tables.shape[-1]
    coincidence = tables + np.swapaxes(tables, -2, -1)
    flat = coincidence.reshape(-1, n_levels, n_levels)
    margins = flat.sum(axis=-1)
    values = alpha_values(np.moveaxis(flat, 0, -1), margins.T, Level.ORDINAL, np.arange(n_levels, dtype=np.float64))
    return np.asarray(values.reshape(tables.shape[:-2]))
