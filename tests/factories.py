"""Rows for tests. Each factory makes a valid row through the same constraints and triggers as the product."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from accounts.models import ApiToken, User
from accounts.services.api_tokens import make_token
from annotation import services as annotation_services
from annotation.models import Assignment, Batch, ExpertGroup
from drafting.models import DRAFTING, DraftingRun, Fact, Suggestion
from rubrics.models import (
    Benchmark,
    BenchmarkRole,
    Candidate,
    Case,
    Criterion,
    Response,
    Rubric,
    RubricItem,
)
from scoring.models import Judge, JudgeRun, Verdict

PASSWORD = "correct horse battery staple"


class UserFactory(DjangoModelFactory[User]):
    """A person who signs in with ``email`` and `PASSWORD`."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"user-{n}")
    email = factory.Sequence(lambda n: f"person{n}@example.org")
    name = factory.Sequence(lambda n: f"Person {n}")
    password = factory.django.Password(PASSWORD)


class BenchmarkFactory(DjangoModelFactory[Benchmark]):
    """An empty benchmark; ``BenchmarkFactory(admin=user)`` gives it an admin, ``researcher=user`` a researcher."""

    class Meta:
        model = Benchmark
        skip_postgeneration_save = True

    slug = factory.Sequence(lambda n: f"benchmark-{n}")
    title = factory.Sequence(lambda n: f"Benchmark {n}")
    rule_sheet = "A criterion is met when all of its parts are in the response."

    @factory.post_generation
    def admin(self: Benchmark, create: bool, extracted: User | None, **kwargs: Any) -> None:
        if extracted is not None:
            BenchmarkRoleFactory(benchmark=self, user=extracted, role="admin")

    @factory.post_generation
    def researcher(self: Benchmark, create: bool, extracted: User | None, **kwargs: Any) -> None:
        if extracted is not None:
            BenchmarkRoleFactory(benchmark=self, user=extracted, role="researcher")


class BenchmarkRoleFactory(DjangoModelFactory[BenchmarkRole]):
    """A user as admin of a benchmark; ``role="researcher"`` for a researcher."""

    class Meta:
        model = BenchmarkRole

    benchmark = factory.SubFactory(BenchmarkFactory)
    user = factory.SubFactory(UserFactory)
    role = BenchmarkRole.Role.ADMIN


class CaseFactory(DjangoModelFactory[Case]):
    """A case with a published gold rubric of ``rubric`` criteria (default 3), or of the points given as a list.

    ``CaseFactory(rubric=[5, -3])`` has two criteria of 5 and −3 points; ``CaseFactory(rubric=0)`` has no rubric.
    """

    class Meta:
        model = Case
        skip_postgeneration_save = True

    benchmark = factory.SubFactory(BenchmarkFactory)
    key = factory.Sequence(lambda n: f"case-{n}")
    conversation = factory.LazyAttribute(
        lambda case: [{"role": "user", "content": f"I have had a sore throat for three days. ({case.key})"}]
    )
    difficulty = "low"
    register = "lay"
    language = "en"
    tags = factory.LazyFunction(lambda: ["theme:hedging", "specialty:neurology"])

    @factory.post_generation
    def rubric(self: Case, create: bool, extracted: int | list[int] | None, **kwargs: Any) -> None:
        points = extracted if isinstance(extracted, list) else [1] * (3 if extracted is None else extracted)
        if points:
            publish_rubric(self, points, **kwargs)


def publish_rubric(
    case: Case,
    points: list[int],
    *,
    texts: list[str] | None = None,
    track: str = "gold",
    axis: str = "accuracy",
    tags: Sequence[Sequence[str]] | None = None,
    banks: Sequence[str] | None = None,
) -> Rubric:
    """Give ``case`` a published rubric with one criterion for each of ``points``; its items are in ``rubric.items``.

    ``tags`` of each criterion are added to its axis; ``banks`` are the names of the bank items they come from.
    """
    rubric = Rubric.objects.create(case=case, track=track, provenance="test")
    criteria = Criterion.objects.bulk_create(
        Criterion(case=case, text=texts[position] if texts else f"Criterion {position + 1} of {case.key}")
        for position in range(len(points))
    )
    RubricItem.objects.bulk_create(
        RubricItem(
            rubric=rubric,
            criterion=criterion,
            position=position,
            points=value,
            tags=[f"axis:{axis}", *(tags[position - 1] if tags else ())],
            bank_item=banks[position - 1] if banks else "",
        )
        for position, (criterion, value) in enumerate(zip(criteria, points, strict=True), start=1)
    )
    rubric.status, rubric.published_at = Rubric.Status.PUBLISHED, timezone.now()
    rubric.save(update_fields=["status", "published_at"])
    return rubric


