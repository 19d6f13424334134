"""Two instruments on one response: decisions on criteria about emergency care, beside the level that is read in it.

What a cluster of the consensus bank asks of a response can be seen in a reading of it, too (`ASPECTS`). A pair is a
decision on such a criterion and the reading of the same response, by the judge or by physicians. Kappa is over pairs
with a decision that is met or not met; its interval is over cases. The definitions are in docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

import numpy as np

from consilium.core.out_folder import OutTable
from consilium.statistics.cohen_kappa import COHEN_KAPPA
from consilium.statistics.confusion import confusion_counts
from consilium.statistics.estimate import notes_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.outcomes import Outcome
from consilium.statistics.raw_agreement import RAW_AGREEMENT

READERS = ("judge", "physicians")


class Aspect(StrEnum):
    """What a reading must be so that it agrees with a criterion that is met."""

    EMERGENCY = "emergency"  # the highest level is advised
    ESCALATION = "escalation"  # the highest level is advised under a condition
    RESTRAINT = "not-emergency"  # a lower level is advised


# By the key of the cluster in the consensus bank: plain referral, referral under a condition, restraint.
ASPECTS = {
    "emergency_referrals_emergent_emergency_behavior": Aspect.EMERGENCY,
    "emergency_referrals_conditionally-emergent_emergency_behavior": Aspect.ESCALATION,
    "emergency_referrals_non-emergent_emergency_behavior": Aspect.RESTRAINT,
}
INSTRUMENT_COLUMNS = (
    *("cluster", "aspect", "rater", "read_by", "n_pairs", "n_cases"),
    *("met_read", "met_not_read", "not_met_read", "not_met_not_read", "n_contradictions", "n_left_out"),
    *("raw", "kappa", "kappa_low", "kappa_high", "note"),
)
CONTRADICTION_COLUMNS = (
    *("cluster", "aspect", "rater", "read_by", "case", "candidate", "sample", "response", "criterion"),
    *("outcome", "levels", "escalations"),
)


@dataclass(frozen=True, slots=True)
class Advice:
    """The level that is read in a response, and the one under a condition, by place; None for none."""

    level: int | None
    escalation: int | None

    def has(self, aspect: Aspect, top: int) -> bool | None:
        """Whether it shows the aspect; None where it cannot say: no level is neither restraint nor the lack of it."""
        if aspect is Aspect.ESCALATION:
            return self.escalation == top
        if aspect is Aspect.EMERGENCY:
            return self.level == top
        return None if self.level is None else self.level < top


@dataclass(frozen=True, slots=True)
class DecidedResponse:
    """A decision on a criterion about emergency care, and what each of `READERS` read in the same response.

    ``outcome`` is the decision as it was made; a criterion with ``negative`` points is a fault, and counts turned. A
    reader may have none or several readings.
    """

    cluster: str
    rater: str
    case: str
    candidate: str
    sample: int
    response: str  # public id
    criterion: str
    outcome: str
    negative: bool
    readings: Mapping[str, tuple[Advice, ...]]


def shown_by(readings: Sequence[Advice], aspect: Aspect, top: int) -> bool | None:
    """What most readings show, of as many on both sides the more urgent; None where no reading can say."""
    seen = [has for has in (reading.has(aspect, top) for reading in readings) if has is not None]
    if not seen:
        return None
    twice = 2 * sum(seen)
    return aspect is not Aspect.RESTRAINT if twice == len(seen) else twice > len(seen)


def contradicts(aspect: Aspect, met: bool, read: bool) -> bool:
    """Whether a decision and a reading exclude each other.

    Restraint may be missed without an emergency: by advice of urgent care where none is needed.
    """
    return met and not read if aspect is Aspect.RESTRAINT else met != read


@dataclass(frozen=True, slots=True)
class _Pair:
    row: DecidedResponse
    met: bool  # of a fault: not met
    read: bool


def _pairs(rows: Sequence[DecidedResponse], reader: str, aspect: Aspect, top: int) -> tuple[list[_Pair], int]:
    """The pairs that count, and how many of a decision and a reading do not."""
    pairs, left_out = [], 0
    for row in rows:
        if not row.readings[reader]:
            continue
        read = shown_by(row.readings[reader], aspect, top)
        if read is None or row.outcome not in (Outcome.MET.word, Outcome.NOT_MET.word):
            left_out += 1
        else:
            pairs.append(_Pair(row, (row.outcome == Outcome.MET.word) != row.negative, read))
    return pairs, left_out


def _groups(rows: Sequence[DecidedResponse], top: int) -> Iterator[tuple[str, Aspect, str, str, list[_Pair], int]]:
    """By cluster, rater and reader, in the order of the rows; those with neither a pair nor one left out are not
    there.
    """
    for (cluster, rater), group in groupby(rows, key=lambda row: (row.cluster, row.rater)):
        own = list(group)
        for reader in READERS:
            pairs, left_out = _pairs(own, reader, ASPECTS[cluster], top)
            if pairs or left_out:
                yield cluster, ASPECTS[cluster], rater, reader, pairs, left_out


def instrument_rows(rows: Sequence[DecidedResponse], n_levels: int, rule: IntervalRule) -> Iterator[tuple[object, ...]]:
    """Rows of ``instruments.csv``: a table of 2 × 2 with its agreement."""
    for cluster, aspect, rater, reader, pairs, left_out in _groups(rows, n_levels - 1):
        cases = {case: place for place, case in enumerate(sorted({pair.row.case for pair in pairs}))}
        counts = confusion_counts(
            [pair.met for pair in pairs],
            [pair.read for pair in pairs],
            case=[cases[pair.row.case] for pair in pairs],
            n_cases=len(cases),
        )
        whole = counts.pooled(axis=0)
        raw, kappa = RAW_AGREEMENT.figures(whole)[0], COHEN_KAPPA.figures(whole)[0]
        if pairs:
            [kappa] = rule.intervals(COHEN_KAPPA.of_cases(counts)).attach([kappa])
        cells = (int(np.sum(cell)) for cell in (whole.tp, whole.fn, whole.fp, whole.tn))
        yield (
            *(cluster, aspect.value, rater, reader, len(pairs), len(cases)),
            *cells,
            *(sum(contradicts(aspect, pair.met, pair.read) for pair in pairs), left_out),
            *(raw.value, kappa.value, kappa.low, kappa.high),
            notes_of({"raw": raw, "kappa": kappa}),
        )


def contradiction_rows(rows: Sequence[DecidedResponse], values: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """Rows of ``contradictions.csv``: decisions and readings of one response that exclude each other."""
    for cluster, aspect, rater, reader, pairs, _left_out in _groups(rows, len(values) - 1):
        for pair in pairs:
            row = pair.row
            if contradicts(aspect, pair.met, pair.read):
                readings = row.readings[reader]
                yield (
                    *(cluster, aspect.value, rater, reader),
                    *(row.case, row.candidate, row.sample, row.response, row.criterion, row.outcome),
                    _joined([reading.level for reading in readings], values),
                    _joined([reading.escalation for reading in readings], values),
                )


def _joined(places: Sequence[int | None], values: Sequence[str]) -> str:
    return " | ".join("none" if place is None else values[place] for place in places)


def instrument_tables(
    rows: Sequence[DecidedResponse], values: Sequence[str], *, rule: IntervalRule
) -> Iterator[OutTable]:
    """Both tables; ``values`` name the levels of the scale."""
    tables = {
        "instruments": (INSTRUMENT_COLUMNS, instrument_rows(rows, len(values), rule), ("cluster", "rater", "note")),
        "contradictions": (
            CONTRADICTION_COLUMNS,
            contradiction_rows(rows, values),
            ("cluster", "rater", "case", "candidate", "criterion"),
        ),
    }
    for name, (columns, own, text) in tables.items():
        yield OutTable(name, columns, [dict(zip(columns, row, strict=True)) for row in own], text)
