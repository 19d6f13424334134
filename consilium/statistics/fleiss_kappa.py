"""Fleiss' kappa: agreement beyond chance of the same number of raters on every item, any number of categories.

    kappa = (P - Pe) / (1 - Pe)
    P = mean over items of (sum of n[i, c]² - m) / (m(m - 1))          Pe = sum of p[c]²

n[i, c] counts the m raters who put item i into category c, p[c] is the share of all ratings in c. The raters need not
be the same people for each item. Source: Fleiss 1971, Psychological Bulletin 76:378. With m = 2 it is Scott's pi.

The interval over items is that of every figure over cases, as `unit_agreement` has it: kappa is a function of the sums
of n[i, c] and of n[i, c]² over the items.

Undefined: no items; numbers of ratings that differ between items (alpha has no such need); fewer than two raters; all
ratings in one category (Pe = 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.unit_agreement import unit_chance


def fleiss_kappa(counts_by_item: ArrayLike, *, rule: IntervalRule | None = None) -> Figure:
    """From a row for each item and a column for each category; n is the number of items.

    With a ``rule`` the figure has an interval over the items.
    """
    table = np.asarray(counts_by_item, dtype=np.float64)
    items = len(table) if table.size else 0
    if not items:
        return Undefined(Reason.NO_ITEMS())
    ratings = table.sum(axis=1)
    raters = ratings[0]
    if (ratings != raters).any():
        fewest, most = int(ratings.min()), int(ratings.max())
        return Undefined(Reason.UNEQUAL_RATINGS_OF_ITEMS(low=fewest, high=most), items)
    if raters < 2:
        return Undefined(Reason.NO_PAIRED_ITEM(), items)
    margins = table.sum(axis=0)
    total = items * raters
    # Both in whole numbers, so that constant ratings are seen as such.
    apart = total * total - float(margins @ margins)
    if apart == 0:
        return Undefined(Reason.CONSTANT_KAPPA(), items)
    observed = float((total * raters - (table * table).sum()) / (total * (raters - 1)))  # 1 - P
    figure = Estimate(float(1 - observed * total * total / apart), items)
    return figure if rule is None else rule.intervals(kappa_figures(table)).attach([figure])[0]


def kappa_figures(counts_by_item: ArrayLike) -> CaseFigures:
    """Kappa as a function of sums over items, one slice. ValueError where items differ in their number of ratings, or
    have fewer than two.
    """
    table = np.asarray(counts_by_item, dtype=np.float64)
    ratings = table.sum(axis=1)
    if not table.size or ratings[0] < 2 or (ratings != ratings[0]).any():
        raise ValueError("every item needs the same number of ratings, two or more")
    raters = float(ratings[0])

    def kappas(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        margins, squares = sums[..., :-1], sums[..., -1]
        total = margins.sum(axis=-1)
        apart = total**2 - (margins**2).sum(axis=-1)
        differing = (total * raters - squares) / (raters - 1) * total
        return 1 - np.divide(differing, apart, out=np.full(apart.shape, np.nan), where=apart > 0)

    sums = np.concatenate([table, (table**2).sum(axis=1, keepdims=True)], axis=1)
    shares = table.sum(axis=0) / table.sum()
    chance = unit_chance(1 - float(shares @ shares), table)
    return CaseFigures(sums[:, None, :], kappas, np.ones((len(table), 1)), -1.0, 1.0, chance=chance)
