"""Reads what the figures of a run of coverage rest on: answers, decisions of physicians, and slices, as arrays."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from numpy.typing import NDArray

from consilium.statistics.intent_alignment import Extent
from rubrics.models import Case
from scoring.models import EndpointKind, PipelineStep
from validation.coverage.config import CoverageConfig, coverage_config, endpoint_kind_of
from validation.coverage.content import ITSELF, SHIFTED, Point, step_name
from validation.files.coverage_reading import CoverageFile
from validation.files.coverage_tables import Backward
from validation.files.table_rows import ALL, nfc, numbered
from validation.models import CoverageDecision, CoverageRun
from validation.models.coverage import BACK, FORWARD

EXTENT_OF = {"full": Extent.FULL, "partly": Extent.PARTIAL, "none": Extent.NONE, "invalid": Extent.INVALID}
Masks = dict[str, NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class GoldPoint:
    """A gold point with its case; ``number`` counts from 1 within it.

    ``criterion``: the number of the criterion that it is a point of, where the gold set is split; else 0.
    """

    case: str
    number: int
    point: Point
    criterion: int = 0

    @property
    def name(self) -> str:
        """Its name within the case: names sort as numbers do."""
        return f"{self.number:03d}"


@dataclass(frozen=True, slots=True)
class SetAnswer:
    """The answer to one step, and what a physician decided."""

    extent: Extent = Extent.MISSING
    by: tuple[int, ...] = ()
    why: str = ""
    decision: str = ""


NO_ANSWER = SetAnswer()


@dataclass(frozen=True, slots=True)
class SetCriterionAnswer:
    """A criterion of a measured set with the answer about it."""

    case: str
    place: int  # of the set
    number: int
    point: Point
    answer: SetAnswer


@dataclass(frozen=True, eq=False)
class CoverageInputs:
    """A run as arrays. Gold points are sorted by case and number, as `coverage_file` sorts the rows of a file."""

    run: CoverageRun
    config: CoverageConfig
    gold: list[GoldPoint]
    answers: dict[str, list[SetAnswer]]  # by series, in the order of the gold points
    criteria: list[SetCriterionAnswer]
    tags: dict[str, frozenset[str]]  # by case
    digest: str

    @property
    def endpoint_kind(self) -> EndpointKind:
        """*rules* where rules answered in the run, or split or drafted the criteria of one of its sets."""
        return endpoint_kind_of(self.run, self.config.every_set)

    @property
    def names(self) -> list[str]:
        """The names of the measured sets."""
        return [own.name for own in self.config.sets]

    def series_of(self, place: int) -> list[SetAnswer]:
        """The answers about a measured set."""
        return self.answers[str(place)]

    @cached_property
    def file(self) -> CoverageFile:
        """The measured sets, as the file of `coverage_file` would hold them."""
        return self._file({name: str(place) for place, name in enumerate(self.names)})

    @cached_property
    def controls(self) -> list[tuple[str, str, str]]:
        """The controls: *itself* or *shifted*, the name of the set, and the series."""
        rows = [("itself", self.config.gold.name, ITSELF)]
        shifted = [("shifted", name, f"{SHIFTED}{place}") for place, name in enumerate(self.names)]
        return rows + (shifted if self.config.content.has_shifted else [])

    def control_file(self) -> CoverageFile:
        """The controls in the same form; the columns are called by their series."""
        return self._file({series: series for _kind, _name, series in self.controls})

    @property
    def is_split(self) -> bool:
        """Whether the gold points are single statements of criteria."""
        return self.config.gold.split is not None

    def criterion_file(self) -> CoverageFile:
        """The measured sets over the criteria that a split gold set comes from (`extent_of_criterion`)."""
        groups: dict[tuple[str, int], list[int]] = defaultdict(list)
        for place, own in enumerate(self.gold):
            groups[own.case, own.criterion].append(place)
        first = [self.gold[places[0]] for places in groups.values()]
        cases, case = numbered([own.case for own in first])
        extents = [
            [extent_of_criterion([answers[place].extent for place in places]) for places in groups.values()]
            for answers in map(self.series_of, range(len(self.names)))
        ]
        return CoverageFile(
            sets=self.names,
            case=case,
            n_cases=len(cases),
            points=np.array([own.point.points for own in first], dtype=np.float64),
            extent=np.array(extents, dtype=np.int64).T,
            slices=self._masks([(own.case, own.point) for own in first]),
        )

    def _file(self, series: dict[str, str]) -> CoverageFile:
        cases, case = numbered([own.case for own in self.gold])
        extents = [[answer.extent for answer in self.answers[own]] for own in series.values()]
        return CoverageFile(
            sets=list(series),
            case=case,
            n_cases=len(cases),
            points=np.array([own.point.points for own in self.gold], dtype=np.float64),
            extent=np.array(extents, dtype=np.int64).T,
            slices=self.slices,
        )

    @cached_property
    def slices(self) -> Masks:
        """The slices of gold points: all, by axis, by sign, and by tag of the case."""
        return self._masks([(own.case, own.point) for own in self.gold])

    def _masks(self, rows: Sequence[tuple[str, Point]]) -> Masks:
        masks: Masks = {ALL: np.ones(len(rows), dtype=bool)}
        columns: dict[str, list[Collection[str]]] = {
            "axis": [{point.axis} - {""} for _case, point in rows],
            "sign": [{point.sign} for _case, point in rows],
            "tag": [self.tags[case] for case, _point in rows],
        }
        for column, values in columns.items():
            for value in sorted({value for own in values for value in own}):
                masks[f"{column}:{value}"] = np.array([value in own for own in values], dtype=bool)
        return masks

    def backward(self) -> dict[tuple[str, str], Backward]:
        """The criteria of each measured set in each slice of gold points."""
        masks = self._masks([(own.case, own.point) for own in self.criteria])
        place = np.array([own.place for own in self.criteria], dtype=np.int64)
        matched = np.array([own.answer.extent == Extent.FULL for own in self.criteria], dtype=bool)
        sound = np.array([own.answer.decision == "needed" for own in self.criteria], dtype=bool) & ~matched
        undecided = np.array([not own.answer.decision for own in self.criteria], dtype=bool) & ~matched
        nothing = np.zeros(len(self.criteria), dtype=bool)
        counts: dict[tuple[str, str], Backward] = {}
        for number, name in enumerate(self.names):
            for slice_name in self.slices:
                own = masks.get(slice_name, nothing) & (place == number)
                counts[name, slice_name] = Backward(
                    *(int(np.count_nonzero(own & each)) for each in (own, matched, sound, undecided))
                )
        return counts


def extent_of_criterion(extents: Collection[Extent]) -> Extent:
    """How far a criterion is covered by its points: in full if each is, partly if any is so at all.

    Else not at all if one of them is not, invalid if one is, and missing where no answer came.
    """
    if all(extent == Extent.FULL for extent in extents):
        return Extent.FULL
    if min(extents) <= Extent.PARTIAL:
        return Extent.PARTIAL
    return min(extents)


def read_coverage(run: CoverageRun) -> CoverageInputs:
    """The answers and decisions of a run, on cases that count; a fixed number of queries."""
    config = coverage_config(run.config, may_call=False)
    decisions = dict(CoverageDecision.objects.filter(run=run).decided().values_list("step", "answer"))
    steps = run.steps.filter(state=PipelineStep.State.DONE).order_by()
    rows = steps.values_list(
        *("pk", "case__key", "stage", "key"),
        KeyTextTransform("extent", "output"),
        KeyTransform("by", "output"),
        KeyTextTransform("why", "output"),
    )
    # Physicians decide on answers that are missing as well, so decisions are read for steps in any state.
    undone = run.steps.filter(coverage_decision__in=CoverageDecision.objects.filter(run=run).decided())
    without = undone.exclude(state=PipelineStep.State.DONE).order_by().values_list("pk", "case__key", "stage", "key")
    by_case: dict[str, dict[tuple[str, str], SetAnswer]] = defaultdict(dict)
    for pk, case, stage, key, extent, by, why in rows.iterator(5000):
        by_case[case][stage, key] = SetAnswer(EXTENT_OF[extent], tuple(by or ()), why or "", decisions.get(pk, ""))
    for pk, case, stage, key in without:
        by_case[case][stage, key] = SetAnswer(decision=decisions[pk])
    content = config.content
    excluded = set(
        Case.with_stubs.filter(benchmark=run.benchmark_id, key__in=config.place_of)
        .exclude(excluded_at=None)
        .values_list("key", flat=True)
    )
    counting = [case for case in content.cases if case.key not in excluded]
    ordered = sorted(counting, key=lambda case: nfc(case.key))
    gold = [
        GoldPoint(case.key, n, point, case.criteria[n - 1] if case.criteria else 0)
        for case in ordered
        for n, point in enumerate(case.gold, start=1)
    ]

    def answer(case: str, stage: str, series: str, number: int) -> SetAnswer:
        name = step_name(stage, series, number)
        return by_case[case].get((name.stage, name.key), NO_ANSWER)

    answers = {series: [answer(own.case, FORWARD, series, own.number) for own in gold] for series in content.series}
    criteria = [
        SetCriterionAnswer(case.key, place, number, point, answer(case.key, BACK, str(place), number))
        for case in ordered
        for place, own in enumerate(case.sets)
        for number, point in enumerate(own, start=1)
    ]
    # As they were when the run began, so that a replay elsewhere has the same slices.
    tags = {case.key: frozenset(case.tags) for case in config.cases if case.key not in excluded}
    return CoverageInputs(run, config, gold, answers, criteria, tags, _digest(config, answers, criteria, tags))


def _digest(
    config: CoverageConfig,
    answers: dict[str, list[SetAnswer]],
    criteria: Iterable[SetCriterionAnswer],
    tags: dict[str, frozenset[str]],
) -> str:
    """SHA-256 of all that figures and lists rest on."""
    digest = hashlib.sha256()

    def add(values: Any) -> None:
        digest.update(json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode())

    add([config.gold.digest, [[own.name, own.digest] for own in config.sets]])
    add([[case, sorted(own)] for case, own in sorted(tags.items())])
    for series, own in answers.items():
        add([series, [[int(each.extent), each.by, each.why, each.decision] for each in own]])
    add([[int(own.answer.extent), own.answer.by, own.answer.why, own.answer.decision] for own in criteria])
    return digest.hexdigest()