class CandidateFactory(DjangoModelFactory[Candidate]):
    """A model that answers; ``kind="physician"`` or ``"reference"`` for the others."""

    class Meta:
        model = Candidate

    benchmark = factory.SubFactory(BenchmarkFactory)
    name = factory.Sequence(lambda n: f"model-{n}")
    kind = Candidate.Kind.MODEL


class ResponseFactory(DjangoModelFactory[Response]):
    """A response; case and candidate of one benchmark unless both are given."""

    class Meta:
        model = Response

    case = factory.SubFactory(CaseFactory)
    candidate = factory.SubFactory(
        CandidateFactory, benchmark=factory.LazyAttribute(lambda row: row.factory_parent.case.benchmark)
    )
    sample = 0
    text = factory.Sequence(lambda n: f"Drink enough, rest, and see a doctor if you get a fever. ({n})")


# Scoring ----------------------------------------------------------------------------------------------------------


class JudgeFactory(DjangoModelFactory[Judge]):
    """A chat judge of an endpoint that is on no list; ``config={…}`` adds to or replaces its settings."""

    class Meta:
        model = Judge

    benchmark = factory.SubFactory(BenchmarkFactory)
    name = factory.Sequence(lambda n: f"judge-{n}")
    kind = Judge.Kind.CHAT
    config = factory.LazyFunction(lambda: {"endpoint": "http://127.0.0.1:9/v1", "model": "ok"})


class JudgeRunFactory(DjangoModelFactory[JudgeRun]):
    """A finished run without items or verdicts; see `VerdictFactory`."""

    class Meta:
        model = JudgeRun

    judge = factory.SubFactory(JudgeFactory)
    benchmark = factory.SelfAttribute("judge.benchmark")
    status = JudgeRun.Status.FINISHED
    created_at = factory.LazyFunction(timezone.now)
    finished_at = factory.LazyFunction(timezone.now)


class VerdictFactory(DjangoModelFactory[Verdict]):
    """One verdict: give run, response, criterion and outcome."""

    class Meta:
        model = Verdict

    outcome = Verdict.Outcome.MET
    explanation = "It says so."
    created_at = factory.LazyFunction(timezone.now)


# Drafting ---------------------------------------------------------------------------------------------------------


class DraftingRunFactory(DjangoModelFactory[DraftingRun]):
    """A finished run of a recipe, without steps."""

    class Meta:
        model = DraftingRun

    benchmark = factory.SubFactory(BenchmarkFactory)
    kind = DRAFTING
    status = DraftingRun.Status.FINISHED
    config = factory.LazyFunction(lambda: {"recipe": {"name": "full", "version": 1}, "axes": [], "cases": []})
    frame = factory.LazyFunction(lambda: {"cases": 1, "seed": 1})
    terms = factory.LazyFunction(lambda: {"recipe": "full", "version": 1, "models": ["made-up-model"]})
    created_at = factory.LazyFunction(timezone.now)


class SuggestionFactory(DjangoModelFactory[Suggestion]):
    """An open suggestion that rests on no source; give it ``case``, and ``facts`` and ``citations`` for a source."""

    class Meta:
        model = Suggestion

    case = factory.SubFactory(CaseFactory, rubric=0)
    run = factory.SubFactory(DraftingRunFactory, benchmark=factory.SelfAttribute("..case.benchmark"))
    number = factory.Sequence(lambda n: n + 1)
    text = factory.LazyAttribute(lambda row: f"Advises suggestion {row.number}")
    points = 5
    axis = "accuracy"
    created_at = factory.LazyFunction(timezone.now)


