"""Discrimination: the correlation of an item with the rest of its total score.

Item-rest correlation of a criterion: the Pearson correlation (point-biserial, since an outcome has two values), over
the responses to its case, of the item's own score with the score of the rest of the same response, the item left out
(Nunnally and Bernstein 1994, chapter 8: the corrected item-total correlation). With points p and y = 1 where met, an
item scores p·y and the rest

    (sum of p·y over the others) / (sum of the positive p over the others)

over the criteria answered met or not met: the rubric score without the item. A criterion with negative points whose
fault comes with poor responses thus has a positive discrimination, as a good criterion has.

Rater-rest correlation of a physician: the Pearson correlation, over the pairs that others decided too, of the
physician's outcome with the mean outcome of the others.

Undefined: fewer than 3 units with a rest; an item, a rater, or the rest constant. A response without another positive
criterion has no rest and is left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, figures

MINIMUM = 3
# Rests are quotients of small whole numbers: what differs by less differs by rounding.
DIGITS = 12


def item_rest(
    unit: ArrayLike, item: ArrayLike, score: ArrayLike, possible: ArrayLike, *, n_units: int, n_items: int
) -> list[Figure]:
    """One figure for each item; n is the number of units behind it.

    One row for each answered (unit, item): the places of both, the item's ``score`` on the unit, and ``possible``, what
    it adds to the best score there is (0 for an item that can only take away). The rest of an item is that of the rows
    of the same unit.
    """
    units, items = np.asarray(unit, dtype=np.int64), np.asarray(item, dtype=np.int64)
    scores, best = np.asarray(score, dtype=np.float64), np.asarray(possible, dtype=np.float64)
    others = np.bincount(units, weights=scores, minlength=n_units)[units] - scores
    others_best = np.bincount(units, weights=best, minlength=n_units)[units] - best
    has_rest = others_best > 0
    rest = np.divide(others, others_best, out=np.zeros_like(others), where=has_rest)
    return correlations(items[has_rest], scores[has_rest], rest[has_rest], n_items)


def rater_rest(pair: ArrayLike, rater: ArrayLike, met: ArrayLike, *, n_pairs: int, n_raters: int) -> list[Figure]:
    """One figure for each rater; n is the number of pairs that another rater decided too.

    One row for each decision, met or not met (1 or 0); a rater decides a pair once.
    """
    pairs, raters = np.asarray(pair, dtype=np.int64), np.asarray(rater, dtype=np.int64)
    ratings = np.asarray(met, dtype=np.float64)
    n_others = np.bincount(pairs, minlength=n_pairs)[pairs] - 1
    others = np.bincount(pairs, weights=ratings, minlength=n_pairs)[pairs] - ratings
    has_others = n_others > 0
    return correlations(raters[has_others], ratings[has_others], others[has_others] / n_others[has_others], n_raters)


def correlations(group: NDArray[np.int64], x: ArrayLike, y: ArrayLike, n_groups: int) -> list[Figure]:
    """The Pearson correlation of x and y within each group; n is the number of its rows."""
    first, second = (np.round(np.asarray(values, dtype=np.float64), DIGITS).astype(np.float64) for values in (x, y))
    n = np.bincount(group, minlength=n_groups)
    varies = _varies(group, first, n_groups) & _varies(group, second, n_groups)
    defined = varies & (n >= MINIMUM)
    a, b = (column - (_sums(group, column, n_groups) / np.maximum(n, 1))[group] for column in (first, second))
    spread = np.sqrt(_sums(group, a * a, n_groups) * _sums(group, b * b, n_groups))
    values = np.full(n_groups, np.nan)
    np.divide(_sums(group, a * b, n_groups), spread, out=values, where=defined)

    def reason(i: int) -> str:
        return Reason.CORRELATION_UNITS(n=MINIMUM) if n[i] < MINIMUM else Reason.CONSTANT_VALUES()

    return figures(np.clip(values, -1, 1), n, reason=reason)


def _sums(group: NDArray[np.int64], values: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    return np.asarray(np.bincount(group, weights=values, minlength=n_groups), dtype=np.float64)


def _varies(group: NDArray[np.int64], values: NDArray[np.float64], n_groups: int) -> NDArray[np.bool_]:
    """Whether a group has two different values."""
    first = np.zeros(n_groups)
    first[group] = values
    return np.bincount(group[values != first[group]], minlength=n_groups) > 0
