"""The effect of the worst and the best judge's errors on CACS@k, Rubric Accuracy and the ranks of candidates.

A judge's sensitivity and specificity are measured against the group on the positive criteria of the other candidates'
responses, as its scores would count: an invalid or missing verdict counts as not met, so it is a miss on a criterion
that is met, and correct on one that is not. Worst and best are by MF1 on the same pairs, where such a verdict counts as
the opposite of the reference, as everywhere. Candidates that a judge learned from are left out of its measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.calibration.hits import Hits
from agreement.calibration.inputs import CalibrationInputs, JudgePairs
from agreement.counting.pairs import (
    LAST_COUNTED,
    Pairs,
    PairStatus,
    conservative_counts,
    n_counted,
    n_invalid,
    n_missing,
    tally,
)
from agreement.judged.training_overlap import learned_candidates
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import joined, labelled, parts_of
from consilium.core.reasons import Reason
from consilium.statistics.cacs_error import (
    ErrorRates,
    Propagated,
    UnderError,
    propagate,
    sensitivity_figures,
    sensitivity_values,
    specificity_figures,
    specificity_values,
)
from consilium.statistics.case_figures import case_table
from consilium.statistics.case_numbers import CASES_FOR_A_CLAIM, in_reason
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.macro_f1 import MACRO_F1, macro_f1_figures

RATES = ("mf1", "sensitivity", "specificity")
JUDGES_COLUMNS = (
    *("judge", "run", "role", "n_pairs", "n_cases"),
    *(f"{name}{end}" for name in (*RATES, "spearman") for end in ("", "_low", "_high")),
    *("n_invalid", "n_missing", "n_undecided", "n_responses", "mf1_effective", "note"),
)
ERROR_COLUMNS = (
    *("judge", "run", "role", "candidate", "measure", "k", "by_physicians", "by_judge", "by_judge_low"),
    *("by_judge_high", "bias", "n", "note"),
)
ORDER_COLUMNS = ("judge", "run", "role", "candidate", "next_candidate", "difference", "turned", "tied", "note")
TEXT = ("judge", "run", "role", "candidate", "next_candidate", "measure", "note")
WORST, BEST, ONLY = "worst", "best", "only"

Row = dict[str, Any]


@dataclass(frozen=True)
class ErrorTables:
    """Rows of `judges.csv`, `judge_error.csv` and `judge_order.csv`; ``reason`` is why the last two are empty."""

    judges: list[Row]
    error: list[Row]
    order: list[Row]
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Measured:
    """A judge with its figures against the group: MF1, sensitivity and specificity."""

    judge: JudgePairs
    figures: dict[str, Figure]
    tallied: NDArray[np.int64]  # (cases, N_PAIR_STATUSES)
    n_responses: int  # with a counted pair
    notes: list[str]

    @property
    def rates(self) -> ErrorRates | None:
        """Its rates, where both are known."""
        sensitivity, specificity = self.figures["sensitivity"].value, self.figures["specificity"].value
        return None if sensitivity is None or specificity is None else ErrorRates(sensitivity, specificity)


def judge_error(
    inputs: CalibrationInputs,
    others: Mapping[str, Hits],
    k: int,
    *,
    rule: IntervalRule,
    seed: int = 0,
    progress: Progress = no_progress,
) -> ErrorTables:
    """Measure every judge, and propagate the errors of the worst and the best to the scores of ``others``.

    ``seed`` is that of the draws by which errors are propagated.
    """
    measured = [_measured(inputs, judge, rule=rule) for judge in inputs.judges]
    progress(0.4)
    roles = _roles(measured)
    responses = [(name, own.hits, own.n_criteria) for name, own in others.items()]
    propagated_by_role: dict[str, Propagated] = {}
    for done, (role, measurement) in enumerate(roles.items(), start=1):
        if responses and measurement.rates:
            propagated_by_role[role] = propagate(responses, measurement.rates, k, seed=seed)
        progress(0.4 + 0.6 * done / len(roles))
    return ErrorTables(
        judges=[_judge_row(measurement, roles, propagated_by_role) for measurement in measured],
        error=[
            row
            for role, propagated in propagated_by_role.items()
            for row in _error_rows(roles[role].judge, role, k, propagated)
        ],
        order=[
            row
            for role, propagated in propagated_by_role.items()
            for row in _order_rows(roles[role].judge, role, propagated)
        ],
        reason=_why_not(measured, roles, others),
    )


def _measured(inputs: CalibrationInputs, judge: JudgePairs, *, rule: IntervalRule) -> Measured:
    learned = learned_candidates(inputs.benchmark, [run.public_id for run in judge.rater.runs])
    pairs, left_out = _not_learned_from(inputs, judge.pairs, learned)
    notes = list(parts_of(Reason.PAIRS_LEARNED.counted(left_out)))
    case = inputs.case_of(pairs.response)
    present, place = np.unique(case, return_inverse=True)
    tallied = tally(pairs, place, len(present))
    conservative, scored = (counts(tallied[:, None]) for counts in (conservative_counts, _scored_counts))
    figures: dict[str, Figure] = {}
    # Only cases in which the reference gave the answer in the rate's denominator stand behind a rate.
    for name, make, counts, of_cases in (
        ("mf1", macro_f1_figures, conservative, MACRO_F1.of_cases(conservative)),
        (
            "sensitivity",
            sensitivity_figures,
            scored,
            case_table(sensitivity_values, scored, sizes=scored.tp + scored.fn),
        ),
        (
            "specificity",
            specificity_figures,
            scored,
            case_table(specificity_values, scored, sizes=scored.tn + scored.fp),
        ),
    ):
        figures[name] = rule.intervals(of_cases).attach(make(counts.pooled(axis=0)))[0]
    n_responses = len(np.unique(pairs.response[pairs.status <= LAST_COUNTED]))
    return Measured(judge, figures, tallied, n_responses, notes)


def _not_learned_from(inputs: CalibrationInputs, pairs: Pairs, learned: list[str]) -> tuple[Pairs, int]:
    """The pairs of candidates that the judge did not learn from, and how many others there are."""
    if not learned:
        return pairs, 0
    frame = inputs.frame
    places = [place for place, name in enumerate(frame.candidates) if name in set(learned)]
    kept = ~np.isin(frame.response_candidate[frame.response_places(pairs.response)], places)
    return pairs.chosen(kept), int((~kept).sum())


def _scored_counts(tallies: NDArray[np.int64]) -> ConfusionCounts:
    """Tables in which an invalid or missing verdict counts as not met, as in scores, for any reference outcome."""
    return ConfusionCounts(
        tp=tallies[..., PairStatus.TP],
        fp=tallies[..., PairStatus.FP],
        fn=tallies[..., [PairStatus.FN, PairStatus.INVALID_ON_MET, PairStatus.MISSING_ON_MET]].sum(axis=-1),
        tn=tallies[..., [PairStatus.TN, PairStatus.INVALID_ON_NOT_MET, PairStatus.MISSING_ON_NOT_MET]].sum(axis=-1),
    )


def _roles(measured: list[Measured]) -> dict[str, Measured]:
    """The worst and the best judge by MF1, ties by name, of those whose rates are known; a single judge is neither."""
    known = [measurement for measurement in measured if measurement.rates]
    ordered = sorted(
        known,
        key=lambda measurement: (
            round(measurement.figures["mf1"].value or 0.0, 9),
            measurement.judge.name,
            measurement.judge.run,
        ),
    )
    if len(ordered) == 1:
        return {ONLY: ordered[0]}
    return {WORST: ordered[0], BEST: ordered[-1]} if ordered else {}


def _why_not(measured: list[Measured], roles: dict[str, Measured], others: Mapping[str, Hits]) -> str:
    if not measured:
        return Reason.NO_FINISHED_RUN()
    if not roles:
        return Reason.NO_JUDGE_WITH_BOTH_OUTCOMES()
    return "" if others else Reason.NO_OTHER_CANDIDATE()


def _judge_row(measurement: Measured, roles: dict[str, Measured], propagated_by_role: dict[str, Propagated]) -> Row:
    role = next((name for name, chosen in roles.items() if chosen is measurement), "")
    shown = {
        **measurement.figures,
        **({"spearman": propagated_by_role[role].spearman} if role in propagated_by_role else {}),
    }
    total = measurement.tallied.sum(axis=0)
    row: Row = {
        "judge": measurement.judge.name,
        "run": measurement.judge.run,
        "role": role,
        "n_pairs": int(n_counted(total)),
        "n_cases": int((n_counted(measurement.tallied) > 0).sum()),
    }
    for name in (*RATES, "spearman"):
        figure = shown.get(name, Undefined(Reason.ONLY_WORST_AND_BEST_JUDGE()))
        row[name], row[f"{name}_low"], row[f"{name}_high"] = figure.value, figure.low, figure.high
    row["n_invalid"], row["n_missing"] = int(n_invalid(total)), int(n_missing(total))
    row["n_undecided"] = int(total[PairStatus.UNDECIDED_BY_JUDGE])
    row["n_responses"], row["mf1_effective"] = measurement.n_responses, measurement.figures["mf1"].effective
    own_notes = [labelled(name, figure.note) for name, figure in shown.items() if figure.note]
    row["note"] = joined(*own_notes, *_remarks_on_role(role, measurement, roles), *measurement.notes)
    return row


def _remarks_on_role(role: str, measurement: Measured, roles: dict[str, Measured]) -> list[str]:
    """What a reader must know of a judge that is called the worst or the best: few cases, or no clear distance."""
    remarks: list[str] = []
    effective = measurement.figures["mf1"].effective
    if role and effective is not None and effective < CASES_FOR_A_CLAIM:
        remarks.append(Reason.JUDGE_ON_FEW_CASES(cases=in_reason(effective), needed=CASES_FOR_A_CLAIM))
    if role in (WORST, BEST):
        high, low = roles[WORST].figures["mf1"].high, roles[BEST].figures["mf1"].low
        if high is not None and low is not None and high >= low:
            remarks.append(Reason.JUDGES_NOT_APART())
    return remarks


def _error_rows(judge: JudgePairs, role: str, k: int, propagated: Propagated) -> list[Row]:
    return [
        {
            "judge": judge.name,
            "run": judge.run,
            "role": role,
            "candidate": candidate,
            "measure": measure,
            "k": at,
            **_under(under),
        }
        for measure, at, scores in (("cacs_at_k", k, propagated.cacs), ("rubric_accuracy", None, propagated.accuracy))
        for candidate, under in scores.items()
    ]


def _under(error: UnderError) -> Row:
    return {
        "by_physicians": error.true.value,
        "by_judge": error.judged.value,
        "by_judge_low": error.judged.low,
        "by_judge_high": error.judged.high,
        "bias": error.bias.value,
        "n": error.true.n,
        "note": error.true.note,
    }


def _order_rows(judge: JudgePairs, role: str, propagated: Propagated) -> list[Row]:
    return [
        {
            "judge": judge.name,
            "run": judge.run,
            "role": role,
            "candidate": pair.upper,
            "next_candidate": pair.lower,
            "difference": pair.difference,
            "turned": pair.turned.value,
            "tied": pair.tied.value,
            "note": "" if isinstance(pair.turned, Estimate) else labelled("turned, tied", pair.turned.note),
        }
        for pair in propagated.neighbours
    ]
