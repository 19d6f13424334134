"""Two judges against one reference, on the same pairs: the MF1 of each, their difference, and McNemar's test.

All figures rest on the pairs that the reference answered and that both judges were to decide. An invalid or missing
verdict counts against its judge, as the opposite of the reference (`agreement.counting.pairs`); so a judge is right,
wrong, invalid or missing on a pair. All figures follow from this status of both judges and the answer of the reference.
Any two raters may take the place of the judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from agreement.counting.frame import Frame, read_frame
from agreement.counting.inputs import digest_of
from agreement.counting.pairs import LAST_COUNTED, Pairs, PairStatus, pair, positions
from agreement.counting.slicing import Sliced, sliced
from annotation.selectors.ratings import faulty_pairs
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress, no_progress
from consilium.core.ratings import Ratings
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, each_note_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.macro_f1 import MACRO_F1, macro_f1_figures
from consilium.statistics.mcnemar import Method, mcnemar, mcnemar_p
from consilium.statistics.outcomes import Outcome
from consilium.statistics.paired_difference import mf1_differences
from rubrics.models import Benchmark
from scoring.scores.sheet import due_pairs
from scoring.selectors.raters import Rater, resolve_rater

_WITH_INTERVAL = ("mf1_a", "mf1_b", "difference")
COLUMNS = (
    *("slice", "n_pairs", "n_responses", "n_cases"),
    *(f"{name}{end}" for name in _WITH_INTERVAL for end in ("", "_low", "_high")),
    *("both_right", "only_a_right", "only_b_right", "both_wrong", "p_exact", "p_mid"),
    *("chi_square_clustered", "p_clustered", "mf1_a_valid", "mf1_b_valid", "difference_valid", "n_valid"),
    *("n_invalid_a", "n_missing_a", "n_invalid_b", "n_missing_b", "note"),
    *(f"{name}_effective" for name in _WITH_INTERVAL),
)
DISAGREEMENT_COLUMNS = ("reference", "judge_a", "judge_b", "n")
TEXT_COLUMNS = ("slice", "reference", "judge_a", "judge_b", "note")
# The status of a judge on a pair, in the order of its code; and the codes of a pair: reference, judge A, judge B.
RIGHT, WRONG, INVALID, MISSING = range(4)
CODES = 2 * 4 * 4

Row = dict[str, Any]


class NothingShared(DomainError):
    """The reference and the two judges share no pair."""


@dataclass(frozen=True, eq=False)
class Contest:
    """Reference and two judges, joined: on the same pairs in the same order each judge against the reference, and the
    judges with each other (``between``: A, then B).

    ``n_one_only`` counts pairs that count for one judge and that the other was not to decide; ``n_left_out`` those that
    both were to decide, but that one of them or the reference left open.
    """

    reference: Rater
    judges: tuple[Rater, Rater]
    first: Pairs
    second: Pairs
    between: Pairs
    frame: Frame
    n_one_only: int
    n_left_out: int
    digest: str


def read_contest(benchmark: Benchmark, *, reference: str, judge_a: str, judge_b: str) -> Contest:
    """Read and join the three; `NothingShared` where no pair has all of them."""
    raters = [resolve_rater(benchmark, name) for name in (reference, judge_a, judge_b)]
    ratings = [rater.ratings() for rater in raters]
    due, faulty = [due_pairs(rater) for rater in raters[1:]], faulty_pairs(benchmark)
    is_judge = [rater.undecided_by != "group" for rater in raters]
    joined = [
        pair(ratings[0], ratings[i], due_of_b=due[i - 1], faulty=faulty, judges=(is_judge[0], is_judge[i]))
        for i in (1, 2)
    ]
    counted = [_keys(pairs.chosen(pairs.status <= LAST_COUNTED)) for pairs in joined]
    shared = np.intersect1d(counted[0], counted[1], assume_unique=True)
    in_both = np.intersect1d(_keys(joined[0]), _keys(joined[1]), assume_unique=True)
    if not len(shared):
        raise NothingShared(
            _("No pair was decided by %(reference)s and also assigned to both %(a)s and %(b)s.")
            % {"reference": raters[0].label, "a": raters[1].label, "b": raters[2].label}
        )
    first, second = (pairs.chosen(positions(shared, _keys(pairs))[1]) for pairs in joined)
    frame = read_frame(benchmark)
    described = frame.described(frame.response_places(first.response), frame.criterion_places(first.criterion))
    return Contest(
        reference=raters[0],
        judges=(raters[1], raters[2]),
        first=first,
        second=second,
        between=_between(first, second, (is_judge[1], is_judge[2])),
        frame=frame,
        n_one_only=sum(len(np.setdiff1d(keys, in_both, assume_unique=True)) for keys in counted),
        n_left_out=len(in_both) - len(shared),
        digest=digest_of(*ratings, *due, faulty, names=(*(rater.label for rater in raters), described)),
    )


def _keys(pairs: Pairs) -> NDArray[np.int64]:
    return (pairs.response << 31) | pairs.criterion


def _between(first: Pairs, second: Pairs, judges: tuple[bool, bool]) -> Pairs:
    """The verdicts of the two judges on the pairs; judge A takes the place of the reference."""
    a = Ratings(first.response, first.criterion, first.b)
    return pair(a, Ratings(second.response, second.criterion, second.b), judges=judges)


def contest(joined: Contest, *, rule: IntervalRule, progress: Progress = no_progress) -> tuple[list[Row], list[Row]]:
    """Rows (`COLUMNS`) for all, each candidate, difficulty, register and tag; and the combinations of the three
    outcomes, by how often (`DISAGREEMENT_COLUMNS`).
    """
    first, second = joined.first, joined.second
    code = ((first.a.astype(np.int64) * 4 + _state(first)) * 4 + _state(second)).astype(np.int8)
    counted = sliced(joined.frame, first.response, first.criterion, code, CODES)
    progress(0.3)
    # Axes: cases, slices, reference (not met, met), judge A, judge B.
    cells = counted.counts.reshape(*counted.counts.shape[:2], 2, 4, 4)
    rows = _rows(counted, cells, rule)
    progress(1.0)
    return rows, _disagreement(cells[:, 0].sum(axis=0))


def _state(pairs: Pairs) -> NDArray[np.int64]:
    states = np.empty(LAST_COUNTED + 1, dtype=np.int64)
    states[[PairStatus.TP, PairStatus.TN]] = RIGHT
    states[[PairStatus.FP, PairStatus.FN]] = WRONG
    states[[PairStatus.INVALID_ON_MET, PairStatus.INVALID_ON_NOT_MET]] = INVALID
    states[[PairStatus.MISSING_ON_MET, PairStatus.MISSING_ON_NOT_MET]] = MISSING
    return np.asarray(states[pairs.status])


def _confusion(right: NDArray[np.int64], wrong: NDArray[np.int64]) -> ConfusionCounts:
    """From counts of pairs, the last axis being the outcome of the reference (not met, met)."""
    return ConfusionCounts(tp=right[..., 1], fp=wrong[..., 0], fn=wrong[..., 1], tn=right[..., 0])


def _judged(cells: NDArray[np.int64]) -> tuple[ConfusionCounts, ConfusionCounts]:
    """Each judge against the reference, every status but right counted as wrong: shape (cases, slices)."""
    return (
        _confusion(cells[..., RIGHT, :].sum(axis=-1), cells[..., WRONG:, :].sum(axis=(-2, -1))),
        _confusion(cells[..., :, RIGHT].sum(axis=-1), cells[..., :, WRONG:].sum(axis=(-2, -1))),
    )


def _rows(counted: Sliced, cells: NDArray[np.int64], rule: IntervalRule) -> list[Row]:
    a, b = _judged(cells)
    valid = cells[..., : WRONG + 1, : WRONG + 1]
    valid_a, valid_b = (counts.pooled(axis=0) for counts in _judged(valid))
    columns: dict[str, list[Figure]] = {
        name: rule.intervals(MACRO_F1.of_cases(counts)).attach(macro_f1_figures(counts.pooled(axis=0)))
        for name, counts in (("mf1_a", a), ("mf1_b", b))
    }
    columns["difference"] = mf1_differences(a, b, rule=rule)
    columns["mf1_a_valid"], columns["mf1_b_valid"] = macro_f1_figures(valid_a), macro_f1_figures(valid_b)
    either = cells.sum(axis=2)  # for any outcome of the reference: cases, slices, judge A, judge B
    only_a, only_b = either[..., RIGHT, WRONG:].sum(axis=-1), either[..., WRONG:, RIGHT].sum(axis=-1)
    pooled = either.sum(axis=0)
    n_cases = counted.n_cases.tolist()
    rows = []
    for i, name in enumerate(counted.names):
        tested = mcnemar(only_a[:, i], only_b[:, i], n_cases=n_cases[i])
        p_mid = mcnemar_p(tested.only_first, tested.only_second, Method.MID_P)
        figures: dict[str, Figure] = {column: columns[column][i] for column in columns}
        figures |= {"p_exact": tested.p, "p_mid": p_mid}
        figures |= {"chi_square_clustered": tested.chi_square_clustered, "p_clustered": tested.p_clustered}
        n_pairs, n_valid = int(pooled[i].sum()), int(valid_a.n[i])
        row: Row = {"slice": name, "n_pairs": n_pairs, "n_responses": counted.n_responses[i], "n_cases": n_cases[i]}
        row |= {column: figure.value for column, figure in figures.items()}
        for column in _WITH_INTERVAL:
            row[f"{column}_low"], row[f"{column}_high"] = figures[column].low, figures[column].high
            row[f"{column}_effective"] = figures[column].effective
        row["both_right"] = int(pooled[i, RIGHT, RIGHT])
        row["only_a_right"], row["only_b_right"] = tested.only_first, tested.only_second
        row["both_wrong"] = n_pairs - row["both_right"] - tested.only_first - tested.only_second
        mf1s = row["mf1_a_valid"], row["mf1_b_valid"]
        row["difference_valid"] = None if None in mf1s else mf1s[0] - mf1s[1]
        row["n_valid"] = n_valid
        row["n_invalid_a"], row["n_missing_a"] = int(pooled[i, INVALID].sum()), int(pooled[i, MISSING].sum())
        row["n_invalid_b"], row["n_missing_b"] = int(pooled[i, :, INVALID].sum()), int(pooled[i, :, MISSING].sum())
        # The note of a figure over the valid pairs is that of the figure over all pairs.
        row["note"] = each_note_of(
            {name: figure for name, figure in figures.items() if not (name.endswith("_valid") and n_valid)}
        )
        rows.append(row)
    return rows


def _disagreement(cells: NDArray[np.int64]) -> list[Row]:
    """How often each combination of outcomes occurred, in words; combinations that never occurred are left out."""
    rows = []
    for reference, a, b in np.argwhere(cells).tolist():
        rows.append(
            {
                "reference": _word(reference, RIGHT),
                "judge_a": _word(reference, a),
                "judge_b": _word(reference, b),
                "n": int(cells[reference, a, b]),
            }
        )
    return rows


def _word(reference: int, state: int) -> str:
    if state == INVALID:
        return Outcome.INVALID.word
    if state == MISSING:
        return Outcome.MISSING.word
    return (Outcome.MET if (reference == Outcome.MET) is (state == RIGHT) else Outcome.NOT_MET).word
