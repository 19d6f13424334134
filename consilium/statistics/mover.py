"""The interval of a difference of two figures on the same cases, made from the two intervals that are shown.

With d = θ1 - θ2, their ends (l1, u1) and (l2, u2), and what both would be without each case (`jackknife`), less the
mean: δ1[i], which is 0 for a case that does not stand behind the first figure, and δ2[i] likewise,

    r = Σ δ1[i]·δ2[i] / √(Σ δ1[i]² · Σ δ2[i]²)                                0 where one of the sums is 0
    low  = d - √((θ1 - l1)² - 2r(θ1 - l1)(u2 - θ2) + (u2 - θ2)²)
    high = d + √((u1 - θ1)² - 2r(u1 - θ1)(θ2 - l2) + (θ2 - l2)²)

So all cases of a figure count in the sum of its squares. Of a figure of some cases and a figure of all, as a family of
cases and the whole, r is well below 1, although both move together in the cases that they share.

There is no interval where both figures change alike without each case (`changes_alike`), as those of two raters with
the same counts in every case.

Source: Zou and Donner 2008, the method of variance estimates recovery (MOVER), here with the correlation of the
jackknife. It is made of the two intervals that are shown, but for shares of cases with one trial each: there the rule's
own ends go into the difference (`jackknife`). It has a width where both figures are at their bounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.jackknife import NO_SPREAD

Array = NDArray[np.float64]


def correlations(first: Array, second: Array) -> Array:
    """r of deviations (cases, slices) of both figures, (slices,)."""
    product, squares = (first * second).sum(axis=0), (first**2).sum(axis=0) * (second**2).sum(axis=0)
    return np.clip(np.divide(product, np.sqrt(squares), out=np.zeros(squares.shape), where=squares > 0), -1, 1)


def changes_alike(first: Array, second: Array, scale: Array) -> NDArray[np.bool_]:
    """Whether both figures change by the same amount without each case, and do change, (slices,).

    ``first`` and ``second`` are deviations (cases, slices), ``scale`` (slices,) the length of the range of the figures.
    Then r is 1 and the cases do not show how the difference spreads: the interval would be near nothing, by what the
    logit scale makes of two lengths. Two raters who have the same counts in every case are so.
    """
    apart = np.abs(first - second) > NO_SPREAD * scale
    return np.asarray((first != 0).any(axis=0) & ~apart.any(axis=0))


def difference_ends(
    first: tuple[Array, Array, Array], second: tuple[Array, Array, Array], r: Array
) -> tuple[Array, Array]:
    """Ends of the first figure less the second; each is given as (value, low, high), ``r`` is their correlation."""
    (value, low, high), (other, other_low, other_high) = first, second
    d = value - other
    down = _length(value - low, other_high - other, r)
    up = _length(high - value, other - other_low, r)
    return d - down, d + up


def _length(first: Array, second: Array, r: Array) -> Array:
    return np.sqrt(np.maximum(first**2 - 2 * r * first * second + second**2, 0.0))
