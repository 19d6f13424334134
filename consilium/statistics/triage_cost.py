"""What errors of triage cost, where a level too low is dearer than a level too high.

A reading that is d levels under the reference or o levels over it costs

    r · d^γ + o^γ                    r >= 0, by default 5; γ >= 0, by default 1; a right one costs 0 at every γ

With γ = 1 each level counts, with γ = 0 each error counts 1, whatever its size. *Normalised* is the mean cost over the
mean of the worst answer to each case, max(r · l^γ, (L - 1 - h)^γ) for a reference from l to h. The mean cost is linear
in r, so that the costs of two candidates cross at most once: at r with under · r + over the same for both.

Undefined (NaN): a table without weight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.ordinal_confusion import mean_of, steps

RATIO, EXPONENT = 5.0, 1.0
CURVE = np.geomspace(1.0, 20.0, 41)

Array = NDArray[np.float64]


def powered(levels: ArrayLike, exponent: float = EXPONENT) -> Array:
    """levels^γ, and 0 for 0 levels whatever γ is."""
    distance = np.asarray(levels, dtype=np.float64)
    return np.where(distance > 0, np.maximum(distance, 1.0) ** exponent, 0.0)


def cost_of_cells(n_levels: int, ratio: float = RATIO, exponent: float = EXPONENT) -> Array:
    """The cost of each cell of a table (L, L), the reference's level in the rows."""
    under, over = cost_parts_of_cells(n_levels, exponent)
    return ratio * under + over


def cost_parts_of_cells(n_levels: int, exponent: float = EXPONENT) -> tuple[Array, Array]:
    """d^γ and o^γ of each cell, (L, L)."""
    apart = steps(n_levels)
    return powered(np.maximum(-apart, 0), exponent), powered(np.maximum(apart, 0), exponent)


def cost_values(tables: Array, ratio: float = RATIO, exponent: float = EXPONENT) -> Array:
    """Mean cost of each table (..., L, L)."""
    return mean_of(tables, cost_of_cells(tables.shape[-1], ratio, exponent))


def cost_parts(tables: Array, exponent: float = EXPONENT) -> tuple[Array, Array]:
    """The mean of d^γ and the mean of o^γ of each table: the cost at a ratio r is r times the first plus the second."""
    under, over = cost_parts_of_cells(tables.shape[-1], exponent)
    return mean_of(tables, under), mean_of(tables, over)


def worst_costs(
    low: ArrayLike, high: ArrayLike, n_levels: int, ratio: float = RATIO, exponent: float = EXPONENT
) -> Array:
    """The cost of the worst answer to cases with references from ``low`` to ``high``."""
    below, above = powered(low, exponent), powered(n_levels - 1 - np.asarray(high), exponent)
    return np.maximum(ratio * below, above)


def answer_costs(panel: ArrayLike, ratio: float = RATIO) -> Array:
    """The expected cost of each answer where the truth is drawn from the panel's distribution (..., L), with γ = 1."""
    q = np.asarray(panel, dtype=np.float64)
    return np.asarray(q @ cost_of_cells(q.shape[-1], ratio))


def crossing(first: tuple[float, float], second: tuple[float, float]) -> float | None:
    """The ratio at which two candidates cost the same, from the `cost_parts` of each; None where no positive r does."""
    dearer_under, cheaper_over = first[0] - second[0], second[1] - first[1]
    if dearer_under == 0:
        return None
    ratio = cheaper_over / dearer_under
    return ratio if ratio > 0 else None


def cheapest(parts: ArrayLike, start: float, end: float) -> list[tuple[float, int]]:
    """Which candidate costs the least from which ratio on, from ``start`` to ``end``, by `cost_parts` (candidates, 2).

    Of several that cost the same, the one that costs the least at greater ratios counts, then the first.
    """
    lines = np.asarray(parts, dtype=np.float64)
    costs = start * lines[:, 0] + lines[:, 1]
    least = np.flatnonzero(np.isclose(costs, costs.min(), rtol=0, atol=1e-12))
    place = int(least[np.argmin(lines[least, 0])])
    steps_of = [(start, place)]
    while True:
        later = [
            (ratio, lines[other, 0], other)
            for other in np.flatnonzero(lines[:, 0] < lines[place, 0]).tolist()
            if (ratio := crossing(tuple(lines[place]), tuple(lines[other]))) is not None and steps_of[-1][0] < ratio
        ]
        if not later or min(later)[0] > end:
            return steps_of
        ratio, _under, place = min(later)
        steps_of.append((float(ratio), place))
