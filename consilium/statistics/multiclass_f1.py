"""Macro-F1 of several classes: the mean F1 over the classes that the reference or the rater used.

For a table (..., L, L), the reference's class in the rows,

    F1 of a class = 2 · both / (reference + rater)        with the numbers of times that each gave the class

A class that neither used has no F1 and is left out of the mean; one that only one of them used has F1 = 0. With two
classes and both in use it is `macro_f1`. Undefined (NaN) without weight in the table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def class_f1_values(tables: Array) -> Array:
    """F1 of each class, (..., L); NaN where neither used it."""
    mentions = tables.sum(axis=-1) + tables.sum(axis=-2)
    both = np.diagonal(tables, axis1=-2, axis2=-1)
    return np.divide(2 * both, mentions, out=np.full(mentions.shape, np.nan), where=mentions > 0)


def multiclass_f1_values(tables: Array) -> Array:
    """Macro-F1 of each table."""
    of_classes = class_f1_values(tables)
    known = ~np.isnan(of_classes)
    n = known.sum(axis=-1)
    return np.divide(
        np.where(known, of_classes, 0.0).sum(axis=-1), n, out=np.full(n.shape, np.nan, dtype=np.float64), where=n > 0
    )
