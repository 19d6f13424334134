"""The rank of each candidate with a 95% range of ranks, by a bootstrap over cases.

Rank 1 is the highest value. Tied candidates share the best rank that any of them could have (1, 2, 2, 4). In each
resample of cases every candidate is scored anew on the same cases, so that ranks are joint; a candidate that is tied
there could take any place of its tie, so the best of them goes into the lower end and the worst into the upper end:

    low  = 2.5% quantile of (1 + number of candidates above it), taken downwards to a rank that occurred
    high = 97.5% quantile of (number of candidates at least as high, itself among them), taken upwards

(percentile intervals, Efron and Tibshirani 1993, chapter 13; the ranks of Goldstein and Spiegelhalter 1996.) Values
that differ by less than 1e-9 are tied: a sum in another order must not part them.

Ranked are the candidates that have a value and at least 10 cases. Undefined: for a candidate without a value or with
fewer cases; where fewer than 2 candidates are left. A resample in which one of those ranked has no value is dropped;
where fewer than 95% remain there are ranks without ranges.

Ranks are whole places, so a range of one place (1 to 1) is not an interval without width: it says that the candidate
kept its place in 95% of the resamples. Where no value of any ranked candidate moved in any resample, the ranges rest
on nothing that was tried, and the note says so. There is no range that would miss the rank itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import MINIMUM_CASES, MINIMUM_KEPT
from consilium.statistics.estimate import Estimate, Figure, Undefined, nearly_equal, with_interval, with_note

DECIMALS = 9
ENDS = (0.025, 0.975)
UNMOVED = Reason.RANKS_UNCHANGED()


def places(values: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best and the worst place that each candidate could take, 1 being the highest value.

    ``values`` has one row for each candidate, and any further axes; no NaN.
    """
    rounded = np.round(np.asarray(values, dtype=np.float64), DECIMALS)
    best, worst = (np.empty(rounded.shape, dtype=np.int64) for _ in range(2))
    for i, own in enumerate(rounded):
        best[i] = 1 + (rounded > own).sum(axis=0)
        worst[i] = (rounded >= own).sum(axis=0)
    return best, worst


def rank_ranges(values: Sequence[float | None], replicates: ArrayLike, n_cases: ArrayLike) -> list[Figure]:
    """The rank of each candidate with its range; n is the number of candidates that are ranked.

    ``values`` holds a figure for each candidate, None where it is undefined; ``replicates`` (candidates, resamples) the
    same figure in joint resamples, NaN where it is undefined; ``n_cases`` (candidates,) how many cases stand behind it.
    """
    drawn, cases = np.asarray(replicates, dtype=np.float64), np.asarray(n_cases, dtype=np.int64)
    if drawn.ndim != 2 or not len(values) == len(drawn) == len(cases):
        raise ValueError("values, replicates and numbers of cases must have one row for each candidate")
    ranked = [i for i, value in enumerate(values) if value is not None and cases[i] >= MINIMUM_CASES]
    ranges: list[Figure] = [_unranked(values[i], int(cases[i]), len(ranked)) for i in range(len(values))]
    if len(ranked) < 2:
        return ranges
    points, _ = places(np.array([values[i] for i in ranked], dtype=np.float64))
    kept = drawn[ranked][:, ~np.isnan(drawn[ranked]).any(axis=0)]
    resamples = drawn.shape[1]
    enough = resamples > 0 and kept.shape[1] >= MINIMUM_KEPT * resamples
    dropped = resamples - kept.shape[1]
    if enough:
        best, worst = (np.sort(side, axis=1) for side in places(kept))
        last = kept.shape[1] - 1
        first, final = floor(ENDS[0] * last), ceil(ENDS[1] * last)
        fixed = bool(nearly_equal(kept.min(axis=1), kept.max(axis=1)).all())
    for place, i in enumerate(ranked):
        rank = float(points[place])
        if not enough:
            reason = Reason.INTERVAL_RESAMPLES(some=dropped, all=resamples)
            ranges[i] = Estimate(rank, len(ranked), note=reason)
            continue
        note = Reason.RESAMPLES_LEFT_OUT(n=dropped) if dropped else ""
        ranged = with_interval(
            Estimate(rank, len(ranked), note=note), float(best[place, first]), float(worst[place, final])
        )
        ranges[i] = with_note(ranged, UNMOVED if fixed else "")
    return ranges


def _unranked(value: float | None, cases: int, n_ranked: int) -> Undefined:
    if value is None:
        return Undefined(Reason.RANK_NO_FIGURE(), n_ranked)
    if cases < MINIMUM_CASES:
        return Undefined(Reason.RANK_CASES(cases=cases, needed=MINIMUM_CASES), n_ranked)
    return Undefined(Reason.RANK_NO_OTHER_CANDIDATE(), n_ranked)
