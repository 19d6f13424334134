"""Plans how many responses physicians should grade, and the detectable differences, from decisions so far.

The pilot is the existing decisions. They give the variance of the physicians' scores between cases, and the variance
that remains after the judge's prediction (`agreement.powered.powered_scores`). The plan grades, for each candidate, as
many responses per case and criteria per response as the pilot did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agreement.counting.inputs import join
from agreement.counting.pairs import LAST_COUNTED, Pairs, PairStatus, positions
from agreement.judged.coverage import coverage_remarks
from agreement.powered.powered_scores import Inputs, powered_figures, read_inputs
from agreement.reports.tables import Row
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_joint, case_table
from consilium.statistics.case_numbers import MINIMUM_PILOT_CASES, ROUNDING, in_reason
from consilium.statistics.confusion import confusion_counts
from consilium.statistics.detectable_difference import detectable_from_standard_error, detectable_mean_difference
from consilium.statistics.estimate import Figure, Undefined
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.label_budget import Pilot, cases_needed, half_widths, least_cases
from consilium.statistics.macro_f1 import macro_f1_values
from consilium.statistics.prediction_powered import NO_LABEL, CaseSums, Powered
from rubrics.models import Benchmark
from scoring.selectors.raters import resolve_rater

BUDGET_COLUMNS = (
    *("candidate", "measure", "k", "half_width", "half_width_now", "half_width_now_alone", "lambda"),
    *("n_labelled_cases", "n_cases"),
    *("cases", "responses", "decisions", "cases_alone", "responses_alone", "decisions_alone", "note"),
)
BUDGET_TEXT = ("candidate", "measure", "note")
CURVE_COLUMNS = ("candidate", "measure", "n_cases", "half_width", "half_width_alone")
CURVE_TEXT = ("candidate", "measure")
DETECTABLE_COLUMNS = (
    *("first", "second", "measure", "difference", "spread", "n_pilot", "n_planned", "detectable", "note"),
)
DETECTABLE_TEXT = ("first", "second", "measure", "note")
ALL = "all candidates"
STEPS = 24


@dataclass(frozen=True)
class Question:
    """What is planned: ``half_width`` in the units of ``measure``; ``other`` is a second judge, to compare MF1 with."""

    judge: str
    reference: str
    measure: str
    k: int
    half_width: float
    n_planned: int
    other: str = ""


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows of budget.csv, curve.csv and detectable.csv; the digest is that of everything behind them."""

    question: Question
    judge: str
    reference: str
    budget: list[Row]
    curve: list[Row]
    detectable: list[Row]
    digest: str
    notes: list[str] = field(default_factory=list)


def plan(benchmark: Benchmark, question: Question) -> Plan:
    """Compute the plan; `UnknownRater` or `NoRatings` where a rater does not exist or has no ratings."""
    inputs = read_inputs(benchmark, judge=question.judge, reference=question.reference, k=question.k, overall_only=True)
    figures = powered_figures(inputs, 0, question.measure)
    budget = [_budget_row(inputs, figures[candidate], candidate, question) for candidate in inputs.order]
    detectable = list(_differences(inputs, question))
    if question.other:
        detectable += _of_judges(benchmark, question)
    notes = coverage_remarks(inputs.judge, inputs.reference)
    if question.other:
        notes = list(dict.fromkeys([*notes, *coverage_remarks(resolve_rater(benchmark, question.other))]))
    if inputs.learned:
        names = ", ".join(inputs.learned)
        notes = [Reason.PLAN_LEARNED_CANDIDATES(names=names), *notes]
    return Plan(
        question=question,
        judge=inputs.judge.label,
        reference=inputs.reference.label,
        budget=[*budget, _total(budget)] if len(budget) > 1 else budget,
        curve=[row for candidate in inputs.order for row in _curve(inputs, figures[candidate], candidate, question)],
        detectable=detectable,
        digest=inputs.digest,
        notes=notes,
    )


