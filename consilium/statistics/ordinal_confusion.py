"""Shares of a table of ordered levels: the reference's level by the level that was advised.

A table has the shape (..., L, L): the reference's level in the rows, the level advised in the columns, the lowest
first. Its cells are counts or weights. With reference l and advice y,

    over = y - l where y is higher         under = l - y where y is lower

in levels, and the shares are of the table's total:

    accuracy = P(over = under = 0)         within one = P(over, under <= 1)
    over P(over > 0), severe over P(over >= 2); under and severe under alike
    safety = 1 - under                     inclination = over / (over + under)
    bias = mean of y - l                   recall of a level = right / all of that reference level

Each is Σ table · above / Σ table · below over the cells, with the values of cells that the functions here give; below
is 1 everywhere but for inclination, where only errors count. Source: Kopka et al. 2023 (safety of advice, inclination
to over-triage). A severe error needs three levels; with two it is undefined. Undefined as well: every share of a table
without weight; inclination without errors; recall of a level that the reference does not have. All are NaN then.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SEVERE = 2  # levels


def steps(n_levels: int) -> Array:
    """Level advised less level of the reference, (L, L)."""
    level = np.arange(n_levels, dtype=np.float64)
    return level[None, :] - level[:, None]


def every(n_levels: int) -> Array:
    return np.ones((n_levels, n_levels))


def right(n_levels: int) -> Array:
    return np.eye(n_levels)


def error(n_levels: int) -> Array:
    return 1 - np.eye(n_levels)


def over(n_levels: int) -> Array:
    return (steps(n_levels) > 0).astype(np.float64)


def under(n_levels: int) -> Array:
    return (steps(n_levels) < 0).astype(np.float64)


def severe_over(n_levels: int) -> Array:
    return _severe(n_levels, steps(n_levels) >= SEVERE)


def severe_under(n_levels: int) -> Array:
    return _severe(n_levels, steps(n_levels) <= -SEVERE)


def within_one(n_levels: int) -> Array:
    return (np.abs(steps(n_levels)) <= 1).astype(np.float64)


def safe(n_levels: int) -> Array:
    return 1 - under(n_levels)


def _severe(n_levels: int, counted: NDArray[np.bool_]) -> Array:
    return counted.astype(np.float64) if n_levels > SEVERE else np.full((n_levels, n_levels), np.nan)


def mean_of(tables: Array, above: Array, below: Array | None = None) -> Array:
    """Σ table · above / Σ table · below of each table, ``below`` being 1 by default; NaN where that is 0."""
    weight = (tables if below is None else tables * below).sum(axis=(-2, -1))
    return np.divide((tables * above).sum(axis=(-2, -1)), weight, out=np.full(weight.shape, np.nan), where=weight > 0)


def recall_values(tables: Array) -> Array:
    """Recall of each level, (..., L)."""
    rows = tables.sum(axis=-1)
    diagonal = np.diagonal(tables, axis1=-2, axis2=-1)
    return np.divide(diagonal, rows, out=np.full(rows.shape, np.nan), where=rows > 0)
