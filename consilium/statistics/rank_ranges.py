"""The rank of each candidate with a 95% range of ranks, by paired comparisons or by a bootstrap over cases.

Rank 1 is the highest value. Tied candidates share the best rank that any of them could have (1, 2, 2, 4). Values that
differ by less than 1e-9 are tied: a sum in another order must not part them.

*Paired comparisons* (`paired_rank_ranges`). Candidate i is compared with each other one by the interval of their
difference on the same cases (`mover`, from the intervals of `jackknife`). By Holm's correction the first interval is
one at level 1 - 0.05/m with m the C - 1 others; those whose interval leaves out 0 are told apart from i; m becomes the
number of the others, and so on until nobody more is told apart:

    low  = 1 + number of candidates found above i        high = C - number of candidates found below i

The range holds the true rank unless a candidate is wrongly told apart, which Holm's correction keeps below 5% for each
i, however the comparisons depend on each other. It is a statement about one candidate at a time, so that i may be told
apart from j by its own comparisons and j not from i. A tie is in the range by itself, and so is the rank. With few
cases and candidates nearly level the range is most of the places: the data do not say more. Source: Holm 1979; Mogstad,
Romano, Shaikh and Wilhelm 2024 (ranges of ranks from paired comparisons). Coverage is simulated in
`bench/rank_coverage.py`.

Ranked are the candidates that have a value and at least 5 effective cases. Two candidates are compared only where the
cases behind both are at least 5 effective ones for each of them; otherwise neither is told apart from the other, so
that both ranges are left open by it, and the note counts such candidates.

*Bootstrap* (`rank_ranges`), which is too short where candidates are close. In each resample of cases every candidate is
scored anew on the same cases, so that ranks are joint; a candidate that is tied there could take any place of its tie,
so the best of them goes into the lower end and the worst into the upper end:

    low  = 2.5% quantile of (1 + number of candidates above it), taken downwards to a rank that occurred
    high = 97.5% quantile of (number of candidates at least as high, itself among them), taken upwards

(percentile intervals, Efron and Tibshirani 1993, chapter 13; the ranks of Goldstein and Spiegelhalter 1996.)

Ranked are the candidates that have a value and at least 10 cases. A candidate with fewer than 10 shared cases counts as
below in the lower end and as above in the upper end. Undefined: for a candidate without a value or with
fewer cases; where fewer than 2 candidates are left. A resample in which one of those ranked has no value is dropped;
where fewer than 95% remain there are ranks without ranges.

Ranks are whole places, so a range of one place (1 to 1) is not an interval without width: it says that the candidate
kept its place in 95% of the resamples. Where no value of any ranked candidate moved in any resample, the ranges rest
on nothing that was tried, and the note says so. There is no range that would miss the rank itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import MINIMUM_CASES, MINIMUM_KEPT
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.case_numbers import MINIMUM_EFFECTIVE_CASES, ROUNDING, in_reason
from consilium.statistics.estimate import Estimate, Figure, Undefined, nearly_equal, with_interval, with_note
from consilium.statistics.jackknife import LEVEL, Jackknife, jackknife, logit_ends
from consilium.statistics.mover import changes_alike, correlations, difference_ends

DECIMALS = 9
ENDS = (0.025, 0.975)
UNMOVED = Reason.RANKS_UNCHANGED()

# The sign of each difference whose interval at a level leaves out 0, 0 for the others: (candidates, candidates), the
# row less the column.
Comparison = Callable[[float], NDArray[np.int64]]
# The best and the worst place of each candidate.
Places = tuple[NDArray[np.int64], NDArray[np.int64]]


def places(values: ArrayLike) -> Places:
    """The best and the worst place that each candidate could take, 1 being the highest value.

    ``values`` has one row for each candidate, and any further axes; no NaN.
    """
    rounded = np.round(np.asarray(values, dtype=np.float64), DECIMALS)
    best, worst = (np.empty(rounded.shape, dtype=np.int64) for _ in range(2))
    for i, own in enumerate(rounded):
        best[i] = 1 + (rounded > own).sum(axis=0)
        worst[i] = (rounded >= own).sum(axis=0)
    return best, worst


def rank_ranges(
    values: Sequence[float | None],
    replicates: ArrayLike,
    n_cases: ArrayLike,
    shared_cases: NDArray[np.int64] | None = None,
) -> list[Figure]:
    """The rank of each candidate with its range; n is the number of candidates that are ranked.

    ``values`` holds a figure for each candidate, None where it is undefined; ``replicates`` (candidates, resamples) the
    same figure in joint resamples, NaN where it is undefined; ``n_cases`` (candidates,) how many cases stand behind it;
    ``shared_cases`` (candidates, candidates) how many stand behind both, all of them where it is not given.
    """
    drawn, cases = np.asarray(replicates, dtype=np.float64), np.asarray(n_cases, dtype=np.int64)
    if drawn.ndim != 2 or not len(values) == len(drawn) == len(cases):
        raise ValueError("values, replicates and numbers of cases must have one row for each candidate")
    ranked = [i for i, value in enumerate(values) if value is not None and cases[i] >= MINIMUM_CASES]
    ranges: list[Figure] = [
        _unranked(values[i], len(ranked), lacking=_lacks_cases(int(cases[i]))) for i in range(len(values))
    ]
    if len(ranked) < 2:
        return ranges
    points, _ = places(np.array([values[i] for i in ranked], dtype=np.float64))
    kept = drawn[ranked][:, ~np.isnan(drawn[ranked]).any(axis=0)]
    resamples = drawn.shape[1]
    enough = resamples > 0 and kept.shape[1] >= MINIMUM_KEPT * resamples
    dropped = resamples - kept.shape[1]
    if enough:
        shared = np.full((len(ranked), len(ranked)), MINIMUM_CASES)
        if shared_cases is not None:
            shared = np.asarray(shared_cases)[np.ix_(ranked, ranked)]
        best, worst = (np.sort(side, axis=1) for side in _open_places(kept, shared < MINIMUM_CASES))
        remarks = _not_compared(shared, MINIMUM_CASES)
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
        ranges[i] = with_note(ranged, joined(UNMOVED if fixed else "", remarks[place]))
    return ranges


def _open_places(values: NDArray[np.float64], is_open: NDArray[np.bool_]) -> Places:
    """`places`, where each candidate may be above or below those that it cannot be compared with."""
    best, worst = places(values)
    rounded = np.round(values, DECIMALS)
    for i, others in enumerate(is_open & ~np.eye(len(values), dtype=bool)):
        best[i] -= (rounded[others] > rounded[i]).sum(axis=0)
        worst[i] += (rounded[others] < rounded[i]).sum(axis=0)
    return best, worst


def _not_compared(shared: NDArray[np.int64] | NDArray[np.float64], needed: int) -> list[str]:
    """How many other candidates the range of each one is not narrowed by, and why; empty where there are none.

    ``shared`` (candidates, candidates) are the cases behind both.
    """
    others = ~np.eye(len(shared), dtype=bool)
    none = ((shared == 0) & others).sum(axis=1).tolist()
    few = ((shared > 0) & (shared < needed - ROUNDING) & others).sum(axis=1).tolist()
    return [
        joined(
            Reason.RANK_NO_SHARED_CASE.counted(n_none),
            Reason.RANK_FEW_SHARED_CASES(n=n_few, needed=needed) if n_few else "",
        )
        for n_none, n_few in zip(none, few, strict=True)
    ]


def _unranked(value: float | None, n_ranked: int, *, lacking: str) -> Undefined:
    if value is None:
        return Undefined(Reason.RANK_NO_FIGURE(), n_ranked)
    return Undefined(lacking or Reason.RANK_NO_OTHER_CANDIDATE(), n_ranked)


def _lacks_cases(cases: int) -> str:
    return Reason.RANK_CASES(cases=cases, needed=MINIMUM_CASES) if cases < MINIMUM_CASES else ""


def _lacks_effective_cases(effective: float) -> str:
    if effective >= MINIMUM_EFFECTIVE_CASES - ROUNDING:
        return ""
    return Reason.RANK_EFFECTIVE_CASES(cases=in_reason(effective), needed=MINIMUM_EFFECTIVE_CASES)


def paired_rank_ranges(candidates: CaseFigures) -> list[Figure]:
    """The rank of each candidate with its range by paired comparisons; n is the number of candidates that are ranked.

    A slice of ``candidates`` is a candidate, on the same cases as the others. Undefined: for a candidate without a
    value or with fewer than 5 effective cases; where fewer than 2 candidates are left. Candidates whose values are tied
    once they are clipped, as they are shown, are not told apart. Nor are those with fewer than 5 effective shared
    cases.
    """
    jack = jackknife(candidates)
    enough = jack.effective >= MINIMUM_EFFECTIVE_CASES - ROUNDING
    ranked = np.flatnonzero(~np.isnan(jack.values) & enough)
    shown = jack.values if candidates.clip is None else np.clip(jack.values, *candidates.clip)
    ranges: list[Figure] = [
        _unranked(None if np.isnan(value) else float(value), len(ranked), lacking=_lacks_effective_cases(float(cases)))
        for value, cases in zip(shown, jack.effective, strict=True)
    ]
    if len(ranked) < 2:
        return ranges
    points, last = places(shown[ranked])
    tied = (points[:, None] == points[None, :]) & (last[:, None] == last[None, :])
    chosen = candidates.of_slices(ranked)
    shared = _effective_shared(chosen.sizes)
    few = shared < MINIMUM_EFFECTIVE_CASES - ROUNDING
    low, high = holm_ranges(mover_comparison(jackknife(chosen)), len(ranked), tied | few)
    remarks = _not_compared(shared, MINIMUM_EFFECTIVE_CASES)
    for place, i in enumerate(ranked):
        ends = float(low[place]), float(high[place])
        ranges[i] = Estimate(float(points[place]), len(ranked), *ends, note=remarks[place])
    return ranges


def _effective_shared(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The effective cases behind both of each two candidates, by the sizes of the one that has fewer of them."""
    behind = (sizes > 0).astype(np.float64)
    sums, squares = sizes.T @ behind, (sizes**2).T @ behind
    own = np.divide(sums**2, squares, out=np.zeros(sums.shape), where=squares > 0)
    return np.minimum(own, own.T)


