"""Fleiss' kappa: agreement beyond chance of the same number of raters on every item, any number of categories.

    kappa = (P - Pe) / (1 - Pe)
    P = mean over items of (sum of n[i, c]² - m) / (m(m - 1))          Pe = sum of p[c]²

n[i, c] counts the m raters who put item i into category c, p[c] is the share of all ratings in c. The raters need not
be the same people for each item. Source: Fleiss 1971, Psychological Bulletin 76:378. With m = 2 it is Scott's pi.

Undefined: no items; numbers of ratings that differ between items (alpha has no such need); fewer than two raters; all
ratings in one category (Pe = 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined


def fleiss_kappa(counts_by_item: ArrayLike) -> Figure:
    """From a row for each item and a column for each category; n is the number of items."""
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
    return Estimate(float(1 - observed * total * total / apart), items)
