"""A group that writes responses, for the tests of its pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from accounts.models import User
from annotation.models import Batch, ExpertGroup, WritingTask
from annotation.writing.batches import create_writing_batch
from annotation.writing.writing_plan import WritingFilter, WritingOrder, WritingPlan, plan_writing
from rubrics.models import Benchmark, Candidate, Case
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
)

FILTERS = ("tags", "languages", "difficulties", "skip_written", "draw")


@dataclass
class WritingWorld:
    benchmark: Benchmark
    admin: User
    group: ExpertGroup
    cases: dict[str, Case]
    models: list[Candidate]

    @property
    def people(self) -> list[User]:
        return self.group.people["annotator"]  # type: ignore[attr-defined, no-any-return]

    def plan(self, **terms: Any) -> WritingPlan:
        return plan_writing(**self._with_defaults(terms))

    def give_out(self, **terms: Any) -> Batch:
        return create_writing_batch(by=self.admin, at=timezone.now(), **self._with_defaults(terms))

    def _with_defaults(self, terms: dict[str, Any]) -> dict[str, Any]:
        chosen = {name: terms.pop(name) for name in FILTERS if name in terms}
        order = WritingOrder(**{"group": self.group, "title": "Our own answers", "seed": 3, **terms})
        return {"order": order, "filter": WritingFilter(**chosen)}

    @staticmethod
    def task(batch: Batch, user: User, position: int = 1) -> WritingTask:
        rows = WritingTask.objects.select_related("batch__writing_terms", "case")
        return rows.get(batch=batch, writer=user, position=position)


def build_writing_world(*, annotators: int = 3) -> WritingWorld:
    """Four cases that two models answered; a canary in whatever tells whose an answer is."""
    admin = UserFactory(name="Ada Admin")
    benchmark = BenchmarkFactory(slug="world", title="Writing world", admin=admin)
    cases = {
        key: CaseFactory(benchmark=benchmark, key=key, reference_answer="canary-reference-answer") for key in "abcd"
    }
    models = [CandidateFactory(benchmark=benchmark, name=f"canary-model-{n}") for n in (1, 2)]
    for model in models:
        for key, case in cases.items():
            ResponseFactory(
                case=case, candidate=model, text=f"Answer {model.name[-1]} to **{key}**.",
                external_id="canary-external", metadata={"run": "canary-metadata"},
            )  # fmt: skip
    group = ExpertGroupFactory(benchmark=benchmark, name="Writers", annotators=annotators)
    return WritingWorld(benchmark, admin, group, cases, models)
