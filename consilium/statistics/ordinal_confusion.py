"""Shares of a table of ordered levels: the reference's level by the level that was advised.

A table has the shape (..., L, L): the reference's level in the rows, the level advised in the columns, the lowest
first. Its cells are counts or weights. With reference l and advice y,

    over = y - l where y is higher         under = l - y where y is lower

in levels, and the shares are of the table's total:

    accuracy = P(over = under = 0)         within one = P(over, under <= 1)
    over P(over > 0), severe over P(over >= 2); under and severe under alike
    safety = 1 - under                     inclination = over / (over + under)
    bias = mean of y - l                   recall of a level = right / all of that reference level

Source: Kopka et al. 2023 (safety of advice, inclination to overtriage). A severe error needs three levels; with two it
is undefined. Undefined as well: every share of a table without weight; inclination without errors; recall of a level
that the reference does not have. All functions give NaN there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SEVERE = 2  # levels


def steps(n_levels: int) -> NDArray[np.int64]:
    """Level advised less level of the reference, (L, L)."""
    level = np.arange(n_levels)
    return level[None, :] - level[:, None]


def share_of(tables: Array, counted: NDArray[np.bool_]) -> Array:
    """The share of each table's weight in the cells that are ``counted``, (L, L)."""
    return mean_of(tables, counted.astype(np.float64))


def mean_of(tables: Array, values: Array) -> Array:
    """The mean of ``values`` (L, L) over each table."""
    total = tables.sum(axis=(-2, -1))
    return np.divide((tables * values).sum(axis=(-2, -1)), total, out=np.full(total.shape, np.nan), where=total > 0)


def accuracy_values(tables: Array) -> Array:
    return share_of(tables, steps(tables.shape[-1]) == 0)


def over_values(tables: Array) -> Array:
    return share_of(tables, steps(tables.shape[-1]) > 0)


def under_values(tables: Array) -> Array:
    return share_of(tables, steps(tables.shape[-1]) < 0)


def severe_over_values(tables: Array) -> Array:
    return _severe(tables, steps(tables.shape[-1]) >= SEVERE)


def severe_under_values(tables: Array) -> Array:
    return _severe(tables, steps(tables.shape[-1]) <= -SEVERE)


def within_one_values(tables: Array) -> Array:
    return share_of(tables, np.abs(steps(tables.shape[-1])) <= 1)


def safety_values(tables: Array) -> Array:
    return 1 - under_values(tables)


def bias_values(tables: Array) -> Array:
    return mean_of(tables, steps(tables.shape[-1]).astype(np.float64))


def inclination_values(tables: Array) -> Array:
    over, under = over_values(tables), under_values(tables)
    errors = over + under
    return np.divide(over, errors, out=np.full(errors.shape, np.nan), where=errors > 0)


def recall_values(tables: Array) -> Array:
    """Recall of each level, (..., L)."""
    rows = tables.sum(axis=-1)
    right = np.diagonal(tables, axis1=-2, axis2=-1)
    return np.divide(right, rows, out=np.full(rows.shape, np.nan), where=rows > 0)


def _severe(tables: Array, counted: NDArray[np.bool_]) -> Array:
    if tables.shape[-1] <= SEVERE:
        return np.full(tables.shape[:-2], np.nan)
    return share_of(tables, counted)
