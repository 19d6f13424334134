"""Benchmarks whose responses are refined, and verdicts on them that were written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from accounts.models import User
from consilium.llm.rules.names import MODEL
from rubrics.models import Benchmark, Candidate, Case, Criterion, Response, Rubric, RubricItem
from scoring.models import Judge, JudgeRun, JudgeRunItem, Verdict
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, JudgeFactory, ResponseFactory, UserFactory
from tests.validation.coverage.coverage_world import QUICK, Texts, make_set
from tests.validation.files.made_up import BASE, REFINED
from tests.validation.pairs.pair_world import work
from validation.models import RefinementRun, RubricSet
from validation.refinement.building import Order
from validation.refinement.services import create_run

GOLD: Texts = [
    ("Advises drinking plenty of water every day", 5, "completeness"),
    ("Asks how long the cough has lasted", 3, "context awareness"),
    ("Recommends antibiotics without examination", -6, "accuracy"),
    ("Names chest pain as a reason for urgent care", 8, "accuracy"),
]
GUIDE: Texts = [
    ("Mentions honey for the throat at night.", 2, "completeness"),
    ("Explains that most colds pass within ten days.", 4, "accuracy"),
]
BASE_TEXT = "Most colds get better on their own. Rest helps."


@dataclass
class RefinementWorld:
    """A benchmark with base responses and a published rubric for each case, and an admin."""

    benchmark: Benchmark
    admin: User
    base: Candidate
    sets: dict[str, RubricSet] = field(default_factory=dict)

    def begin(self, url: str, *names: str, model: str = MODEL, **more: Any) -> RefinementRun:
        """A run guided by these sets; ``more`` are fields of the order, and ``config``."""
        config = {"endpoint": url, "model": model, **QUICK, **more.pop("config", {})}
        budget = more.pop("budget", None)
        order = Order(candidate=self.base.name, sets=[self.sets[name] for name in names], **more)
        return create_run(
            benchmark=self.benchmark, order=order, config=config, by=self.admin, at=timezone.now(), budget=budget
        )

    def run(self, url: str, *names: str, **more: Any) -> RefinementRun:
        """The same, worked to its end."""
        return RefinementRun.objects.get(pk=work(self.begin(url, *names, **more)).pk)

    def refined(self, run: RefinementRun, arm: int = 0) -> list[Response]:
        """The responses of an arm, in the order of import of their cases."""
        rows = Response.objects.filter(candidate__name=run.derived_names[arm], candidate__benchmark=self.benchmark)
        return list(rows.select_related("derived_from", "candidate").order_by("case_id"))

    def judged(
        self, run: RefinementRun, met: Callable[[Response, RubricItem], bool], *, config: dict[str, Any] | None = None
    ) -> JudgeRun:
        """A finished run of a judge over all bases and refined texts, with these verdicts."""
        judge = JudgeFactory(benchmark=self.benchmark, name="Grader", kind=Judge.Kind.IMPORTED)
        now = timezone.now()
        graded: JudgeRun = JudgeRun.objects.create(
            benchmark=self.benchmark, judge=judge, status="finished", created_at=now, finished_at=now,
            snapshot={"name": judge.name, "version": 1, "kind": judge.kind, "config": config or {}},
            frame={"derived": True},
        )  # fmt: skip
        names = [self.base.name, *run.derived_names]
        verdicts = []
        for response in Response.objects.filter(candidate__name__in=names, case__benchmark=self.benchmark):
            rubric = Rubric.objects.current().get(case=response.case_id)
            JudgeRunItem.objects.create(run=graded, response=response, rubric=rubric)
            verdicts += [
                Verdict(
                    run=graded, response=response, criterion=item.criterion, created_at=now,
                    outcome="met" if met(response, item) else "not_met",
                )
                for item in rubric.items.select_related("criterion")
            ]  # fmt: skip
        Verdict.objects.bulk_create(verdicts)
        JudgeRun.objects.filter(pk=graded.pk).update(expected=len(verdicts))
        return graded


def publish(case: Case, criteria: Texts, version: int = 1) -> Rubric:
    """A published rubric of a case."""
    rubric = Rubric.objects.create(case=case, track="gold", provenance="test", version=version)
    for position, (text, points, axis) in enumerate(criteria, start=1):
        criterion = Criterion.objects.create(case=case, text=text)
        tags = [f"axis:{axis}"] if axis else []
        RubricItem.objects.create(rubric=rubric, criterion=criterion, position=position, points=points, tags=tags)
    rubric.status, rubric.published_at = Rubric.Status.PUBLISHED, timezone.now()
    rubric.save(update_fields=["status", "published_at"])
    return rubric


def make_world(
    slug: str,
    criteria: Texts = GOLD,
    *,
    cases: int = 3,
    sets: Mapping[str, Texts] | None = None,
    text: str = BASE_TEXT,
    **case_fields: Any,
) -> RefinementWorld:
    """Cases with one response of the candidate *Base* each."""
    admin = UserFactory()
    benchmark = BenchmarkFactory(slug=slug, admin=admin)
    base = CandidateFactory(benchmark=benchmark, name="Base")
    world = RefinementWorld(benchmark, admin, base)
    keys = [f"c{number}" for number in range(cases)]
    for key in keys:
        case = CaseFactory(benchmark=benchmark, key=key, rubric=0, **case_fields)
        publish(case, criteria)
        ResponseFactory(case=case, candidate=base, text=text)
    world.sets = {name: make_set(benchmark, name, dict.fromkeys(keys, own)) for name, own in (sets or {}).items()}
    return world


# Criteria whose points give every score from 0 to 100, over two axes.
HUNDRED: Texts = [
    (f"Names sign {number}", points, "accuracy" if number % 2 else "completeness")
    for number, points in enumerate((10,) * 9 + (5, 2, 2, 1))
]


def met_for(score: int) -> set[int]:
    """The positions of criteria of `HUNDRED` that add up to a score."""
    left, chosen = score, set()
    for position, (_text, points, _axis) in enumerate(HUNDRED, start=1):
        if points <= left:
            left -= points
            chosen.add(position)
    assert left == 0
    return chosen


def worked_verdict(world: RefinementWorld) -> Callable[[Response, RubricItem], bool]:
    """Verdicts that give bases and refined texts the scores of the worked example, by the number of the case."""

    def met(response: Response, item: RubricItem) -> bool:
        scores = BASE if response.candidate_id == world.base.pk else REFINED
        return item.position in met_for(scores[int(response.case.key.removeprefix("c"))])

    return met