class FactFactory(DjangoModelFactory[Fact]):
    """A usable fact: the words of ``passage`` from ``start`` to ``end``."""

    class Meta:
        model = Fact

    number = factory.Sequence(lambda n: n + 1)
    kind = "statement"
    text = factory.LazyAttribute(lambda row: f"The document says: {row.words}")
    words = factory.LazyAttribute(lambda row: row.passage.text[row.start : row.end])
    quote = factory.SelfAttribute("words")
    quote_state = "exact"
    start = 0
    end = factory.LazyAttribute(lambda row: len(row.passage.text))
    numbers_agree = True
    support = "entails"
    is_usable = True


# Groups and batches -----------------------------------------------------------------------------------------------


class ExpertGroupFactory(DjangoModelFactory[ExpertGroup]):
    """A group; ``ExpertGroupFactory(annotators=2, checkers=1, adjudicators=1)`` gives it members.

    ``group.people["annotator"]`` then lists its users; `member` adds a given one.
    """

    class Meta:
        model = ExpertGroup
        skip_postgeneration_save = True

    benchmark = factory.SubFactory(BenchmarkFactory)
    name = factory.Sequence(lambda n: f"Group {n}")

    @factory.post_generation
    def annotators(self: ExpertGroup, create: bool, extracted: int | None, **kwargs: Any) -> None:
        self.people = {"annotator": [member(self) for _ in range(extracted or 0)]}  # type: ignore[attr-defined]

    @factory.post_generation
    def checkers(self: ExpertGroup, create: bool, extracted: int | None, **kwargs: Any) -> None:
        self.people["checker"] = [member(self, "checker") for _ in range(extracted or 0)]  # type: ignore[attr-defined]

    @factory.post_generation
    def adjudicators(self: ExpertGroup, create: bool, extracted: int | None, **kwargs: Any) -> None:
        self.people["adjudicator"] = [  # type: ignore[attr-defined]
            member(self, "adjudicator") for _ in range(extracted or 0)
        ]


def member(group: ExpertGroup, role: str = "annotator", user: User | None = None) -> User:
    """Put ``user`` (or a new person) into the group, as the product does."""
    person = user or UserFactory()
    annotation_services.add_member(group=group, user=person, role=role)
    return person


def make_batch(group: ExpertGroup, *, by: User | None = None, **options: Any) -> Batch:
    """Plan and make a batch over all responses of the benchmark; options of `BatchTerms` and `ResponseFilter`.

    One annotator per response and no secondary check, unless asked.
    """
    names = {field.name for field in dataclasses.fields(annotation_services.ResponseFilter)}
    chosen = {name: options.pop(name) for name in list(options) if name in names}
    terms = {"title": f"Batch of {group.name}", "check_policy": "none", "seed": 7, **options}
    plan = annotation_services.plan_batch(
        group=group,
        terms=annotation_services.BatchTerms(**terms),
        filter=annotation_services.ResponseFilter(**chosen),
    )
    return annotation_services.create_batch(plan=plan, by=by, at=timezone.now())


def decide(assignment: Assignment, *outcomes: str, submit: bool = True) -> None:
    """Let the annotator decide every criterion (the last outcome holds for the rest; default met) and hand it in."""
    choices = outcomes or ("met",)
    criteria = annotation_services.criteria_of(assignment)
    annotation_services.save_decisions(
        assignment=assignment,
        annotator=assignment.annotator,
        changes=[
            annotation_services.DecisionInput(criterion=criterion, outcome=choices[min(n, len(choices) - 1)])
            for n, criterion in enumerate(criteria)
        ],
        at=timezone.now(),
    )
    if submit:
        annotation_services.submit(assignment=assignment, annotator=assignment.annotator, at=timezone.now())


def token_of(user: User, *scopes: str, benchmark: str = "") -> str:
    """The key of a new API token of ``user``: with these scopes (all without any), in one benchmark or in all."""
    at = timezone.now()
    _token, key = make_token(
        user=user,
        name="Of a test",
        scopes=scopes or ApiToken.Scope.values,
        benchmark=benchmark,
        expires_at=at + timedelta(days=1),
        by=user,
        at=at,
    )
    return key