def mover_comparison(jack: Jackknife) -> Comparison:
    """Paired differences of all slices of a jackknife, each with the interval of `mover`; 0 where it gives none."""
    first, second = np.triu_indices(len(jack.values), 1)
    deviations = jack.deviations()
    without, others = deviations[:, first], deviations[:, second]
    r = correlations(without, others)
    alike = changes_alike(without, others, (jack.high - jack.low)[first])

    def signs(level: float) -> NDArray[np.int64]:
        ends = logit_ends(jack, level)
        triple = np.stack([jack.values, ends.low, ends.high])
        low, high = difference_ends(tuple(triple[:, first]), tuple(triple[:, second]), r)
        return _antisymmetric(np.select([alike, low > 0, high < 0], [0, 1, -1], 0), len(jack.values))

    return signs


def _antisymmetric(upper: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The matrix with these entries above its diagonal, row by row, and their negatives below it."""
    matrix = np.zeros((size, size), dtype=np.int64)
    matrix[np.triu_indices(size, 1)] = upper
    return matrix - matrix.T


def holm_ranges(
    compare: Comparison, size: int, tied: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ends of the range of ranks of each of ``size`` candidates, by Holm's correction for each of them.

    ``tied`` (candidates, candidates) marks those that are never told apart.
    """
    apart = np.zeros((size, size), dtype=np.int64)
    left = np.full(size, size - 1)
    known: dict[int, NDArray[np.int64]] = {}
    moving = left > 0
    while moving.any():
        for m in np.unique(left[moving]).tolist():
            if m not in known:
                signs = compare(1 - (1 - LEVEL) / m)
                known[m] = signs if tied is None else np.where(tied, 0, signs)
            rows = moving & (left == m)
            apart[rows] = np.where(apart[rows] != 0, apart[rows], known[m][rows])
        still = size - 1 - (apart != 0).sum(axis=1)
        moving = (still < left) & (still > 0)
        left = still
    return 1 + (apart < 0).sum(axis=1), size - (apart > 0).sum(axis=1)
