"""A group that labels cases, for the tests of its pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from accounts.models import User
from annotation.labels.batches import CaseFilter, LabelTerms, create_label_batch, plan_labels
from annotation.labels.services import (
    AnswerInput,
    Option,
    QuestionInput,
    make_question,
    save_answer,
    submit_labels,
)
from annotation.models import Batch, ExpertGroup, LabelAnswer, LabelQuestion, LabelTask
from rubrics.models import Benchmark
from tests.factories import BenchmarkFactory, CaseFactory, ExpertGroupFactory, UserFactory

URGENCY = [Option("emergent", "Emergent"), Option("conditional", "Conditional"), Option("non-emergent", "Non-emergent")]
LEVELS = [Option(f"level-{number}", f"Level {number}") for number in (1, 2, 3, 4)]


def question(benchmark: Benchmark, name: str = "urgency", **terms: Any) -> LabelQuestion:
    options = terms.pop("options", URGENCY)
    question_input = QuestionInput(
        name, terms.pop("text", "How urgent?"), terms.pop("kind", "choice"), options, **terms
    )
    return make_question(benchmark=benchmark, question_input=question_input, at=timezone.now())


@dataclass
class Ward:
    benchmark: Benchmark
    admin: User
    group: ExpertGroup
    urgency: LabelQuestion
    acuity: LabelQuestion
    batch: Batch

    @property
    def people(self) -> list[User]:
        return self.group.people["annotator"]  # type: ignore[attr-defined, no-any-return]

    def tasks(self, case: str) -> list[LabelTask]:
        rows = LabelTask.objects.filter(batch=self.batch, case__key=case).select_related("annotator", "batch")
        return list(rows.order_by("annotator"))

    def say(self, case: str, *values: str, submit: bool = True) -> None:
        """One urgency of each physician, in their order; everybody finds level 2 with certainty 60."""
        for task, value in zip(self.tasks(case), values, strict=False):
            for question, answer, certainty in ((self.urgency, value, None), (self.acuity, "level-2", 60)):
                change = AnswerInput(question.public_id, answer, certainty)
                save_answer(task=task, annotator=task.annotator, change=change, at=timezone.now())
            if submit:
                submit_labels(task=task, annotator=task.annotator, at=timezone.now())


def level_question(benchmark: Benchmark, name: str = "care", scale: str = "four", **terms: Any) -> LabelQuestion:
    return question(benchmark, name, kind="levels", options=[], scale=scale, text="What care, how soon?", **terms)


def give_out(group: ExpertGroup, *questions: LabelQuestion, annotators: int = 3, seed: int = 5, **chosen: Any) -> Batch:
    terms = LabelTerms("Labels", annotators, seed)
    plan = plan_labels(group=group, questions=questions, terms=terms, filter=CaseFilter(**chosen))
    return create_label_batch(plan=plan, by=None, at=timezone.now())


def build_ward() -> Ward:
    """Four cases, each for all three physicians of the group."""
    admin = UserFactory()
    benchmark = BenchmarkFactory(slug="ward", admin=admin)
    for key in "abcd":
        CaseFactory(benchmark=benchmark, key=key, tags=["theme:own"] if key == "a" else [])
    group = ExpertGroupFactory(benchmark=benchmark, annotators=3)
    urgency = question(benchmark)
    acuity = question(benchmark, "acuity", kind="acuity", options=LEVELS)
    return Ward(benchmark, admin, group, urgency, acuity, give_out(group, urgency, acuity))


@dataclass
class Panel:
    benchmark: Benchmark
    admin: User
    group: ExpertGroup
    question: LabelQuestion
    batch: Batch

    @property
    def people(self) -> list[User]:
        return self.group.people["annotator"]  # type: ignore[attr-defined, no-any-return]

    def tasks(self, case: str) -> list[LabelTask]:
        rows = LabelTask.objects.filter(batch=self.batch, case__key=case).select_related("annotator", "batch")
        return list(rows.order_by("annotator"))

    def vote(self, task: LabelTask, level: str, certainty: int | None = 50, **more: Any) -> None:
        """Save a vote: a level, two joined by a bar, or ``cannot-tell`` with a reason."""
        value, _bar, upper = level.partition("|")
        version = LabelAnswer.objects.filter(task=task).values_list("version", flat=True).first() or 0
        change = AnswerInput(self.question.public_id, value, certainty, version=version, upper=upper, **more)
        save_answer(task=task, annotator=task.annotator, change=change, at=timezone.now())

    def say(self, case: str, *levels: str) -> None:
        """A vote of each physician, in their order, handed in."""
        for task, level in zip(self.tasks(case), levels, strict=False):
            if level == "cannot-tell":
                self.vote(task, level, None, reason="missing-fact")
            else:
                self.vote(task, level)
            submit_labels(task=task, annotator=task.annotator, at=timezone.now())


def build_panel() -> Panel:
    """Four cases, each for all five physicians of the group, voted for on the scale of four levels."""
    admin = UserFactory()
    benchmark = BenchmarkFactory(slug="panel", admin=admin)
    for key in "abcd":
        CaseFactory(benchmark=benchmark, key=key)
    group = ExpertGroupFactory(benchmark=benchmark, annotators=5)
    care = level_question(benchmark)
    return Panel(benchmark, admin, group, care, give_out(group, care, annotators=5))
