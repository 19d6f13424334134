"""Krippendorff's alpha for nominal data: any number of raters, missing ratings, few units.

    alpha = 1 - Do / De
    Do = (sum of o[c, c'] over c != c') / n          De = (sum of n[c]·n[c'] over c != c') / (n(n - 1))

o is the coincidence matrix: in a unit with m >= 2 ratings each ordered pair of ratings adds 1/(m - 1) to its cell;
n[c] are its row sums and n their total, the number of ratings that can be paired. Source: Krippendorff 2011,
"Computing Krippendorff's Alpha-Reliability". For two raters on binary data, all units complete, alpha is a function of
the 2x2 table: 1 - (2N - 1)·(fp + fn) / (met mentions · not-met mentions).

Undefined: no unit with two ratings; all paired ratings in one category (De = 0).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Estimate, Figure, Undefined, figures

CONSTANT = "constant ratings: alpha has no expected disagreement"


def two_rater_alpha_values(counts: ConfusionCounts) -> NDArray[np.float64]:
    """Alpha of two raters for each table; NaN where undefined."""
    disagreements = counts.fp + counts.fn
    with np.errstate(invalid="ignore"):
        return np.asarray(
            1 - np.true_divide((2 * counts.n - 1) * disagreements, counts.met_mentions * counts.not_met_mentions)
        )


def two_rater_alpha_figures(counts: ConfusionCounts) -> list[Figure]:
    sizes = counts.n.ravel()
    return figures(two_rater_alpha_values(counts), counts.n, reason=lambda i: CONSTANT if sizes[i] else "no pairs")


def two_rater_alpha(counts: ConfusionCounts) -> Figure:
    """Alpha of two raters from one 2x2 table, each pair a unit; n is the number of pairs."""
    return two_rater_alpha_figures(counts)[0]


def value_counts(unit: ArrayLike, category: ArrayLike, n_units: int, n_categories: int) -> NDArray[np.int64]:
    """How often each unit got each category, shape (n_units, n_categories), from one row per rating."""
    flat = np.asarray(unit, dtype=np.int64).ravel() * n_categories + np.asarray(category, dtype=np.int64).ravel()
    return np.bincount(flat, minlength=n_units * n_categories).reshape(n_units, n_categories)


def coincidences(counts_by_unit: ArrayLike) -> NDArray[np.float64]:
    """The coincidence matrix of (units, categories) counts; units with fewer than two ratings add nothing."""
    table = np.asarray(counts_by_unit, dtype=np.float64)
    ratings = table.sum(axis=1)
    table, ratings = table[ratings >= 2], ratings[ratings >= 2]
    weighted = table / (ratings - 1)[:, None]
    matrix: NDArray[Any] = weighted.T @ table
    # A rating is not paired with itself.
    matrix[np.diag_indices_from(matrix)] -= weighted.sum(axis=0)
    return matrix


def krippendorff_alpha(counts_by_unit: ArrayLike) -> Figure:
    """Nominal alpha of many raters; `counts_by_unit` as `value_counts` makes it; n is the number of units with at
    least two ratings.
    """
    table = np.asarray(counts_by_unit)
    paired = table.sum(axis=1) >= 2 if table.size else np.zeros(0, dtype=bool)
    units = int(paired.sum())
    if not units:
        return Undefined("no unit with two ratings")
    # Every rating of a paired unit enters the margins exactly once, so these are whole numbers.
    margins = table[paired].sum(axis=0).astype(np.float64)
    total = float(margins.sum())
    apart = total * total - float(margins @ margins)
    if apart == 0:
        return Undefined(CONSTANT, units)
    matrix = coincidences(table)
    observed = float(matrix.sum() - np.trace(matrix))
    return Estimate(1 - (total - 1) * observed / apart, units)
