"""Reads of runs of coverage: lists, progress, the queue of physicians, and one case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import MD5, Concat

from accounts.models import User
from consilium.statistics.intent_alignment import Extent
from rubrics.models import Benchmark, Case
from scoring.models import EndpointKind, PipelineRun, PipelineStep
from validation.access import decides_in
from validation.coverage.config import CoverageConfig, coverage_config, endpoint_kind_of
from validation.coverage.content import CaseContent, Point, step_name
from validation.coverage.inputs import EXTENT_OF
from validation.models import CoverageDecision, CoverageRun, SkippedQuestion
from validation.models.coverage import BACK, FORWARD
from validation.own_counts import OwnCounts


def runs_on(benchmark: Benchmark) -> QuerySet[CoverageRun]:
    """The runs of a benchmark, the newest first, without their settings, which hold all texts."""
    return CoverageRun.objects.filter(benchmark=benchmark).select_related("created_by").defer("config")


def reported_runs(benchmark: Benchmark, *, with_settings: bool = False, replays: bool = False) -> QuerySet[CoverageRun]:
    """The runs that a report may be about: those that have ended and brought an answer, and are no replay.

    With ``replays`` they are there as well: a command may write their files, to compare them with those of their run.
    """
    runs = CoverageRun.objects.filter(benchmark=benchmark).exclude(status__in=PipelineRun.LIVE)
    if not replays:
        runs = runs.filter(replay=False)
    # A join with the steps would read the settings, which hold all texts, once for each of thousands.
    answered = PipelineStep.objects.filter(run=OuterRef("pk"), state=PipelineStep.State.DONE)
    runs = runs.filter(Exists(answered)).order_by("-created_at", "-pk")
    return runs if with_settings else runs.defer("config")


# The queue ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many decisions of a run are made, and how many there are."""

    decided: int
    total: int

    @property
    def open(self) -> int:
        """How many are not made."""
        return self.total - self.decided


def queue_counts(runs: list[int]) -> dict[int, QueueCounts]:
    """The decisions of each run by its pk, on cases that count; one query."""
    rows = (
        CoverageDecision.objects.filter(run__in=runs)
        .filter(~Q(answer="") | Q(step__case__excluded_at=None))
        .order_by()
        .values_list("run")
        .annotate(decided=Count("pk", filter=~Q(answer="")), total=Count("pk"))
    )
    counts = {run: QueueCounts(decided, total) for run, decided, total in rows}
    return {run: counts.get(run, QueueCounts(0, 0)) for run in runs}


def skips_of(run: CoverageRun) -> QuerySet[SkippedQuestion]:
    """The open questions of a run that physicians skipped, on cases that count: one row for each physician."""
    rows = SkippedQuestion.objects.filter(
        decision__run=run, decision__answer="", decision__step__case__excluded_at=None
    )
    return rows.select_related("decision__step__case", "physician").order_by("skipped_at", "pk")


def questions_about_points(run: CoverageRun) -> int:
    """How many answers about gold points physicians were asked to decide on, on cases that count."""
    return CoverageDecision.objects.filter(run=run, stage=FORWARD, step__case__excluded_at=None).count()


def open_decisions(benchmark: Benchmark, user: User | AnonymousUser) -> QuerySet[CoverageDecision]:
    """What waits for a decision, in an order of the reader's own: two people seldom look at the same at once."""
    rows = CoverageDecision.objects.open_to(user.pk).filter(run__benchmark=benchmark)
    own: QuerySet[CoverageDecision] = rows.annotate(place=MD5(Concat(F("public_id"), Value(f" {user.pk}")))).order_by(
        "run_id", "place"
    )
    return own


def own_decisions(benchmark: Benchmark, user: User | AnonymousUser) -> QuerySet[CoverageDecision]:
    """What ``user`` has decided, the newest first."""
    decided = CoverageDecision.objects.decided().filter(run__benchmark=benchmark, decided_by=user.pk)
    return decided.order_by("-decided_at", "-pk")


def own_counts(benchmark: Benchmark, user: User | AnonymousUser) -> OwnCounts:
    """The counts of the queue of ``user``; three queries."""
    unread = CoverageDecision.objects.filter(run__benchmark=benchmark).unread_by(user.pk)
    return OwnCounts(own_decisions(benchmark, user).count(), open_decisions(benchmark, user).count(), unread.count())


def open_by_benchmark(user: User | AnonymousUser) -> QuerySet[CoverageDecision, Any]:
    """Benchmark (id), and how much waits there for a decision of ``user``."""
    waiting = CoverageDecision.objects.open_to(user.pk)
    waiting = waiting.filter(run__benchmark__in=Benchmark.objects.filter(decides_in(user)))
    return waiting.order_by().values_list("run__benchmark").annotate(n=Count("pk"))


