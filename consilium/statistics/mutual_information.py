"""Mutual information between an attribute and an event, in bits: which attributes explain disagreement?

From counts n[v, d] of pairs by the attribute's value v and whether the event happened (d = 0, 1), n their sum:

    I = sum of n[v, d]/n · log2( n·n[v, d] / (n[v, ·]·n[·, d]) )

I is 0 where every value has the same rate of the event, and at most the entropy of the event, to which `share` relates
it. From few pairs I comes out too large, by chance alone. Miller and Madow's correction (Miller 1955) takes off
(cells - values - 1) / (2n ln 2), with the cells and values that occur (an event that both happened and did not); the
result may fall below 0, which says: no more than chance.

That correction takes pairs as independent, and those of one criterion, response or case are not. So the values are also
dealt anew, many times, among the units that bear them, each of which keeps all its pairs; where a case has several such
units, within each case only. The mean over the deals is what I comes to by chance (and by the case alone), the excess
is what I has beyond it, and the p-value is (1 + deals that tell as much) / (1 + deals) (Phipson and Smyth 2010).

Undefined: no pairs; an event that always or never happened; an attribute with one value. Beyond chance also: an
attribute that has one value in each case, where there is nothing to deal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

PERMUTATIONS = 999
NO_CHANCE_DRAWS = Reason.NO_CHANCE_DRAWS()
BLOCK_CELLS = 500_000
EXACT_IN_SINGLE = 2**24
# Two tables that differ in nothing but the order of summing are as informative as each other.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Information:
    """`bits` is I, `corrected` that by Miller and Madow; `by_chance` its mean over deals, `excess` what I has beyond
    that, `share` the excess in parts of the entropy of the event; `p` by permutation.
    """

    bits: Figure
    corrected: Figure
    by_chance: Figure
    excess: Figure
    share: Figure
    p: Figure


@dataclass(frozen=True)
class Chance:
    """What an attribute comes to when its values are dealt anew: the mean of I, and the p-value of what it has."""

    mean: float
    p: float


def mutual_information(counts: ArrayLike, chance: Chance | None = None, *, why: str = NO_CHANCE_DRAWS) -> Information:
    """From counts (values, 2) by whether the event happened; n is the number of pairs.

    Without `chance` the figures beyond it are undefined, for the reason `why`.
    """
    table = np.asarray(counts, dtype=np.float64).reshape(-1, 2)
    table = table[table.sum(axis=1) > 0]
    n = int(table.sum())
    refused = _refused(table, n)
    if refused is not None:
        return Information(*[refused] * 6)
    value = float(information_values(table[None])[0])
    cells = int(np.count_nonzero(table))
    corrected = value - (cells - len(table) - 1) / (2 * n * log(2))
    rate = float(table[:, 1].sum()) / n
    entropy = -(rate * log(rate, 2) + (1 - rate) * log(1 - rate, 2))
    bits = Estimate(max(value, 0.0), n)
    if chance is None:
        return Information(bits, Estimate(corrected, n), *[Undefined(why, n)] * 4)
    excess = value - chance.mean
    return Information(
        bits,
        Estimate(corrected, n),
        Estimate(max(chance.mean, 0.0), n),
        Estimate(excess, n),
        Estimate(excess / entropy, n),
        Estimate(chance.p, n),
    )


def _refused(table: NDArray[np.float64], n: int) -> Undefined | None:
    if not n:
        return Undefined(Reason.NO_PAIRS())
    if len(table) < 2:
        return Undefined(Reason.CONSTANT_ATTRIBUTE(), n)
    if not table[:, 1].any():
        return Undefined(Reason.RATERS_NEVER_DIFFER(), n)
    if not table[:, 0].any():
        return Undefined(Reason.RATERS_ALWAYS_DIFFER(), n)
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
                # Sorting random keys deals faster than dealing case by case.
                drawn = np.argsort(rng.random((rows, *members.shape)), axis=2)
                drawn += (np.arange(len(members)) * members.shape[1])[:, None]
                order[:, members.ravel()] = members.ravel()[drawn.reshape(rows, -1)]
            yield order

    def _groups(self) -> list[NDArray[np.int64]]:
        """The units of each case, (cases, size), the cases of one size together."""
        n = len(self.counts)
        if self.within is None:
            return [np.arange(n)[None, :]] if n else []
        order = np.argsort(self.within, kind="stable")
        _cases, start, size = np.unique(self.within[order], return_index=True, return_counts=True)
        return [
            order[start[size == length][:, None] + np.arange(length)[None, :]] for length in np.unique(size).tolist()
        ]


def by_chance(
    units: Units, attributes: list[NDArray[np.int64]], *, seed: int, permutations: int = PERMUTATIONS
) -> list[Chance]:
    """For each attribute (the number of its value on each unit) what it tells when its values are dealt anew.

    ValueError where the units have no pairs.
    """
    if not units.counts.sum():
        raise ValueError("there are no pairs to deal")
    if not attributes:
        return []
    # Whole numbers of that size are exact in single precision, which is twice as fast.
    kind = np.float32 if units.counts.sum() < EXACT_IN_SINGLE else np.float64
    counts = units.counts.astype(kind)
    sizes = [int(values.max(initial=0)) + 1 for values in attributes]
    # One column for each value of each attribute, marking the units that have it.
    hot = np.concatenate(
        [np.eye(size, dtype=kind)[values] for size, values in zip(sizes, attributes, strict=True)], axis=1
    )
    ends = np.cumsum([0, *sizes])
    parts = [slice(start, end) for start, end in pairwise(ends.tolist())]
    whole = (hot.T @ counts).astype(np.float64)
    observed = [information_values(whole[None, part])[0] for part in parts]
    as_large, sums = [0] * len(parts), [0.0] * len(parts)
    for order in units.dealt(seed, permutations):
        permuted_counts = np.stack([np.take(counts[:, d], order) @ hot for d in (0, 1)], axis=2).astype(np.float64)
        for i, part in enumerate(parts):
            dealt = information_values(permuted_counts[:, part])
            as_large[i] += int((dealt >= observed[i] - TOLERANCE).sum())
            sums[i] += float(dealt.sum())
    return [Chance(total / permutations, (1 + n) / (1 + permutations)) for total, n in zip(sums, as_large, strict=True)]
