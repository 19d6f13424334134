"""Prediction-powered scores of candidates: a judge's verdicts on all responses, physicians' decisions on a sample.

Scores of responses are those of `scoring.scores.grid`, by the judge and by the physicians, over the same criteria; the
estimate is that of `consilium.statistics.prediction_powered`, with cases as units. Counting rules:

- invalid and missing verdicts count against the candidate, in the judge's scores as everywhere;
- a verdict that the judge left undecided predicts the outcome that costs the candidate points (any prediction will do,
  since the rectifier corrects it), while the judge's own figure leaves the response out, as its scores do;
- a response that the physicians have not fully decided, or graded on other criteria than the judge, counts as not
  graded; the note gives the number of such responses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.judged.training_overlap import learned_candidates, learners, remark_on_candidate
from agreement.powered.sampling import Sampling, sampling_of
from agreement.reports.tables import Row
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import each_once, joined
from consilium.core.reasons import Reason
from consilium.statistics.cacs import cacs_values
from consilium.statistics.estimate import Figure, Undefined
from consilium.statistics.outcomes import Outcome
from consilium.statistics.prediction_powered import CaseSums, Powered, case_sums, prediction_powered
from rubrics.models import Benchmark, Candidate, Case
from scoring.scores.grid import Grid, grid_of
from scoring.scores.points import DEFAULT_RULES, CannotAssess, CountingRules
from scoring.scores.sheet import OVERALL, Sheet, Slice, read_sheet, slices_of
from scoring.selectors.raters import Rater, require_verdicts, resolve_rater

MEASURES = ("rubric_score", "rubric_accuracy", "cacs_at_k")
# The counting rules of scores, except that a judge always predicts an outcome.
PREDICTING = CountingRules(cannot_assess=CannotAssess.AGAINST)
COLUMNS = (
    *("candidate", "slice", "measure", "k", "value", "low", "high", "lambda"),
    *("physicians", "physicians_low", "physicians_high", "judge", "judge_low", "judge_high", "width_ratio"),
    *("n_labelled", "n_labelled_cases", "n_judged", "n_cases", "note"),
    *("effective", "physicians_effective", "judge_effective"),
)
TEXT_COLUMNS = ("candidate", "slice", "measure", "note")
# Why a measure has no value in any response, as in tables of scores.
_EMPTY = {
    "rubric_score": Reason.NO_SCORED_RESPONSE,
    "rubric_accuracy": Reason.NO_POSITIVE_CRITERIA,
    "cacs_at_k": Reason.TOO_FEW_POSITIVE_CRITERIA,
}
LEARNED_ELSEWHERE = Reason.JUDGE_LEARNED_OTHERS()

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Inputs:
    """Two raters' scores of the same responses, those that the judge was to judge.

    Grids have the shape (slices, responses): ``predicted`` and ``alone`` of the judge, ``graded`` of the physicians in
    the places of their own sheet; ``place`` is a response's place there, -1 where they decided nothing of it.
    """

    judge: Rater
    reference: Rater
    k: int
    sheet: Sheet
    slices: list[Slice]
    candidates: list[str]
    cases: list[str]
    predicted: Grid
    alone: Grid
    graded: Grid
    place: Array
    sampling: Sampling
    learned: list[str]
    learned_by: list[str]
    n_not_judged: int  # graded responses that the judge was not to judge
    digest: str

    @property
    def order(self) -> list[int]:
        """Places of candidates by name."""
        return sorted(range(len(self.candidates)), key=lambda place: self.candidates[place])

    def sums(self, place: int, measure: str) -> CaseSums:
        """By case and candidate, for the slice at ``place``."""
        prediction, size = self._values(self.predicted, place, measure)
        label = self._labels(place, measure)
        inside = self.predicted.inside[place] & ~np.isnan(prediction)
        return case_sums(
            case=self.sheet.response_case[inside],
            n_cases=len(self.sheet.case_ids),
            prediction=prediction[inside],
            label=label[inside],
            size=size[inside],
            weight=self.sampling.weight[inside],
            column=self.sheet.response_candidate[inside],
            n_columns=len(self.candidates),
        )

    def sums_of_judge(self, place: int, measure: str) -> CaseSums:
        """The same sums of the judge alone, without the responses to which it gives no score."""
        value, size = self._values(self.alone, place, measure)
        inside = self.alone.inside[place] & ~np.isnan(value)
        return case_sums(
            case=self.sheet.response_case[inside],
            n_cases=len(self.sheet.case_ids),
            prediction=value[inside],
            label=np.full(int(inside.sum()), np.nan),
            size=size[inside],
            column=self.sheet.response_candidate[inside],
            n_columns=len(self.candidates),
        )

    def unused(self, place: int, measure: str) -> NDArray[np.int64]:
        """By candidate: responses in the slice that were graded, but have no score comparable with the judge's."""
        if not len(self.graded.inside[place]):
            return np.zeros(len(self.candidates), dtype=np.int64)
        touched = (self.place >= 0) & self.predicted.inside[place] & np.isnan(self._labels(place, measure))
        touched &= ~np.isnan(self._values(self.predicted, place, measure)[0])
        touched &= self.graded.inside[place][self.place]
        return np.bincount(self.sheet.response_candidate[touched], minlength=len(self.candidates))

    def least_scores(self, grid: Grid, place: int) -> NDArray[np.float64]:
        """The least rubric score that each candidate could have: the mean over its responses with a score."""
        scored = grid.inside[place] & grid.has_score[place]
        candidate, size = self.sheet.response_candidate[scored], len(self.candidates)
        least = np.bincount(candidate, weights=grid.least_score[place][scored], minlength=size)
        return np.asarray(least / np.maximum(np.bincount(candidate, minlength=size), 1))

    def _values(self, grid: Grid, place: int, measure: str) -> tuple[Array, Array]:
        """The value of each response, NaN where it has none, and its size."""
        positive = np.where(grid.has_hits[place], grid.n_positive[place], 0)
        if measure == "rubric_score":
            return np.where(grid.has_score[place], grid.score[place], np.nan), np.ones(len(positive))
        if measure == "rubric_accuracy":
            share = np.where(positive > 0, grid.hits[place] / np.maximum(positive, 1), np.nan)
            return share, positive.astype(np.float64)
        return cacs_values(grid.hits[place], positive, self.k), np.ones(len(positive))

    def _labels(self, place: int, measure: str) -> Array:
        """The physicians' values in the places of the judge's sheet, NaN where there is no comparable one."""
        if not len(self.graded.inside[place]):
            return np.full(len(self.place), np.nan)
        value, _size = self._values(self.graded, place, measure)
        name = "n_criteria" if measure == "rubric_score" else "n_positive"
        same = getattr(self.graded, name)[place][self.place] == getattr(self.predicted, name)[place]
        return np.where((self.place >= 0) & same, value[self.place], np.nan)