def _pilot(inputs: Inputs, estimate: Powered, candidate: int, *, with_judge: bool) -> Pilot | Undefined:
    if not estimate.n_labelled:
        return Undefined(NO_LABEL)
    if with_judge and inputs.candidates[candidate] in inputs.learned:
        return Undefined(Reason.PLAN_LEARNED_CANDIDATE(), estimate.n_labelled_cases)
    effective = estimate.physicians.effective or 0.0
    if estimate.label_variance is None or estimate.residual_variance is None:
        cases = in_reason(effective)
        return Undefined(Reason.PLAN_LABELLED_CASES(n=cases, needed=MINIMUM_PILOT_CASES), estimate.n_labelled_cases)
    return Pilot(
        estimate.label_variance,
        estimate.residual_variance,
        estimate.n_labelled_cases,
        estimate.n_cases,
        effective_share=effective / estimate.n_labelled_cases,
    )


def _budget_row(inputs: Inputs, estimate: Powered, candidate: int, question: Question) -> Row:
    row: Row = {
        "candidate": inputs.candidates[candidate],
        "measure": question.measure,
        "k": question.k if question.measure == "cacs_at_k" else None,
        "half_width": question.half_width,
        "lambda": estimate.power,
        "n_labelled_cases": estimate.n_labelled_cases,
        "n_cases": estimate.n_cases,
    }
    notes = []
    for end, with_judge in (("", True), ("_alone", False)):
        pilot = _pilot(inputs, estimate, candidate, with_judge=with_judge)
        needed: Figure = pilot if isinstance(pilot, Undefined) else _needed(pilot, question, with_judge=with_judge)
        now = None
        if not isinstance(pilot, Undefined) and pilot.label_variance > 0:
            now = float(half_widths(pilot, [estimate.n_labelled_cases], with_judge=with_judge)[0])
        cases = None if needed.value is None else int(needed.value)
        row[f"half_width_now{end}"] = now
        row[f"cases{end}"] = cases
        row[f"responses{end}"], row[f"decisions{end}"] = _work(inputs, estimate, candidate, cases)
        if needed.note:
            notes.append(labelled(f"cases{end}", needed.note))
    row["note"] = joined(*notes)
    return {name: row[name] for name in BUDGET_COLUMNS}


def _needed(pilot: Pilot, question: Question, *, with_judge: bool) -> Figure:
    return cases_needed(pilot, question.half_width, with_judge=with_judge)


def _work(inputs: Inputs, estimate: Powered, candidate: int, cases: int | None) -> tuple[int | None, int | None]:
    """The number of responses and decisions for a number of cases, at the density of the pilot; rounded up."""
    if cases is None or not estimate.n_labelled:
        return None, None
    graded = (inputs.place >= 0) & (inputs.sheet.response_candidate == candidate)
    decided = int(inputs.predicted.n_criteria[0][graded].sum())
    responses = math.ceil(cases * estimate.n_labelled / estimate.n_labelled_cases - 1e-9)
    return responses, math.ceil(responses * decided / int(graded.sum()) - 1e-9)


def _total(budget: list[Row]) -> Row:
    """The sum over candidates, if each has a number."""
    row: Row = {
        **dict.fromkeys(BUDGET_COLUMNS),
        **{name: budget[0][name] for name in ("measure", "k", "half_width")},
        "candidate": ALL,
    }
    notes = []
    for end in ("", "_alone"):
        missing = [candidate_row["candidate"] for candidate_row in budget if candidate_row[f"cases{end}"] is None]
        for name in ("responses", "decisions"):
            row[f"{name}{end}"] = None if missing else sum(candidate_row[f"{name}{end}"] for candidate_row in budget)
        if missing:
            notes.append(labelled(f"cases{end}", Reason.PLAN_CANDIDATES_WITHOUT_NUMBER(n=len(missing))))
    row["note"] = joined(*notes)
    return row


