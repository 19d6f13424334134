"""Reads what the figures of a run of trials rest on: the answers, and what physicians say about the pairs."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rubrics.models import Case
from scoring.models import PipelineStep
from validation.coverage.config import endpoint_kind_of
from validation.coverage.content import Points
from validation.files.pair_reading import STATED, PairsFile, TrialRow, pairs_of
from validation.files.table_rows import nfc
from validation.models import NearMissPair, TrialRun
from validation.trials.config import TrialConfig, trial_config
from validation.trials.content import MAX_SCORE, WITHOUT, CaseContent, PairContent, Trial, points_range

DANGEROUS = "dangerous"
# The grades of pairs, the leading one first. Rejected pairs are tried only where they were rejected afterwards.
GRADES = (DANGEROUS, "minor", "flawed", "disputed", "open", "no_error")
NO_RUBRIC_NAME = "(no rubric)"
_STATED = {"reference": "ref", "candidate": "cand", "same": "same"}  # as files have it


@dataclass(frozen=True, slots=True)
class Answer:
    """A good answer to a trial. ``met``: of each criterion, whether reference and candidate meet it."""

    total_reference: float
    total_candidate: float
    stated: str
    decision: str
    met: tuple[tuple[bool, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class TriedPair:
    """A pair with its case, and its grade now."""

    case: CaseContent
    place: int  # within the case
    pair: PairContent
    grade: str


@dataclass(frozen=True, eq=False)
class TrialInputs:
    """A run with its answers: by case, and by trial."""

    run: TrialRun
    config: TrialConfig
    pairs: list[TriedPair]
    answers: Mapping[str, Mapping[Trial, Answer]]
    digest: str

    @property
    def endpoint_kind(self) -> str:
        """*rules* where rules answered in the run, or split or drafted the criteria of one of its sets."""
        return str(endpoint_kind_of(self.run, self.config.sets))

    @cached_property
    def series(self) -> dict[str, str]:
        """The names of the series that some pair is tried in, in their order."""
        tried = {series for own in self.pairs for series in self.config.content.series(own.case)}
        names = {str(place): nfc(own.name) for place, own in enumerate(self.config.sets)}
        return {series: name for series, name in (names | {WITHOUT: NO_RUBRIC_NAME}).items() if series in tried}

    def trials(self, own: TriedPair, series: str) -> Iterator[tuple[Trial, Answer | None]]:
        """The trials of a pair in a series, with their answers."""
        if series not in self.config.content.series(own.case):
            return
        answers = self.answers.get(own.case.key, {})
        for number in range(self.config.trials):
            for order in ("r", "c"):
                trial = Trial(series, own.place, order, number)
                yield trial, answers.get(trial)

    def criteria(self, own: TriedPair, series: str) -> Points:
        """The criteria that a pair is judged by."""
        return () if series == WITHOUT else own.case.sets[int(series)]

    def rows(self, chosen: Callable[[TriedPair], bool] = lambda pair: True) -> Iterator[TrialRow]:
        """The trials of some pairs as the rows of a file of `pairs_file`."""
        for series, name in self.series.items():
            for own in filter(chosen, self.pairs):
                points = self.points(own, series)
                for trial, answer in self.trials(own, series):
                    yield TrialRow(
                        line=0,
                        set=nfc(name),
                        pair=nfc(own.pair.key),
                        is_reference_first=trial.is_reference_first,
                        trial=trial.number,
                        reference=None if answer is None else answer.total_reference,
                        candidate=None if answer is None else answer.total_candidate,
                        stated=None if answer is None else STATED[_STATED[answer.stated]],
                        case=nfc(own.case.key),
                        slices={name: value for name, value in _slices(own.pair).items() if value},
                        points=points,
                        tags=frozenset(map(nfc, own.case.tags)),
                    )

    def points(self, own: TriedPair, series: str) -> tuple[float, float, float]:
        """Σ|p|, the least and the greatest total that the series can give the case."""
        if series == WITHOUT:
            return float(MAX_SCORE), 0.0, float(MAX_SCORE)
        absolute, least, greatest = points_range([each.points for each in self.criteria(own, series)])
        return float(absolute), float(least), float(greatest)

    def file(self, *grades: str) -> PairsFile:
        """The trials of the pairs of these grades, as arrays."""
        return pairs_of(self.rows(lambda own: own.grade in grades), has_cases=True)

    def file_rows(self) -> Iterator[dict[str, Any]]:
        """Every trial as a row of a file that `pairs_file` reads."""
        for row, grade in zip(self.rows(), self._grades_of_rows(), strict=True):
            yield {
                "set": row.set,
                "pair": row.pair,
                "case": row.case,
                "order": "ref_first" if row.is_reference_first else "cand_first",
                "trial": row.trial,
                "total_ref": row.reference,
                "total_cand": row.candidate,
                "stated": next((name for name, own in STATED.items() if own is row.stated), ""),
                "kind": row.slices.get("kind", ""),
                "axis": row.slices.get("axis", ""),
                "points_abs": row.points[0],
                "points_min": row.points[1],
                "points_max": row.points[2],
                "grade": grade,
            }

    def _grades_of_rows(self) -> Iterator[str]:
        for series in self.series:
            for own in self.pairs:
                for _trial in self.trials(own, series):
                    yield own.grade


def _slices(pair: PairContent) -> dict[str, str]:
    return {"kind": nfc(pair.kind), "axis": nfc(pair.axis)}


def read_trials(run: TrialRun, *, only: str | None = None) -> TrialInputs:
    """The answers of a run on cases that count, and the grades of its pairs as they are now; a fixed number of queries.

    ``only`` is the key of the one case to read. A pair that is not in this database keeps the grade that it had when
    the run began.
    """
    config = trial_config(run.config, may_call=False)
    rows = Case.with_stubs.filter(benchmark=run.benchmark_id, key__in=config.place_of).exclude(excluded_at=None)
    excluded = set(rows.values_list("key", flat=True))
    cases = [case for case in config.content.cases if case.key not in excluded and only in (None, case.key)]
    every = [(case, place, pair) for case in cases for place, pair in enumerate(case.pairs)]
    stored = NearMissPair.objects.filter(group__benchmark=run.benchmark_id, public_id__in=[row[2].id for row in every])
    known = {pair.public_id: pair.grade_now for pair in stored.only("public_id", "grade", "disputed")}
    pairs = [TriedPair(case, place, pair, known.get(pair.id, pair.grade)) for case, place, pair in every]
    answers: dict[str, dict[Trial, Answer]] = defaultdict(dict)
    steps = run.steps.filter(state=PipelineStep.State.DONE).order_by()
    if only is not None:
        steps = steps.filter(case__key=only)
    for case, key, output in steps.values_list("case__key", "key", "output").iterator(5000):
        answers[case][Trial.of(key)] = _answer(output or {})
    return TrialInputs(run, config, pairs, answers, _digest(config, pairs, answers))


def _answer(output: Mapping[str, Any]) -> Answer:
    return Answer(
        output["total_reference"],
        output["total_candidate"],
        output["stated"],
        output["decision"],
        tuple(zip(output.get("met_reference", ()), output.get("met_candidate", ()), strict=True)),
    )


def _digest(config: TrialConfig, pairs: Iterable[TriedPair], answers: Mapping[str, Mapping[Trial, Answer]]) -> str:
    """SHA-256 of all that figures and lists rest on."""
    digest = hashlib.sha256()

    def add(values: Any) -> None:
        digest.update(json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode())

    add([config.trials, config.no_rubric, [[own.name, own.digest] for own in config.sets]])
    for own in pairs:
        add(
            [
                own.case.key,
                own.case.tags,
                own.pair.key,
                own.pair.reference,
                own.pair.candidate,
                own.pair.kind,
                own.pair.axis,
            ]
        )
        add(own.grade)
    for case in sorted(answers):
        for trial, answer in sorted(answers[case].items(), key=lambda row: row[0].step):
            add([case, trial.step.key, answer.total_reference, answer.total_candidate, answer.decision, answer.met])
    return digest.hexdigest()
