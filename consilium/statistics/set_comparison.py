"""Two sets of criteria on the same units: gold points that a set covers, or pairs that it wins.

The difference of the two shares, with its interval over cases (`paired_difference`), and McNemar's test (`mcnemar`)
with b, the units that the first set alone covers or wins, and c, those that the second alone does: clustered over
cases first, then with Edwards' correction, exact and mid-p, which take units for independent.

Undefined: no unit; whatever `mcnemar` says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.case_figures import CaseFigures, sums_by_case_and_slice
from consilium.statistics.estimate import Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.mcnemar import Words, clustered_mcnemar, edwards_mcnemar, mcnemar_p
from consilium.statistics.paired_difference import differences


@dataclass(frozen=True)
class SetComparison:
    """Two sets in one slice. ``n`` counts units; ``only_first`` and ``only_second`` are b and c."""

    n: int
    only_first: int
    only_second: int
    difference: Figure
    chi_square_clustered: Figure
    p_clustered: Figure
    chi_square_edwards: Figure
    p_edwards: Figure
    p_exact: Figure
    p_mid: Figure


def compare_sets(
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    *,
    shares: tuple[CaseFigures, CaseFigures],
    case: ArrayLike,
    n_cases: int,
    member: NDArray[np.bool_],
    rule: IntervalRule,
    words: Words,
) -> list[SetComparison]:
    """Both sets in each slice: ``first`` and ``second`` say of each unit whether the set covers or wins it.

    ``shares`` are those whose difference is given, ``member`` (units, slices) says which unit is in which slice, and
    ``words`` why there is no test.
    """
    due = sums_by_case_and_slice(np.ones(len(first)), case, n_cases, member)
    b, c = (
        sums_by_case_and_slice(only, case, n_cases, member).astype(np.int64)
        for only in (first & ~second, second & ~first)
    )
    n = due.sum(axis=0).astype(int).tolist()
    apart = differences(*shares, n=n, rule=rule, empty=words.no_pairs)
    return [
        _comparison(b[:, i], c[:, i], n=n[i], n_cases=int((due[:, i] > 0).sum()), difference=apart[i], words=words)
        for i in range(member.shape[1])
    ]


def _comparison(
    b: NDArray[np.int64], c: NDArray[np.int64], *, n: int, n_cases: int, difference: Figure, words: Words
) -> SetComparison:
    only_first, only_second = int(b.sum()), int(c.sum())
    if not n:
        return SetComparison(0, 0, 0, difference, *[Undefined(words.no_pairs)] * 6)
    return SetComparison(
        n,
        only_first,
        only_second,
        difference,
        *clustered_mcnemar(b, c, n_cases=n_cases, words=words),
        *edwards_mcnemar(only_first, only_second, words=words),
        mcnemar_p(only_first, only_second, words=words),
        mcnemar_p(only_first, only_second, "mid-p", words=words),
    )