def read_inputs(
    benchmark: Benchmark,
    *,
    judge: str,
    reference: str,
    k: int,
    overall_only: bool = False,
    progress: Progress = no_progress,
) -> Inputs:
    """Read both raters. ``overall_only`` leaves the slices out."""
    predictor, physicians = resolve_rater(benchmark, judge), resolve_rater(benchmark, reference)
    require_verdicts(predictor, physicians)
    sheet = read_sheet(benchmark, predictor)
    progress(0.25)
    graded_sheet = read_sheet(benchmark, physicians)
    progress(0.45)
    labels = ("key", "difficulty", "register", "tags", "label_tags")
    cases: dict[int, Row] = {
        pk: dict(zip(labels, values, strict=True))
        for pk, *values in Case.objects.filter(pk__in=sheet.case_ids.tolist()).values_list("pk", *labels)
    }
    slices = [Slice(OVERALL)] if overall_only else list(slices_of(benchmark, sheet, cases))
    names = Candidate.objects.filter(pk__in=sheet.candidate_ids.tolist()).in_bulk()
    candidates = [names[pk].name for pk in sheet.candidate_ids.tolist()]
    alone = grid_of(sheet, slices, DEFAULT_RULES)
    unsettled = np.isin(sheet.answer, (Outcome.UNDECIDED, Outcome.CANNOT_ASSESS)).any()
    place, judged_too = _places(graded_sheet.response_ids, sheet.response_ids)
    sampling = sampling_of(benchmark, physicians, sheet, place >= 0)
    learned = learned_candidates(benchmark, [run.public_id for run in predictor.runs])
    keys = [cases[pk]["key"] for pk in sheet.case_ids.tolist()]
    progress(0.6)
    return Inputs(
        judge=predictor,
        reference=physicians,
        k=k,
        sheet=sheet,
        slices=slices,
        candidates=candidates,
        cases=keys,
        predicted=grid_of(sheet, slices, PREDICTING) if unsettled else alone,
        alone=alone,
        graded=grid_of(graded_sheet, [_in_sheet(part, sheet, graded_sheet) for part in slices], DEFAULT_RULES),
        place=place,
        sampling=sampling,
        learned=learned,
        learned_by=learners(benchmark, predictor),
        n_not_judged=len(graded_sheet.response_ids) - judged_too,
        digest=_digest(predictor, physicians, sheet, graded_sheet, slices, sampling, [*candidates, *keys, *learned]),
    )


