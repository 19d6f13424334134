"""The table of physicians: their first decisions against the other rater, their peers, and everybody else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agreement.counting.pairs import Pairs, PairStatus, positions
from agreement.items.inputs import Items, Votes
from agreement.reports.tables import Row, Table
from consilium.core.order import natural
from consilium.core.reasons import Reason
from consilium.statistics.confusion import ConfusionCounts, confusion_counts
from consilium.statistics.estimate import Estimate, Figure, Undefined, notes_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.item_rest import rater_rest
from consilium.statistics.outcomes import Outcome
from consilium.statistics.two_raters import TwoRaterAgreement, two_rater_agreement

WITH_INTERVAL = ("raw_other", "mf1_other", "raw_peers", "mf1_peers")
COLUMNS = (
    *("physician", "group", "n_decisions", "n_responses", "n_cases", "met", "cannot", "noted", "borderline"),
    *("n_other", *(f"{name}{end}" for name in WITH_INTERVAL[:2] for end in ("", "_low", "_high"))),
    *("n_peers", *(f"{name}{end}" for name in WITH_INTERVAL[2:] for end in ("", "_low", "_high"))),
    *("rater_rest", "n_rater_rest", "note"),
    *(f"{name}_effective" for name in WITH_INTERVAL),
)
TEXT = ("physician", "group", "note")
NO_PEERS = Reason.NO_PEER_DECISION()
NOTHING_SHARED = Reason.NO_SHARED_DECISION()

Ints = NDArray[np.int64]


def physicians_table(items: Items, *, rule: IntervalRule) -> Table:
    """A row for each physician of the groups among the raters; empty where none of the raters is a group."""
    votes, frame = items.votes, items.joined.frame
    ids, physician = np.unique(votes.physician, return_inverse=True)
    case = frame.response_case[frame.response_places(votes.response)]
    studied, at_case = np.unique(case, return_inverse=True)
    size = (len(studied), len(ids))
    answered = votes.outcome <= Outcome.MET
    other, shared = _of_other_rater(items)
    with_other = two_rater_agreement(
        confusion_counts(
            other[shared], votes.outcome[shared], case=at_case[shared], n_cases=size[0],
            slice_of=physician[shared], n_slices=size[1],
        ),
        rule=rule,
        intervals_for=("raw", "mf1"),
    )  # fmt: skip
    keys, pair = np.unique((votes.response << 31) | votes.criterion, return_inverse=True)
    with_peers = two_rater_agreement(
        peer_tables(votes.chosen(answered), pair[answered], at_case[answered] * size[1] + physician[answered], size),
        rule=rule,
        intervals_for=("raw", "mf1"),
    )
    rest = rater_rest(
        pair[answered], physician[answered], votes.outcome[answered], n_pairs=len(keys), n_raters=len(ids)
    )
    rows: list[Row] = []
    for i, pk in enumerate(ids.tolist()):
        own = votes.chosen(physician == i)
        met, n_answered = int((own.outcome == Outcome.MET).sum()), int((own.outcome <= Outcome.MET).sum())
        compared = {
            **_figures(with_other[i], "other", NOTHING_SHARED),
            **_figures(with_peers[i], "peers", NO_PEERS),
        }
        figures: dict[str, Figure] = {
            "met": Estimate(met / n_answered, n_answered) if n_answered else Undefined(Reason.NO_PAIRS()),
            "rater_rest": rest[i],
            **compared,
        }
        row: Row = {
            "physician": items.pseudonyms[pk],
            "group": items.groups[int(own.group[0])],
            "n_decisions": len(own),
            "n_responses": len(np.unique(own.response)),
            "n_cases": len(np.unique(case[physician == i])),
            **{name: figure.value for name, figure in figures.items()},
            "cannot": float((own.outcome == Outcome.CANNOT_ASSESS).mean()),
            "noted": float(own.noted.mean()),
            "borderline": float(own.borderline.mean()),
            "n_other": with_other[i].n_pairs,
            "n_peers": with_peers[i].n_pairs,
            "n_rater_rest": rest[i].n,
            "note": notes_of(figures),
        }
        for name, figure in compared.items():
            row[f"{name}_low"], row[f"{name}_high"] = figure.low, figure.high
            row[f"{name}_effective"] = figure.effective
        rows.append(row)
    rows.sort(key=lambda row: (row["group"], natural(row["physician"])))
    return Table.of(COLUMNS, rows, TEXT)


def _figures(agreement: TwoRaterAgreement, of: str, why: str) -> dict[str, Figure]:
    return {
        f"{name}_{of}": figure if agreement.n_pairs else Undefined(why)
        for name, figure in (("raw", agreement.raw), ("mf1", agreement.mf1))
    }


def _of_other_rater(items: Items) -> tuple[Ints, NDArray[np.bool_]]:
    """The outcome of the rater other than the physician for each vote's pair, and where both answered."""
    votes, pairs = items.votes, items.joined.pairs
    places, is_present = positions(_keys(pairs), (votes.response << 31) | votes.criterion)
    if not len(pairs):
        return np.zeros(len(votes), dtype=np.int64), is_present
    in_a = np.isin(votes.group, [pk for pk, side in items.side_of.items() if side == "a"])
    other = np.where(in_a, pairs.b[places], pairs.a[places]).astype(np.int64)
    both = (other <= Outcome.MET) & (votes.outcome <= Outcome.MET)
    return other, is_present & both & (pairs.status[places] != PairStatus.FAULTY)


def _keys(pairs: Pairs) -> Ints:
    return (pairs.response << 31) | pairs.criterion


def peer_tables(votes: Votes, pair: Ints, cell: Ints, size: tuple[int, int]) -> ConfusionCounts:
    """Each answer against those of the rest of the group on the same pair: tables of shape (cases, physicians).

    ``pair`` numbers the pairs, ``cell`` the cell of the result that each vote falls into. A pair that two peers
    answered counts twice, once against each.
    """
    outcomes = votes.outcome.astype(np.float64)
    groups, group = np.unique(votes.group, return_inverse=True)
    own = pair * len(groups) + group
    met, not_met = (
        np.bincount(own, weights=outcomes)[own] - outcomes,
        np.bincount(own, weights=1 - outcomes)[own] - (1 - outcomes),
    )

    def summed(weights: NDArray[np.float64]) -> Ints:
        sums = np.bincount(cell, weights=weights, minlength=size[0] * size[1])
        return np.rint(sums).astype(np.int64).reshape(size)

    return ConfusionCounts(
        tp=summed(met * outcomes),
        fp=summed(not_met * outcomes),
        fn=summed(met * (1 - outcomes)),
        tn=summed(not_met * (1 - outcomes)),
    )
