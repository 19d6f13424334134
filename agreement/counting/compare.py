"""Compares two raters: all agreement figures for every slice, from counts. These are the rows of ``agreement.csv``.

The pairs are counted once by response and once by criterion; every slice is a sum of those counts,
so that nothing loops over pairs again. A benchmark of hundreds of thousands of responses has a row for each, which is
made only when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.counting.frame import Frame
from agreement.counting.pairs import (
    LAST_COUNTED,
    N_PAIR_STATUSES,
    Pairs,
    PairStatus,
    conservative_counts,
    n_counted,
    n_invalid,
    n_missing,
    valid_counts,
)
from agreement.counting.windows import Counts, Tallies
from agreement.reports.tables import ComputedRows, Row
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, notes_of
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.macro_f1 import MACRO_F1
from consilium.statistics.two_raters import COEFFICIENTS, WITH_INTERVAL, TwoRaterAgreement, two_rater_agreement

COLUMNS = (
    *("slice", "n_pairs", "n_responses", "n_cases"),
    # The contract of agreement.csv has room for the interval of MF1 only.
    *("mf1", "mf1_low", "mf1_high", *(coefficient.key for coefficient in COEFFICIENTS if coefficient is not MACRO_F1)),
    *("n_invalid", "n_cannot", "note"),
)
TEXT_COLUMNS = ("slice", "note")
NO_PAIRS = Reason.NO_PAIR_ANSWERED_BY_BOTH()


@dataclass(frozen=True)
class Comparison:
    """Rows by column name: `COLUMNS`; the ends of the intervals of all of `WITH_INTERVAL` (``raw_low`` …); the pairs
    left out as ``n_undecided`` (by physicians), ``n_undecided_by_judge`` and ``n_faulty``; ``n_missing``, those of
    ``n_invalid`` without a verdict; ``n_valid`` and ``mf1_valid``, pairs with a valid verdict and their MF1.

    ``head`` has the rows of the whole, then of the candidates; ``others`` those of difficulties, registers and tags.
    """

    head: list[Row]
    responses: ResponseRows
    others: list[Row]

    @property
    def overall(self) -> Row:
        return self.head[0]

    @property
    def rows(self) -> Sequence[Row]:
        """All rows in the order of the file; those of responses are made when they are read."""
        return _Chained(self.head, self.responses, self.others)


class _Chained(ComputedRows[Row]):
    """Sequences one after another, none of them copied."""

    def __init__(self, *parts: Sequence[Row]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def row_at(self, place: int) -> Row:
        for part in self._parts:
            if place < len(part):
                return part[place]
            place -= len(part)
        raise IndexError(place)


@dataclass(frozen=True, eq=False)
class _Counted:
    """A slice with its tally as a whole, (statuses,), and the number of responses behind it."""

    name: str
    total: NDArray[np.int64]
    n_responses: int


def compare(
    frame: Frame,
    pairs: Pairs,
    *,
    rule: IntervalRule = DEFAULT_RULE,
    progress: Progress = no_progress,
    judged_by: str = "judge",
) -> Comparison:
    """Compare two raters on ``pairs``: `compare_tallies` of all of them."""
    tallies = Tallies(frame)
    tallies.add(pairs)
    return compare_tallies(tallies, rule=rule, progress=progress, judged_by=judged_by)


def compare_tallies(
    tallies: Tallies,
    *,
    rule: IntervalRule = DEFAULT_RULE,
    progress: Progress = no_progress,
    judged_by: str = "judge",
) -> Comparison:
    """Compare two raters; rows in the order all, candidates, responses, difficulties, registers, tags.

    ``progress`` is called with the share that is done; ``judged_by``, named in remarks, is the kind of rater (judge or
    jury) that left pairs `PairStatus.UNDECIDED_BY_JUDGE`.
    """
    slices, cells, n_own = _slices(tallies)
    progress(0.4)
    agreements = two_rater_agreement(
        _cells(cells, 0, 1, 2, 3),
        counted=_cells(cells, 0, 4, 5, 3),
        rule=rule,
        intervals_for=WITH_INTERVAL,
    )
    progress(0.8)
    rows = [
        _row(part.name, figure, part.n_responses, part.total, judged_by)
        for part, figure in zip(slices, agreements, strict=True)
    ]
    responses = ResponseRows(tallies, judged_by, rule)
    progress(1.0)
    return Comparison(rows[:n_own], responses, rows[n_own:])


def _cells(cells: Counts, *columns: int) -> ConfusionCounts:
    return ConfusionCounts(*(cells[..., column] for column in columns))


def _slices(tallies: Tallies) -> tuple[list[_Counted], Counts, int]:
    """The slices with a pair, except responses; their tables; and how many of them are the whole and the candidates.

    The tables, (studied cases, slices, 6), are the four cells of valid pairs, then fp and fn by the conservative rule.
    """
    frame, by_response = tallies.frame, tallies.by_response
    by_case = _summed(by_response, frame.response_case, len(frame.cases))
    # Cases without a counted pair are no part of the study.
    studied = np.flatnonzero(n_counted(by_case))
    counted_slices: list[_Counted] = []
    cells: list[Counts] = []
    counted_responses = np.asarray(by_response[:, : LAST_COUNTED + 1].any(axis=1))

    def add(name: str, tally: NDArray[np.int64], n_responses: int) -> None:
        chosen = tally[studied]
        valid, conservative = valid_counts(chosen), conservative_counts(chosen)
        columns = (valid.tp, valid.fp, valid.fn, valid.tn, conservative.fp, conservative.fn)
        cells.append(np.stack(columns, axis=-1).astype(np.int32))
        counted_slices.append(_Counted(name, tally.sum(axis=0), n_responses))

    add("all", by_case, int(counted_responses.sum()))
    for place in sorted(range(len(frame.candidates)), key=frame.candidates.__getitem__):
        own = frame.response_candidate == place
        mine = by_response[own]
        if mine.any():
            tally = _summed(mine, frame.response_case[own], len(frame.cases))
            add(f"candidate:{frame.candidates[place]}", tally, int(counted_responses[own].sum()))
    n_own = len(counted_slices)
    responses_by_case = np.bincount(frame.response_case[counted_responses], minlength=len(frame.cases))
    for part in frame.slices:
        # A slice of whole cases needs no counts by criterion.
        if part.criteria is None:
            tally = by_case * part.cases[:, None]
            n_responses = int(responses_by_case[part.cases].sum())
        else:
            rows = np.flatnonzero(part.criteria)
            tally = _summed(tallies.by_criterion[rows], frame.criterion_case[rows], len(frame.cases))
            n_responses = tallies.responses_behind[part.name]
        if tally.any():
            add(part.name, tally, n_responses)
    return counted_slices, np.stack(cells, axis=1), n_own


def _summed(tallies: NDArray[Any], index: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Rows of tallies added up into ``size`` groups."""
    summed = np.zeros((size, N_PAIR_STATUSES), np.int64)
    for status in np.flatnonzero(tallies.any(axis=0)).tolist():
        sums = np.bincount(index, weights=tallies[:, status], minlength=size)
        summed[:, status] = np.rint(sums)
    return summed


