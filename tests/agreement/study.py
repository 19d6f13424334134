"""A small study for the tests of agreement: two groups and a judge decide on the responses of two candidates."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.utils import timezone

from accounts.models import User
from annotation.models import Assignment, Decision, ExpertGroup
from rubrics.models import Benchmark, Candidate, Response, Rubric, RubricItem
from scoring.models import Judge, JudgeRun, JudgeRunItem, Verdict
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    JudgeFactory,
    JudgeRunFactory,
    ResponseFactory,
    UserFactory,
    make_batch,
)

Pair = tuple[int, int]


@dataclass
class Study:
    """A benchmark with an admin; ``outcomes[name]`` are a rater's outcomes of each (response id, criterion id)."""

    benchmark: Benchmark
    admin: User
    candidates: list[Candidate]
    groups: dict[str, ExpertGroup] = field(default_factory=dict)
    outcomes: dict[str, dict[Pair, str]] = field(default_factory=dict)

    @cached_property
    def criteria(self) -> dict[int, list[int]]:
        """Ids of the criteria of each case, in the order of its rubric."""
        ids_by_case: dict[int, list[int]] = {}
        items = RubricItem.objects.filter(rubric__case__benchmark=self.benchmark).order_by("rubric", "position")
        for case, criterion in items.values_list("rubric__case", "criterion"):
            ids_by_case.setdefault(case, []).append(criterion)
        return ids_by_case

    def responses(self) -> list[Response]:
        """All responses, in order."""
        return list(Response.objects.filter(case__benchmark=self.benchmark).order_by("pk"))

    def group(self, name: str, outcome: Callable[[Pair], str], *, draw: int | None = None) -> ExpertGroup:
        """A group of one annotator who decides everything as ``outcome`` says, or of so many responses drawn."""
        group = ExpertGroupFactory(benchmark=self.benchmark, name=name, annotators=1)
        self.groups[name], self.outcomes[name] = group, {}
        batch = make_batch(group, by=self.admin, draw=draw)
        now = timezone.now()
        decisions = []
        for assignment in Assignment.objects.filter(batch=batch):
            for criterion in self.criteria[assignment.case_id]:
                pair = (assignment.response_id, criterion)
                vote = self.outcomes[name][pair] = outcome(pair)
                decisions.append(
                    Decision(
                        assignment=assignment, criterion_id=criterion, outcome=vote, created_at=now, updated_at=now
                    )
                )
        Decision.objects.bulk_create(decisions)
        Assignment.objects.filter(batch=batch).update(status="accepted", submitted_at=now, accepted_at=now)
        return group

    def judge(
        self, name: str, outcome: Callable[[Pair], str], *, replicates: Sequence[Callable[[Pair], str]] = ()
    ) -> JudgeRun:
        """A judge with a finished run over everything; an empty outcome is a verdict that never came.

        A judge has no “cannot assess”; it says not met. ``replicates`` are its further answers to the same questions.
        """
        judge = Judge.objects.filter(benchmark=self.benchmark, name=name).first() or JudgeFactory(
            benchmark=self.benchmark, name=name, kind=Judge.Kind.IMPORTED
        )
        run: JudgeRun = JudgeRunFactory(judge=judge, imported=True, replicates=1 + len(replicates))
        self.outcomes[name] = {}
        verdicts, now = [], timezone.now()
        rubrics = dict(Rubric.objects.filter(case__benchmark=self.benchmark).values_list("case", "pk"))
        responses = self.responses()
        JudgeRunItem.objects.bulk_create(
            JudgeRunItem(run=run, response=response, rubric_id=rubrics[response.case_id]) for response in responses
        )
        for response in responses:
            for criterion in self.criteria[response.case_id]:
                pair = (response.pk, criterion)
                verdict = self.outcomes[name][pair] = outcome(pair).replace("cannot_assess", "not_met")
                for replicate, answer in enumerate([verdict, *(other(pair) for other in replicates)]):
                    if answer:
                        verdicts.append(
                            Verdict(
                                run=run,
                                response=response,
                                criterion_id=criterion,
                                replicate=replicate,
                                outcome=answer,
                                created_at=now,
                            )
                        )
        Verdict.objects.bulk_create(verdicts)
        return run


def coin(seed: int, *outcomes: str) -> Callable[[Pair], str]:
    """Outcomes by chance, the same for the same pair: ``coin(1, "met", "met", "not_met")`` says met two times in three.

    The chance is of the order in which pairs are asked about, since their ids differ from one run to the next.
    """
    rng = random.Random(seed)
    drawn: dict[Pair, str] = {}

    def outcome(pair: Pair) -> str:
        return drawn.setdefault(pair, rng.choice(outcomes))

    return outcome


def make_study(
    *,
    cases: int = 12,
    points: tuple[int, ...] = (1, 1, 1, 1, 1),
    candidates: tuple[str, ...] = ("alpha", "beta"),
    tags: Sequence[Sequence[str]] | None = None,
    samples: int = 1,
) -> Study:
    """A benchmark whose candidates have answered every case so many times; nobody has decided anything yet.

    ``tags`` are those of each criterion.
    """
    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    candidate_rows = [CandidateFactory(benchmark=benchmark, name=name) for name in candidates]
    for n in range(cases):
        case = CaseFactory(
            benchmark=benchmark,
            key=f"case-{n:02d}",
            rubric=list(points),
            rubric__tags=tags,
            difficulty=("low", "high")[n % 2],
            tags=["theme:even" if n % 2 == 0 else "theme:odd"],
        )
        for candidate in candidate_rows:
            for sample in range(samples):
                ResponseFactory(case=case, candidate=candidate, sample=sample)
    return Study(benchmark, admin, candidate_rows)


def noisy(study: Study, of: str, seed: int, flips: float) -> Callable[[Pair], str]:
    """What another rater said, the other way round in a share of the pairs."""
    rng = random.Random(seed)
    other = {"met": "not_met", "not_met": "met"}

    def outcome(pair: Pair) -> str:
        vote = study.outcomes[of][pair]
        return other.get(vote, vote) if rng.random() < flips else vote

    return outcome
