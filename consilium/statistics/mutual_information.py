"""How much an attribute tells about an event, in bits: where does disagreement sit?

From counts n[v, d] of pairs by the attribute's value v and whether the event happened (d = 0, 1), n their sum:

    I = sum of n[v, d]/n · log2( n·n[v, d] / (n[v, ·]·n[·, d]) )

I is 0 where every value has the same rate of the event, and at most the entropy of the event, to which `share` relates
it. From few pairs I comes out too large, by chance alone. Miller and Madow's correction (Miller 1955) takes off
(cells - values - 1) / (2n ln 2), with the cells and values that occur (an event that both happened and did not); the
result may fall below 0, which says: no more than chance.

That correction takes pairs as independent, and those of one criterion, response or case are not. So there is a p-value
by permutation (Phipson and Smyth 2010: (1 + as large or larger) / (1 + permutations)): the values are dealt anew among
the units that bear them, with all their pairs, and, where a case has several such units, within each case only. Then it
asks whether the attribute tells anything that the case does not.

Undefined: no pairs; an event that always or never happened; an attribute with one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.estimate import Estimate, Figure, Undefined

PERMUTATIONS = 999
BLOCK_CELLS = 2_000_000
# Two tables that differ in nothing but the order of summing are as informative as each other.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Information:
    """`bits` is I, `corrected` that by Miller and Madow, `share` the corrected in parts of the entropy of the event."""

    bits: Figure
    corrected: Figure
    share: Figure
    p: Figure


def mutual_information(counts: ArrayLike) -> Information:
    """From counts (values, 2) by whether the event happened; n is the number of pairs. Without a p-value."""
    table = np.asarray(counts, dtype=np.float64).reshape(-1, 2)
    table = table[table.sum(axis=1) > 0]
    n = int(table.sum())
    refused = _refused(table, n)
    if refused is not None:
        return Information(refused, refused, refused, refused)
    value = float(information_values(table[None])[0])
    cells = int(np.count_nonzero(table))
    corrected = value - (cells - len(table) - 1) / (2 * n * log(2))
    rate = float(table[:, 1].sum()) / n
    entropy = -(rate * log(rate, 2) + (1 - rate) * log(1 - rate, 2))
    return Information(
        Estimate(max(value, 0.0), n),
        Estimate(corrected, n),
        Estimate(corrected / entropy, n),
        Undefined("no permutations", n),
    )


def _refused(table: NDArray[np.float64], n: int) -> Undefined | None:
    if not n:
        return Undefined("no pairs")
    if len(table) < 2:
        return Undefined("the attribute has one value only", n)
    if not table[:, 1].any():
        return Undefined("the raters never differ", n)
    if not table[:, 0].any():
        return Undefined("the raters always differ", n)
    return None


def information_values(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """I of each of many tables (tables, values, 2) with pairs in it."""
    n = tables.sum(axis=(1, 2))
    return (
        _sum_of_logs(tables.reshape(len(tables), -1))
        - _sum_of_logs(tables.sum(axis=2))
        - _sum_of_logs(tables.sum(axis=1))
        + n * np.log2(n)
    ) / n


def _sum_of_logs(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((counts * np.log2(np.maximum(counts, 1.0))).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Units:
    """What bears an attribute: cases, responses or criteria, each with its pairs by whether the event happened.

    `counts` (units, 2); `within` numbers the case of each unit, None where the units are the cases themselves. Dealt
    once for all attributes of the same units.
    """

    counts: NDArray[np.int64]
    within: NDArray[np.int64] | None = None

    def dealt(self, seed: int, permutations: int) -> Iterator[NDArray[np.int64]]:
        """Orders of the units, (block, units), a row for each permutation."""
        rng = np.random.Generator(np.random.PCG64(seed))
        n = len(self.counts)
        groups = self._groups()
        size = max(1, BLOCK_CELLS // max(1, n))
        for start in range(0, permutations, size):
            rows = min(size, permutations - start)
            order = np.empty((rows, n), dtype=np.int64)
            for members in groups:
                drawn = rng.permuted(np.broadcast_to(members, (rows, *members.shape)), axis=2)
                order[:, members.ravel()] = drawn.reshape(rows, -1)
            yield order

    def _groups(self) -> list[NDArray[np.int64]]:
        """The units of each case, (cases, size), the cases of one size together."""
        n = len(self.counts)
        if self.within is None:
            return [np.arange(n)[None, :]] if n else []
        order = np.argsort(self.within, kind="stable")
        _cases, start, size = np.unique(self.within[order], return_index=True, return_counts=True)
        return [order[start[size == one][:, None] + np.arange(one)[None, :]] for one in np.unique(size).tolist()]


def permutation_p(
    units: Units, attributes: list[NDArray[np.int64]], *, seed: int, permutations: int = PERMUTATIONS
) -> list[float]:
    """For each attribute (the number of its value on each unit) how often a deal is at least as informative."""
    tables = [np.eye(int(values.max(initial=0)) + 1)[values] for values in attributes]
    counts = units.counts.astype(np.float64)
    observed = [information_values((hot.T @ counts)[None])[0] for hot in tables]
    as_large = [0] * len(tables)
    for order in units.dealt(seed, permutations):
        columns = [counts[:, d][order] for d in (0, 1)]
        for i, hot in enumerate(tables):
            made = np.stack([column @ hot for column in columns], axis=2)
            as_large[i] += int((information_values(made) >= observed[i] - TOLERANCE).sum())
    return [(1 + n) / (1 + permutations) for n in as_large]