def _curve(inputs: Inputs, estimate: Powered, candidate: int, question: Question) -> Iterator[Row]:
    """Half-widths from 5 effective cases to all, at most some two dozen steps that grow by a constant factor."""
    alone = _pilot(inputs, estimate, candidate, with_judge=False)
    powered = _pilot(inputs, estimate, candidate, with_judge=True)
    if isinstance(alone, Undefined) or alone.label_variance == 0:
        return
    steps = np.unique(np.rint(np.geomspace(least_cases(alone), alone.n_cases, STEPS)).astype(int))
    without = half_widths(alone, steps, with_judge=False).tolist()
    by_judge = [None] * len(steps) if isinstance(powered, Undefined) else half_widths(powered, steps, with_judge=True)
    for n, with_judge, labels in zip(steps.tolist(), list(by_judge), without, strict=True):
        yield {
            "candidate": inputs.candidates[candidate],
            "measure": question.measure,
            "n_cases": n,
            "half_width": None if with_judge is None else float(with_judge),
            "half_width_alone": labels,
        }


def _differences(inputs: Inputs, question: Question) -> Iterator[Row]:
    """Every two candidates, by the physicians' mean of each case that they graded of both."""
    sums: CaseSums = inputs.sums(0, question.measure)
    scale = 100.0 if question.measure == "rubric_accuracy" else 1.0
    with np.errstate(invalid="ignore"):
        means = scale * sums.labels / np.where(sums.weight > 0, sums.weight, np.nan)
    for i, first in enumerate(inputs.order):
        for second in inputs.order[i + 1 :]:
            apart = means[:, first] - means[:, second]
            apart = apart[~np.isnan(apart)]
            n = len(apart)
            spread = float(np.std(apart, ddof=1)) if n > 1 else None
            if spread is not None and spread <= 1e-12 * float(np.abs(apart).max()):
                spread = 0.0
            detectable: Figure = detectable_mean_difference(spread or 0.0, n, question.n_planned)
            yield {
                "first": inputs.candidates[first],
                "second": inputs.candidates[second],
                "measure": question.measure,
                "difference": float(apart.mean()) if n else None,
                "spread": spread,
                "n_pilot": n,
                "n_planned": question.n_planned,
                "detectable": detectable.value,
                "note": detectable.note,
            }


def _of_judges(benchmark: Benchmark, question: Question) -> list[Row]:
    """MF1 of the judge less that of the other one, against the same reference on the same pairs."""
    joined = join(benchmark, question.reference, question.judge)
    other = join(benchmark, question.reference, question.other)
    place, shared = positions(_keys(other.pairs), _keys(joined.pairs))
    shared = shared & (joined.pairs.status <= LAST_COUNTED)
    if len(other.pairs):
        shared &= other.pairs.status[place] <= LAST_COUNTED
    first = joined.pairs.chosen(shared)
    second = other.pairs.chosen(place[shared])
    case = joined.frame.response_case[joined.frame.response_places(first.response)]
    places, dense = np.unique(case, return_inverse=True)
    row: Row = {
        "first": joined.rater_b.label,
        "second": other.rater_b.label,
        "measure": "mf1",
        "difference": None,
        "spread": None,
        "n_pilot": len(places),
        "n_planned": question.n_planned,
    }
    tables = [confusion_counts(pairs.a, _outcomes(pairs), case=dense, n_cases=len(places)) for pairs in (first, second)]
    parts = [case_table(macro_f1_values, table) for table in tables]
    apart = case_joint(lambda values: values[..., 0] - values[..., 1], *parts, bounds=(-1.0, 1.0))
    value, error, effective = (float(numbers[0]) for numbers in (apart.whole(), *DEFAULT_RULE.standard_errors(apart)))
    if effective >= MINIMUM_PILOT_CASES - ROUNDING:
        row |= {"difference": value, "spread": error}
    detectable = detectable_from_standard_error(error, len(places), question.n_planned, effective=effective)
    return [{**row, "detectable": detectable.value, "note": detectable.note}]


def _keys(pairs: Pairs) -> Any:
    return (pairs.response << 31) | pairs.criterion


def _outcomes(pairs: Pairs) -> Any:
    """The judge's outcome; an invalid or missing verdict counts as the opposite of the reference."""
    agrees = (pairs.status == PairStatus.TP) | (pairs.status == PairStatus.TN)
    return np.where(agrees, pairs.a, 1 - pairs.a)
