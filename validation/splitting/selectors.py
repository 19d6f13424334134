"""Reads of runs that split criteria: their list, and the points of their cases as they are now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, OuterRef, QuerySet

from accounts.models import User
from accounts.unread_cases import unread_by
from rubrics.models import AuthoringRole, Benchmark, Case
from scoring.models import PipelineStep
from validation.coverage.content import Point, Points
from validation.models import PointsCorrection, RubricSet, SplittingRun
from validation.splitting.config import splitting_config
from validation.splitting.content import Statement, points_as_they_are

COLUMNS = ("case", "criterion", "point", "text", "points", "axis", "criterion_text", "state", "fault", "corrected_by")
TEXT_COLUMNS = ("case", "text", "axis", "criterion_text", "state", "fault", "corrected_by")


def runs_on(benchmark: Benchmark) -> QuerySet[SplittingRun]:
    """The runs of a benchmark, the newest first, without their settings, which hold all criteria."""
    return SplittingRun.objects.filter(benchmark=benchmark).select_related("created_by").defer("config")


def sets_of(run: SplittingRun) -> QuerySet[RubricSet]:
    """The sets that the points of a run were frozen as, the newest first."""
    return RubricSet.objects.finished().filter(split_run=run.pk)


@dataclass(frozen=True)
class CasePoints:
    """A case with its criteria in the set, and its points: those of an author, else of the answer, else the criteria.

    ``fault``: why the criteria stayed as they are, empty where they were split or nothing was asked yet.
    """

    case: Case
    criteria: Points
    points: list[Statement]
    answered: bool
    fault: str = ""
    correction: PointsCorrection | None = field(default=None, compare=False)

    @property
    def state(self) -> str:
        """corrected, split, whole (the criteria as they are), or due."""
        if self.correction is not None:
            return "corrected"
        return ("whole" if self.fault else "split") if self.answered else "due"

    @property
    def is_split(self) -> bool:
        """Whether the points come from a usable answer or an author."""
        return self.state in ("split", "corrected")

    @property
    def version(self) -> int:
        """Of the correction; 0 without one."""
        return self.correction.version if self.correction else 0

    @property
    def by_criterion(self) -> list[tuple[int, Point, list[str]]]:
        """Each criterion with its number and the texts of its points."""
        return [
            (number, criterion, [point.text for point in self.points if point.criterion == number])
            for number, criterion in enumerate(self.criteria, 1)
        ]


def points_of_run(run: SplittingRun, *, case: Case | None = None) -> list[CasePoints]:
    """The points of each case of a run in the order of import, or of one case; three queries."""
    settings = splitting_config(run.config, may_call=False)
    steps = run.steps.select_related("case").defer("case__conversation", "case__reference_answer", "case__metadata")
    corrections = PointsCorrection.objects.filter(run=run).select_related("saved_by")
    if case is not None:
        steps, corrections = steps.filter(case=case), corrections.filter(case=case)
    corrected = {row.case_id: row for row in corrections}
    return [
        _points_of(step, settings.criteria[step.case.key], corrected.get(step.case_id))
        for step in steps.order_by("case_id")
        if step.case.key in settings.criteria
    ]


def _points_of(step: PipelineStep, criteria: Points, correction: PointsCorrection | None) -> CasePoints:
    output: dict[str, Any] = step.output or {}
    if correction is not None:
        points = [Statement.of(own) for own in correction.points]
    elif output:
        points = [Statement.of(own) for own in output["points"]]
    else:
        points = points_as_they_are(each.text for each in criteria)
    ended = step.state in (PipelineStep.State.DONE, PipelineStep.State.FAILED)
    return CasePoints(step.case, criteria, points, ended, output.get("fault", step.error_kind), correction)


@dataclass(frozen=True, slots=True)
class PointCounts:
    """How far the criteria of a run are split."""

    cases: int
    criteria: int
    points: int
    whole: int
    corrected: int


def counts_of_points(cases: list[CasePoints]) -> PointCounts:
    """The counts of a run; ``whole`` are cases whose criteria stay as they are, also where nothing was asked yet."""
    return PointCounts(
        cases=len(cases),
        criteria=sum(len(own.criteria) for own in cases),
        points=sum(len(own.points) for own in cases),
        whole=sum(not own.is_split for own in cases),
        corrected=sum(own.correction is not None for own in cases),
    )


def point_rows(cases: list[CasePoints]) -> Iterator[tuple[Any, ...]]:
    """A row of `COLUMNS` for each point; ``point`` counts within the case."""
    for own in cases:
        corrected_by = str(own.correction.saved_by) if own.correction else ""
        for number, point in enumerate(own.points, 1):
            criterion = own.criteria[point.criterion - 1]
            yield (
                *(own.case.key, point.criterion, number, point.text, criterion.points, criterion.axis, criterion.text),
                *(own.state, own.fault, corrected_by),
            )


def _correctable(user: User | AnonymousUser) -> QuerySet[SplittingRun]:
    authors = AuthoringRole.objects.filter(
        user=user.pk, active=True, role=AuthoringRole.Role.AUTHOR, benchmark=OuterRef("benchmark")
    )
    return SplittingRun.objects.all().correctable().filter(Exists(authors))


def correctable_by_benchmark(user: User | AnonymousUser) -> QuerySet[SplittingRun, Any]:
    """Benchmark (id), and how many runs ``user`` is an author of; `runs_to_correct` has those that wait."""
    return _correctable(user).order_by().values_list("benchmark").annotate(n=Count("pk"))


def runs_to_correct(user: User | AnonymousUser) -> list[tuple[SplittingRun, int]]:
    """The newest run of each benchmark that ``user`` is an author of, until it is frozen, and how many of its cases are
    in a language that ``user`` reads; none without such a case.
    """
    rows = _correctable(user).order_by("benchmark_id", "-created_at", "-pk")
    frozen = Exists(RubricSet.objects.filter(split_run=OuterRef("pk")))
    newest = rows.annotate(is_frozen=frozen).distinct("benchmark_id").select_related("benchmark").defer("config")
    runs = [run for run in newest if not run.is_frozen]
    readable = [(run, run.steps.exclude(unread_by(user.pk or 0, "case")).values("case").distinct()) for run in runs]
    return [(run, n_cases) for run, cases in readable if (n_cases := cases.count())]