class ResponseRows(ComputedRows[Row]):
    """One row for each response with a pair, by name. A response belongs to one case, so there is no interval.

    Responses with the same tally have the same figures, and those are computed once.
    """

    def __init__(self, tallies: Tallies, judged_by: str, rule: IntervalRule) -> None:
        self._frame = frame = tallies.frame
        self._remarks: dict[int, str] = {}
        places = np.flatnonzero(tallies.by_response.any(axis=1))
        names = [frame.response_name(place) for place in places.tolist()]
        order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        self._places = places[order]
        first, same = _alike(tallies.by_response[self._places])
        self._like = same
        mine = tallies.by_response[self._places[first]].astype(np.int64)
        agreements = two_rater_agreement(valid_counts(mine)[None, :], counted=conservative_counts(mine)[None, :])
        self._rows = []
        why = _why_of_one_case(rule)
        for figures, total in zip(agreements, mine, strict=True):
            note = labelled("mf1", why) if figures.n_pairs else ""
            self._rows.append(_row("", figures, int(figures.n_pairs > 0), total, judged_by, note))

    def remark(self, candidates: Iterable[str], text: str) -> None:
        """Add a remark to the rows of all responses of some candidates."""
        self._remarks |= {self._frame.candidates.index(name): text for name in candidates}

    def __len__(self) -> int:
        return len(self._places)

    def row_at(self, place: int) -> Row:
        where = int(self._places[place])
        row = {**self._rows[self._like[place]], "slice": f"response:{self._frame.response_name(where)}"}
        setting = self._frame.response_setting(where)
        remark = self._remarks.get(int(self._frame.response_candidate[where]), "")
        if setting or remark:
            row["note"] = joined(row["note"], Reason.SETTING(setting=setting) if setting else "", remark)
        return row

    def column(self, name: str) -> list[Any]:
        """One column of all rows, without making them."""
        values = [row[name] for row in self._rows]
        return [values[like] for like in self._like.tolist()]