@dataclass(frozen=True)
class Question:
    """What a physician is asked: a point, and the list that it is held against. Nothing says where either is from."""

    decision: CoverageDecision
    case: Case
    point: Point
    criteria: tuple[Point, ...]

    @property
    def is_about_criterion(self) -> bool:
        """Whether a criterion is held against the gold points."""
        return self.decision.stage == BACK

    @property
    def answers(self) -> list[tuple[str, str]]:
        """The answers to choose from, with their labels."""
        allowed = self.decision.OF_CRITERIA if self.is_about_criterion else self.decision.OF_POINTS
        labels = dict(CoverageDecision.Answer.choices)
        return [(answer, str(labels[answer])) for answer in allowed]


def question_of(decision: CoverageDecision) -> Question:
    """The question with its texts."""
    step = PipelineStep.objects.select_related("case").get(pk=decision.step_id)
    config = coverage_config(decision.run.config, may_call=False)
    point, criteria = config.content.question(config.place_of[step.case.key], step_name_of(step))
    return Question(decision, step.case, point, criteria)


def step_name_of(step: PipelineStep) -> Any:
    """The name of a step."""
    series, _dot, number = step.key.partition(".")
    return step_name(step.stage, series, int(number))


# One case ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    """What is said of a point in one set: by the model, and by a physician (``decided``, in words ``decision``)."""

    extent: str
    by: list[tuple[int, str]]
    why: str
    decision: str
    decided: str = ""


@dataclass(frozen=True)
class CasePoint:
    """A gold point, or a criterion of a set, with what is said of it."""

    number: int
    point: Point
    answers: list[Answered]


@dataclass(frozen=True)
class CaseCoverage:
    """A case of a run: its gold points in each measured set, and the criteria of each set that no gold point has."""

    case: Case
    config: CoverageConfig
    content: CaseContent
    points: list[CasePoint]
    unmatched: list[tuple[str, list[CasePoint]]]
    by_rules: bool  # in the run, or in one of its sets

    @property
    def names(self) -> list[str]:
        """The names of the measured sets."""
        return [own.name for own in self.config.sets]


def case_coverage(run: CoverageRun, case: Case) -> CaseCoverage | None:
    """One case of a run; None where it is not in it."""
    config: CoverageConfig = coverage_config(run.config, may_call=False)
    place = config.place_of.get(case.key)
    if place is None:
        return None
    content = config.content.cases[place]
    rows = run.steps.filter(case=case).select_related("coverage_decision")
    steps = {(step.stage, step.key): step for step in rows}
    labels = dict(CoverageDecision.Answer.choices)

    def answered(stage: str, series: str, number: int, criteria: tuple[Point, ...]) -> Answered:
        step = steps.get((stage, step_name(stage, series, number).key))
        output = (step.output if step else None) or {}
        decision = getattr(step, "coverage_decision", None)
        return Answered(
            extent=output.get("extent", "missing"),
            by=[(n, criteria[n - 1].text) for n in output.get("by", []) if n <= len(criteria)],
            why=output.get("why", ""),
            decision=str(labels.get(decision.answer, "")) if decision else "",
            decided=decision.answer if decision else "",
        )

    sets = range(len(config.sets))
    points = [
        CasePoint(n, point, [answered(FORWARD, str(own), n, content.sets[own]) for own in sets])
        for n, point in enumerate(content.gold, start=1)
    ]
    unmatched = []
    for own in sets:
        criteria = [
            CasePoint(n, point, [answered(BACK, str(own), n, content.gold)])
            for n, point in enumerate(content.sets[own], start=1)
        ]
        unmatched.append((config.sets[own].name, [each for each in criteria if each.answers[0].extent != "full"]))
    by_rules = endpoint_kind_of(run, config.every_set) == EndpointKind.RULES
    return CaseCoverage(case, config, content, points, unmatched, by_rules)


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case in the list of a run: how many of its gold points each set covers in full."""

    case: Case
    n_points: int
    full: list[int]


def case_rows(run: CoverageRun, n_sets: int) -> list[CaseRow]:
    """The cases of a run in the order of import, from its steps; two queries."""
    counts: dict[int, dict[str, list[int]]] = {}
    rows = run.steps.filter(stage=FORWARD).order_by().values_list("case", "key", "output__extent")
    for case, key, extent in rows.iterator(5000):
        own = counts.setdefault(case, {}).setdefault(key.partition(".")[0], [0, 0])
        own[0] += 1
        own[1] += EXTENT_OF.get(extent) == Extent.FULL
    cases = Case.objects.filter(pk__in=counts).order_by("pk").only("public_id", "key", "benchmark")
    return [
        CaseRow(
            case,
            max((own[0] for own in counts[case.pk].values()), default=0),
            [counts[case.pk].get(str(place), [0, 0])[1] for place in range(n_sets)],
        )
        for case in cases
    ]
