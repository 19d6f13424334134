"""The coverage threshold k of CACS@k, from responses that physicians wrote and a group of other physicians graded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from agreement.calibration import judge_error
from agreement.calibration.hits import Hits
from agreement.calibration.inputs import CalibrationInputs, NothingToCalibrate, read_inputs
from agreement.calibration.modes import mode_rows
from agreement.judged.coverage import coverage_remarks_of_runs
from agreement.selectors.rater_choices import shown_name
from consilium.core.i18n import translate
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.calibration import Calibration, calibrate
from consilium.statistics.estimate import Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.sensitivity import REACH, Sensitivity, candidate_values, sensitivity
from rubrics.models import Benchmark
from scoring.selectors.raters import Rater

KEYS = (
    *("k", "n", "n_criteria", "mean", "median", "q1", "q3", "hit_rate"),
    *("mean_low", "mean_high", "k_low", "k_high", "histogram"),
)
SENSITIVITY_COLUMNS = ("setting", "k", "n_candidates", "spearman", "top3", "top5", "note")
SENSITIVITY_ALL_COLUMNS = ("setting", "k", "n_candidates", "spearman", "kendall", "top3", "top5", "note")
SENSITIVITY_TEXT = ("setting", "note")
CANDIDATES_COLUMNS = ("setting", "k", "candidate", "value", "note", "low", "high", "n")
CANDIDATES_TEXT = ("setting", "candidate", "note")
ACCURACY_COLUMNS = ("candidate", "hits", "n_criteria", "n_responses")
ACCURACY_TEXT = ("candidate",)

Row = dict[str, Any]


@dataclass(frozen=True)
class CalibrationTables:
    """All results of a calibration.

    ``calibration`` is `calibration.json` by key, ``sensitivity`` the rows of `sensitivity.csv` and ``sensitivity_all``
    those over every threshold; ``values`` gives each candidate's value under each setting, ``accuracy`` how many
    responses of each candidate meet how many criteria; ``modes`` are the hits by how the physicians' responses were
    written; ``error`` has the effects of the judges' errors.
    """

    calibration: Row
    sensitivity: list[Row]
    sensitivity_all: list[Row]
    values: list[Row]
    accuracy: list[Row]
    modes: list[Row]
    error: judge_error.ErrorTables
    raters: tuple[Rater, ...]
    n_incomplete: int  # responses of other candidates that the group graded in part
    notes: list[str] = field(default_factory=list)
    digest: str = ""
    rater: str = ""


def calibrate_group(
    benchmark: Benchmark,
    *,
    group: str,
    candidate: str,
    include_aided: bool = False,
    judges: Sequence[str] | None = None,
    rule: IntervalRule,
    seed: int = 0,
    progress: Progress = no_progress,
) -> CalibrationTables:
    """Calibrate k on the responses of ``candidate``, a physician, by the decisions of ``group`` (a name, with a stage
    after an @ if it is not ``checked``), and carry the errors of ``judges`` to CACS@k (each judge with a finished run
    where none are named).

    Left out, and counted in ``notes``, are responses written with model references on the screen (unless
    ``include_aided``), those graded by a physician who wrote any of the candidate's responses, and those with a
    positive criterion that is not decided or that an adjudicator found faulty. ``seed`` is that of the draws by which
    judges' errors are carried on.
    """
    inputs = read_inputs(benchmark, group=group, candidate=candidate, include_aided=include_aided, judges=judges)
    progress(0.4)
    calibration, notes = _calibrated(benchmark, inputs, candidate, rule)
    k = int(calibration.k.value or 0)
    others = inputs.others()
    responses = {name: (own.hits, own.n_criteria) for name, own in others.items()}
    rows = sensitivity(responses, k, None) if others else []
    cases = {name: (own.hits, own.n_criteria, inputs.case_of(own.response)) for name, own in others.items()}
    values = candidate_values(cases, rows, rule=rule)
    progress(0.6)
    error = judge_error.judge_error(
        inputs, others, k, rule=rule, seed=seed, progress=lambda share: progress(0.6 + 0.35 * share)
    )
    raters = (inputs.rater, *(judge.rater for judge in inputs.judges))
    return CalibrationTables(
        calibration=_calibration_row(calibration),
        sensitivity=[_sensitivity_row(row) for row in rows if row.k is None or abs(row.k - k) <= REACH],
        sensitivity_all=[_sensitivity_row(row, kendall=True) for row in rows],
        values=[
            _value_row(row, name, figure)
            for row, by_candidate in zip(rows, values, strict=True)
            for name, figure in by_candidate.items()
        ],
        accuracy=[row for name, own in others.items() for row in _accuracy_rows(name, own)],
        modes=mode_rows(inputs, rule=rule),
        error=error,
        raters=raters,
        n_incomplete=inputs.n_incomplete,
        notes=[
            *notes,
            *([calibration.k.note] if calibration.k.note else []),
            *coverage_remarks_of_runs(benchmark, raters),
        ],
        digest=inputs.digest,
        rater=inputs.rater.label,
    )


def _calibrated(
    benchmark: Benchmark, inputs: CalibrationInputs, candidate: str, rule: IntervalRule
) -> tuple[Calibration, list[str]]:
    """k, and the counts of what was left out; `NothingToCalibrate` where no k can be computed."""
    touched = inputs.hits.of(inputs.chosen)
    graded = inputs.hits.of(np.setdiff1d(inputs.chosen, inputs.by_authors))
    complete = graded.only_complete()
    n_faulty = int(graded.faulty.sum())
    n_undecided = len(graded.response) - len(complete.response) - n_faulty
    counted_notes = (
        Reason.RESPONSES_AIDED.counted(inputs.n_aided),
        Reason.RESPONSES_OF_UNKNOWN_MODE.counted(inputs.n_unknown),
        Reason.RESPONSES_GRADED_BY_AUTHORS.counted(len(touched.response) - len(graded.response)),
        Reason.RESPONSES_NOT_GRADED.counted(len(inputs.chosen) - len(touched.response)),
        Reason.RESPONSES_WITH_FAULTY_CRITERION.counted(n_faulty),
        Reason.RESPONSES_WITH_UNDECIDED_CRITERION.counted(n_undecided),
    )
    notes = [note for note in counted_notes if note]
    calibration = calibrate(complete.hits, complete.n_criteria, case=inputs.case_of(complete.response), rule=rule)
    if isinstance(calibration, Undefined):
        sentence = _("Notes on its responses: %(notes)s.") % {"notes": translate(joined(*notes))}
        detail = f" {sentence}" if notes else ""
        numbers = Counter(complete.n_criteria.tolist())
        if len(numbers) > 1:
            detail += " " + what_varying_numbers_need(numbers)
        raise NothingToCalibrate(
            _("k is undefined for %(candidate)s by %(rater)s: %(reason)s.%(said)s")
            % {
                "candidate": candidate,
                "rater": shown_name(benchmark, inputs.rater.label),
                "reason": translate(calibration.reason),
                "said": detail,
            }
        )
    return calibration, notes


def what_varying_numbers_need(numbers: Mapping[int, int]) -> str:
    """What to do where the cases differ in their number of positive criteria, and how many responses have which."""
    shown = ", ".join(f"{number}: {n:,}" for number, n in sorted(numbers.items()))
    return _(
        "Responses by the number of positive criteria of their case: %(numbers)s. To calibrate k, put the cases with "
        "one number into a benchmark of their own; or sign a threshold without a calibration, with a reason."
    ) % {"numbers": shown}


def _calibration_row(calibration: Calibration) -> Row:
    return {
        "k": int(calibration.k.value or 0),
        "n": calibration.n,
        "n_criteria": calibration.n_criteria,
        "mean": calibration.mean.value,
        "median": calibration.median,
        "q1": calibration.q1,
        "q3": calibration.q3,
        "hit_rate": calibration.hit_rate,
        "mean_low": calibration.mean.low,
        "mean_high": calibration.mean.high,
        "k_low": None if calibration.k.low is None else int(calibration.k.low),
        "k_high": None if calibration.k.high is None else int(calibration.k.high),
        "histogram": list(calibration.histogram),
        "effective": calibration.mean.effective,
        "note": calibration.k.note,
        "n_cases": calibration.n_cases,
    }


def _sensitivity_row(comparison: Sensitivity, *, kendall: bool = False) -> Row:
    compared = {
        "spearman": comparison.spearman,
        **({"kendall": comparison.kendall} if kendall else {}),
        "top3": comparison.top3,
        "top5": comparison.top5,
    }
    return {
        "setting": comparison.setting,
        "k": comparison.k,
        "n_candidates": comparison.spearman.n,
        **{name: figure.value for name, figure in compared.items()},
        "note": joined(*(labelled(name, figure.note) for name, figure in compared.items() if figure.note)),
    }


def _value_row(comparison: Sensitivity, candidate: str, figure: Figure) -> Row:
    return {
        "setting": comparison.setting,
        "k": comparison.k,
        "candidate": candidate,
        "value": figure.value,
        "note": figure.note,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
    }


def _accuracy_rows(candidate: str, own: Hits) -> list[Row]:
    """How many responses of a candidate meet how many of how many positive criteria."""
    counted, times = np.unique(np.stack([own.n_criteria, own.hits], axis=1), axis=0, return_counts=True)
    return [
        {"candidate": candidate, "hits": hits, "n_criteria": present, "n_responses": n}
        for (present, hits), n in zip(counted.tolist(), times.tolist(), strict=True)
        if present
    ]