def _places(known: Array, values: Array) -> tuple[Array, int]:
    """The position of each of ``values`` in the sorted ``known``, -1 where it is absent; and how many are present."""
    if not len(known):
        return np.full(len(values), -1, dtype=np.int64), 0
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    is_present = known[places] == values
    return np.where(is_present, places, -1), int(is_present.sum())


def _in_sheet(part: Slice, of: Sheet, target: Sheet) -> Slice:
    """A slice of the judge's sheet, translated to the physicians' sheet."""
    if part.criteria is not None:
        return Slice(part.name, criteria=np.isin(target.criterion_ids, of.criterion_ids[part.criteria]))
    if part.cases is not None:
        return Slice(part.name, cases=np.isin(target.case_ids, of.case_ids[part.cases]))
    return part


def _digest(
    judge: Rater,
    reference: Rater,
    sheet: Sheet,
    graded: Sheet,
    slices: list[Slice],
    sampling: Sampling,
    names: list[str],
) -> str:
    """SHA-256 of all inputs of the figures."""
    sha = hashlib.sha256("\x1f".join([judge.label, reference.label, *names, *map(str, sampling.notes)]).encode())
    for rated_sheet in (sheet, graded):
        for column in (
            rated_sheet.response_ids,
            rated_sheet.criterion_ids,
            rated_sheet.response,
            rated_sheet.criterion,
            rated_sheet.points,
            rated_sheet.answer,
        ):
            sha.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
        if rated_sheet.share is not None:
            sha.update(np.ascontiguousarray(rated_sheet.share, dtype="<f8").tobytes())
    sha.update(np.ascontiguousarray(sampling.weight, dtype="<f8").tobytes())
    for part in slices:
        sha.update(part.name.encode() + b"\0")
        for mask in (part.cases, part.criteria):
            sha.update(b"-" if mask is None else np.packbits(mask).tobytes())
    return sha.hexdigest()


@dataclass(frozen=True, eq=False)
class PoweredScores:
    """Rows of powered.csv: every candidate, slice and measure; with what was read for them."""

    rows: list[Row]
    inputs: Inputs

    @property
    def digest(self) -> str:
        return self.inputs.digest

    @property
    def notes(self) -> list[str]:
        not_due = Reason.LABELLED_NOT_DUE.counted(self.inputs.n_not_judged)
        faulty = Reason.PAIRS_FAULTY.counted(int((self.inputs.sheet.answer == Outcome.FAULTY).sum()))
        return [note for note in (not_due, faulty) if note]


