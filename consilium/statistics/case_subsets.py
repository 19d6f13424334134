"""Selects subsets of a benchmark's cases from scores, after HealthBench Hard.

From the rubric score of each chosen candidate on each case (of several samples the mean; unclipped, so it may be
negative), over the cases on which all of them have a score:

``hardest``    cases on which no chosen candidate has a score above 0 are dropped, since nothing tells there whether
               the case or the rubric is at fault; of the others the n with the lowest mean over the candidates
               (the rule of HealthBench Hard, Arora et al. 2025).
``met_by_some``  cases on which at least one chosen candidate has a score above 0; where n are wanted, those on which
               most candidates have one, then those with the highest mean.

Ties are settled by the key of the case in ascending order, so the order of rows changes nothing. Where fewer than n
cases are left, all of them are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Means are compared to this many places: a sum in another order must not settle a tie.
DECIMALS = 12


@dataclass(frozen=True, eq=False)
class Subset:
    """Places of the chosen cases in ascending order of their keys, and how many fell to each rule."""

    chosen: NDArray[np.int64]
    n_unscored: int  # some chosen candidate has no score there
    n_without_positive: int  # no chosen candidate is above 0


def hardest(scores: ArrayLike, keys: Sequence[str], n: int) -> Subset:
    """The n cases with the lowest mean; ``scores`` is (cases, candidates), NaN where there is none."""
    table, left, subset = _eligible(scores, keys)
    if n < 1:
        raise ValueError("a subset has at least one case")
    means = np.round(table.mean(axis=1), DECIMALS)
    return _cut(subset, sorted(left.tolist(), key=lambda i: (means[i], keys[i]))[:n], keys)


def met_by_some(scores: ArrayLike, keys: Sequence[str], n: int | None = None) -> Subset:
    """The cases on which some candidate is above 0; of these n, where a number is given."""
    table, left, subset = _eligible(scores, keys)
    if n is not None and n < 1:
        raise ValueError("a subset has at least one case")
    means, above = np.round(table.mean(axis=1), DECIMALS), (table > 0).sum(axis=1)
    return _cut(subset, sorted(left.tolist(), key=lambda i: (-above[i], -means[i], keys[i]))[:n], keys)


def _eligible(scores: ArrayLike, keys: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64], tuple[int, int]]:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(keys) or len(set(keys)) != len(keys):
        raise ValueError("scores must have one row for each case, and each case a key of its own")
    if not table.shape[1]:
        raise ValueError("a subset needs at least one candidate")
    scored = ~np.isnan(table).any(axis=1)
    positive = scored & (table > 0).any(axis=1)
    return table, np.flatnonzero(positive), (int((~scored).sum()), int((scored & ~positive).sum()))


def _cut(left_out: tuple[int, int], chosen: list[int], keys: Sequence[str]) -> Subset:
    return Subset(np.array(sorted(chosen, key=lambda i: keys[i]), dtype=np.int64), *left_out)