def _why_of_one_case(rule: IntervalRule) -> str:
    """Why a figure of a single case has no interval."""
    one_pair = ConfusionCounts(*(np.array([[count]]) for count in (1, 0, 0, 0)))
    return rule.intervals(MACRO_F1.of_cases(one_pair)).reason(0)


def _alike(rows: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each distinct tally, and for each row the number of its tally."""
    kind = np.zeros(len(rows), np.int64)
    for column in rows.T:
        if column.any():
            _, kind = np.unique(kind * (int(column.max()) + 1) + column, return_inverse=True)
    _, first, same = np.unique(kind, return_index=True, return_inverse=True)
    return first, same


def _row(
    name: str,
    agreement: TwoRaterAgreement,
    n_responses: int,
    total: NDArray[np.int64],
    judged_by: str,
    note: str = "",
) -> Row:
    figures: dict[str, Figure] = {coefficient.key: getattr(agreement, coefficient.key) for coefficient in COEFFICIENTS}
    row: Row = {
        "slice": name,
        "n_pairs": agreement.n_pairs,
        "n_responses": n_responses,
        "n_cases": agreement.n_cases,
        **{column: figure.value for column, figure in figures.items()},
        "n_invalid": int(n_invalid(total)),
        "n_cannot": int(total[PairStatus.CANNOT]),
        "n_undecided": int(total[PairStatus.UNDECIDED]),
        "n_undecided_by_judge": int(total[PairStatus.UNDECIDED_BY_JUDGE]),
        "n_missing": int(n_missing(total)),
        "n_faulty": int(total[PairStatus.FAULTY]),
        "n_valid": agreement.n_valid,
        "mf1_valid": agreement.mf1_valid.value,
    }
    for column in WITH_INTERVAL:
        row[f"{column}_low"], row[f"{column}_high"] = figures[column].low, figures[column].high
        row[f"{column}_effective"] = figures[column].effective
    own_notes = notes_of(figures) if agreement.n_pairs else NO_PAIRS
    row["note"] = joined(own_notes, _left_out(agreement, total, judged_by), note)
    return row


# By the kind of rater that left pairs undecided.
_DIVIDED = {
    "judge": Reason.PAIRS_JUDGE_DIVIDED,
    "jury": Reason.PAIRS_JURY_DIVIDED,
    "judge or jury": Reason.PAIRS_JUDGE_OR_JURY_DIVIDED,
}


def _left_out(agreement: TwoRaterAgreement, total: NDArray[np.int64], judged_by: str) -> str:
    """Counts of pairs that the counting rules left out, and MF1 without the rule for invalid verdicts."""
    missing = int(n_missing(total))
    notes = []
    if missing:
        counts = {"n": int(n_invalid(total)) - missing, "missing": missing}
        notes.append(labelled("n_invalid", Reason.INVALID_AND_MISSING(**counts)))
    if agreement.n_invalid:
        mf1 = agreement.mf1_valid.value
        notes.append(Reason.MF1_VALID(n=agreement.n_valid, value="undefined" if mf1 is None else f"{mf1:.6f}"))
    for status, reason in (
        (PairStatus.REFERENCE_INVALID, Reason.PAIRS_REFERENCE_INVALID),
        (PairStatus.UNDECIDED, Reason.PAIRS_UNDECIDED),
        (PairStatus.UNDECIDED_BY_JUDGE, _DIVIDED[judged_by]),
        (PairStatus.FAULTY, Reason.PAIRS_FAULTY),
    ):
        notes.append(reason.counted(int(total[status])))
    return joined(*notes)