def powered_scores(
    benchmark: Benchmark, *, judge: str, reference: str, k: int, progress: Progress = no_progress
) -> PoweredScores:
    """Every candidate by ``judge`` and ``reference``, with the coverage threshold ``k``. Nothing is drawn at random:
    the intervals are those of `consilium.statistics.prediction_powered`.
    """
    inputs = read_inputs(benchmark, judge=judge, reference=reference, k=k, progress=progress)
    rows_by_key: dict[tuple[int, int, str], Row] = {}
    for place in range(len(inputs.slices)):
        for measure in MEASURES:
            for candidate, row in _rows(inputs, place, measure):
                rows_by_key[candidate, place, measure] = row
        progress(0.6 + 0.35 * (place + 1) / len(inputs.slices))
    keys = [
        (candidate, place, name)
        for candidate in inputs.order
        for place in range(len(inputs.slices))
        for name in MEASURES
    ]
    return PoweredScores([rows_by_key[key] for key in keys if key in rows_by_key], inputs)


def powered_figures(inputs: Inputs, place: int, measure: str) -> list[Powered]:
    """One for each candidate of the slice at ``place``, by its place in the sheet."""
    return prediction_powered(inputs.sums(place, measure), **_options(inputs, inputs.predicted, place, measure))


def _options(inputs: Inputs, grid: Grid, place: int, measure: str) -> dict[str, Any]:
    """The unit of a measure and its bounds; those of a rubric score rest on the responses with a score in ``grid``."""
    if measure == "rubric_score":
        return {"bounds": (inputs.least_scores(grid, place), 1.0), "clip": (0.0, 1.0)}
    if measure == "rubric_accuracy":
        return {"scale": 100.0, "clip": (0.0, 100.0)}
    return {"bounds": (0.0, 100.0), "clip": (0.0, 100.0)}


def _remarks(value: Figure, physicians: Figure, judge: Figure) -> str:
    """The remarks on the three figures, each labelled; the reason for an undefined figure of the others is its own."""
    beside = [("physicians", physicians), ("judge", judge)]
    return each_once([("value", value.note), *((name, figure.note) for name, figure in beside if figure.defined)])


def _rows(inputs: Inputs, place: int, measure: str) -> Iterator[tuple[int, Row]]:
    estimates = powered_figures(inputs, place, measure)
    judged = [estimate.judge for estimate in estimates]
    if inputs.alone is not inputs.predicted:
        options = _options(inputs, inputs.alone, place, measure)
        judged = [estimate.judge for estimate in prediction_powered(inputs.sums_of_judge(place, measure), **options)]
    unused = inputs.unused(place, measure)
    here = np.bincount(inputs.sheet.response_candidate[inputs.predicted.inside[place]], minlength=len(estimates))
    for candidate, (estimate, judge) in enumerate(zip(estimates, judged, strict=True)):
        if not here[candidate]:
            continue
        name = inputs.candidates[candidate]
        figure, power, ratio = estimate.powered, estimate.power, estimate.width_ratio
        notes = [] if estimate.n_labelled == 0 else list(inputs.sampling.notes[candidate])
        if not estimate.n_judged:
            figure = Undefined(_EMPTY[measure](k=inputs.k))
        elif name in inputs.learned:
            # Its errors on these candidates are smaller than elsewhere, so no rectifier can be estimated from them.
            figure, power, ratio = Undefined(remark_on_candidate(inputs.learned_by), estimate.n_labelled), None, None
        elif inputs.learned:
            notes.append(LEARNED_ELSEWHERE)
        notes.append(Reason.LABELLED_WITHOUT_SCORE.counted(int(unused[candidate])))
        yield (
            candidate,
            {
                "candidate": name,
                "slice": inputs.slices[place].name,
                "measure": measure,
                "k": inputs.k if measure == "cacs_at_k" else None,
                "value": figure.value,
                "low": figure.low,
                "high": figure.high,
                "lambda": power,
                "physicians": estimate.physicians.value,
                "physicians_low": estimate.physicians.low,
                "physicians_high": estimate.physicians.high,
                "judge": judge.value,
                "judge_low": judge.low,
                "judge_high": judge.high,
                "width_ratio": ratio,
                "n_labelled": estimate.n_labelled,
                "n_labelled_cases": estimate.n_labelled_cases,
                "n_judged": estimate.n_judged,
                "n_cases": estimate.n_cases,
                "note": joined(_remarks(figure, estimate.physicians, judge), *notes),
                "effective": figure.effective,
                "physicians_effective": estimate.physicians.effective,
                "judge_effective": judge.effective,
            },
        )
