"""Two raters' ratings joined into pairs, each with its status: which cell of the table it fills, or why none.

Counting rules, by precedence (explained in docs/statistics.md, *What counts*):

1. a pair whose criterion an adjudicator found at fault is left out;
2. so is a pair that either rater left undecided: a tie within a group, which an adjudicator may settle, or, counted
   separately, a judge's or jury's disagreement with itself, which nobody can settle;
3. *cannot assess* by either rater drops the pair, and is counted;
4. a pair whose reference is itself invalid is left out, and counted among the invalid;
5. a verdict of rater B that is invalid or missing stands as the opposite of the reference (conservative) for MF1 and
   the F1 of its classes, and is left out of all other figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.core.ratings import Ratings
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.outcomes import Outcome


class PairStatus(IntEnum):
    """The status of a pair. The first four are the cells of the table, rater A being the reference."""

    TP = 0
    FP = 1
    FN = 2
    TN = 3
    INVALID_ON_MET = 4
    INVALID_ON_NOT_MET = 5
    MISSING_ON_MET = 6
    MISSING_ON_NOT_MET = 7
    REFERENCE_INVALID = 8
    CANNOT = 9
    UNDECIDED = 10
    UNDECIDED_BY_JUDGE = 11
    FAULTY = 12


N_PAIR_STATUSES = len(PairStatus)
LAST_COUNTED = PairStatus.MISSING_ON_NOT_MET  # MF1 counts the statuses up to this one


def _status_of(a: int, b: int, *, a_is_judge: bool = False, b_is_judge: bool = False) -> PairStatus:
    if Outcome.FAULTY in (a, b):
        return PairStatus.FAULTY
    if (a_is_judge and a == Outcome.UNDECIDED) or (b_is_judge and b == Outcome.UNDECIDED):
        return PairStatus.UNDECIDED_BY_JUDGE
    if Outcome.UNDECIDED in (a, b):
        return PairStatus.UNDECIDED
    if Outcome.CANNOT_ASSESS in (a, b):
        return PairStatus.CANNOT
    if a > Outcome.MET:
        return PairStatus.REFERENCE_INVALID
    if b == Outcome.MISSING:
        return PairStatus.MISSING_ON_MET if a == Outcome.MET else PairStatus.MISSING_ON_NOT_MET
    if b > Outcome.MET:
        return PairStatus.INVALID_ON_MET if a == Outcome.MET else PairStatus.INVALID_ON_NOT_MET
    if a == Outcome.MET:
        return PairStatus.TP if b == Outcome.MET else PairStatus.FN
    return PairStatus.FP if b == Outcome.MET else PairStatus.TN


_CODES = len(Outcome)
# Indexed by which of the two is a judge or a jury, then by the outcome of each.
_TABLES = {
    (first, second): np.array(
        [[_status_of(a, b, a_is_judge=first, b_is_judge=second) for b in range(_CODES)] for a in range(_CODES)],
        dtype=np.int8,
    )
    for first in (False, True)
    for second in (False, True)
}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Parallel arrays, sorted by response, then criterion: the outcome of each rater (``MISSING`` for B where a verdict
    was due) and the `PairStatus` of the pair.
    """

    response: NDArray[np.int64]
    criterion: NDArray[np.int64]
    a: NDArray[np.int8]
    b: NDArray[np.int8]
    status: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.response)

    def chosen(self, rows: NDArray[Any]) -> Pairs:
        """The pairs at ``rows`` (positions or a mask)."""
        return Pairs(self.response[rows], self.criterion[rows], self.a[rows], self.b[rows], self.status[rows])


def chained(parts: Sequence[Pairs]) -> Pairs:
    """The parts joined in order; later parts hold later responses."""
    if len(parts) == 1:
        return parts[0]
    columns = ("response", "criterion", "a", "b", "status")
    return Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def positions(keys: NDArray[np.int64], values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The position of each of ``values`` in the sorted ``keys``, and whether it occurs there."""
    if len(keys) == len(values) and np.array_equal(keys, values):
        return np.arange(len(keys)), np.ones(len(keys), dtype=bool)
    if not len(keys):
        return np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=bool)
    places = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return places, keys[places] == values


def pair(
    a: Ratings,
    b: Ratings,
    *,
    due_of_b: Ratings | None = None,
    faulty: Ratings | None = None,
    judges: tuple[bool, bool] = (False, False),
) -> Pairs:
    """Join two raters on the (response, criterion) pairs that both rated.

    ``due_of_b`` holds pairs that rater B was to decide: those that only A rated are included as MISSING. ``faulty``
    holds pairs whose criterion was found at fault. ``judges`` says which of the two is a judge or a jury.
    """
    keys = a.keys()
    where, shared = positions(b.keys(), keys)
    outcomes_b = np.full(len(keys), Outcome.MISSING, dtype=np.int8)
    if len(b):
        outcomes_b[shared] = b.outcome[where[shared]]
    kept = shared
    if due_of_b is not None and len(due_of_b) and not shared.all():
        kept = shared | positions(due_of_b.keys(), keys)[1]
    outcomes_a = a.outcome.copy()
    if faulty is not None and len(faulty):
        outcomes_a[positions(faulty.keys(), keys)[1]] = Outcome.FAULTY
    outcomes_a, outcomes_b = outcomes_a[kept], outcomes_b[kept]
    return Pairs(a.response[kept], a.criterion[kept], outcomes_a, outcomes_b, _TABLES[judges][outcomes_a, outcomes_b])


def tally(pairs: Pairs, index: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """How many pairs of each status: shape (size, statuses); ``index`` puts each pair in one of ``size`` rows."""
    flat = np.bincount(index * N_PAIR_STATUSES + pairs.status, minlength=size * N_PAIR_STATUSES)
    return flat.reshape(size, N_PAIR_STATUSES)


def valid_counts(tallies: NDArray[np.int64]) -> ConfusionCounts:
    """Tables of valid pairs from tallies of shape (..., statuses)."""
    return ConfusionCounts(
        tp=tallies[..., PairStatus.TP],
        fp=tallies[..., PairStatus.FP],
        fn=tallies[..., PairStatus.FN],
        tn=tallies[..., PairStatus.TN],
    )


def conservative_counts(tallies: NDArray[np.int64]) -> ConfusionCounts:
    """The same tables, with invalid and missing verdicts counted as the opposite of the reference."""
    return ConfusionCounts(
        tp=tallies[..., PairStatus.TP],
        fp=tallies[..., [PairStatus.FP, PairStatus.INVALID_ON_NOT_MET, PairStatus.MISSING_ON_NOT_MET]].sum(axis=-1),
        fn=tallies[..., [PairStatus.FN, PairStatus.INVALID_ON_MET, PairStatus.MISSING_ON_MET]].sum(axis=-1),
        tn=tallies[..., PairStatus.TN],
    )


def n_counted(tallies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs that stand behind MF1."""
    return np.asarray(tallies[..., : LAST_COUNTED + 1].sum(axis=-1))


def n_invalid(tallies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs whose verdict, on either side, was invalid or missing."""
    return np.asarray(tallies[..., PairStatus.INVALID_ON_MET : PairStatus.REFERENCE_INVALID + 1].sum(axis=-1))


def n_missing(tallies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of `n_invalid` whose verdict was due and never came."""
    return np.asarray(tallies[..., [PairStatus.MISSING_ON_MET, PairStatus.MISSING_ON_NOT_MET]].sum(axis=-1))
