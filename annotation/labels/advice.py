"""Gives responses to physicians who mark which level of care each advises: the part that knows no judge.

They see conversation and response alone. Who wrote a response never reads it; a trigger keeps that so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from accounts.models import User
from annotation.allocation.allocate import Allocation, Infeasible, Item, allocate
from annotation.labels.batches import LabelBatchInput, LabelLoad, store_label_batch
from annotation.models import (
    NO_LEVEL,
    READ_QUESTION,
    Batch,
    ExpertGroup,
    LabelAnswer,
    LabelQuestion,
    LabelTask,
    Physician,
)
from annotation.selectors.able import able_annotators
from annotation.services.batch_terms import CaseBatchSeed, CaseBatchTitle, DueDate
from annotation.services.previews import lock_group, refuse_repeated
from annotation.writing.exclusions import pledged_to_write
from consilium.core.commands import Label
from consilium.core.errors import Conflict, DomainError
from consilium.core.order import natural
from rubrics.models import AcuityScale, Benchmark, Response


@command(frozen=True, slots=True)
class ReadTerms:
    """How responses are given out to be read. A title may be empty in a preview."""

    title: CaseBatchTitle
    readers: Annotated[
        int,
        Field(ge=1, le=20),
        Label(
            gettext_lazy("Readers per response"),
            gettext_lazy("Each reads independently; with two readers, their agreement can be measured."),
        ),
    ]
    size: Annotated[
        int,
        Field(ge=1, le=10_000),
        Label(gettext_lazy("Responses"), gettext_lazy("Drawn evenly over level and candidate.")),
    ]
    seed: CaseBatchSeed
    due_date: DueDate = None


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """A batch of responses to be read, before it is made; ``digest`` identifies it."""

    group: ExpertGroup
    scale: AcuityScale
    terms: ReadTerms
    responses: dict[int, Response]
    allocation: Allocation
    loads: tuple[LabelLoad, ...]
    digest: str

    @property
    def answers(self) -> int:
        """Number of readings asked for in all."""
        return len(self.allocation.slots)


def read_responses(scale: AcuityScale) -> QuerySet[LabelTask]:
    """The tasks about responses on a scale, without those that were given up."""
    public_ids = LabelQuestion.objects.filter(scale=scale, kind=LabelQuestion.Kind.READ).values_list("public_id")
    tasks = LabelTask.objects.filter(response__isnull=False).exclude(status=LabelTask.Status.RELEASED)
    return tasks.filter(batch__frame__questions__contained_by=[row[0] for row in public_ids])


def plan_reading(
    *, group: ExpertGroup, scale: AcuityScale, responses: Sequence[Response], terms: ReadTerms
) -> ReadPlan:
    """Spread drawn responses over the annotators of the group; nothing is written. `DomainError` says what is missing.

    Nobody reads a response that they wrote.
    """
    allocation, loads = spread_responses(group=group, responses=responses, readers=terms.readers, seed=terms.seed)
    digest = sha256(repr((group.pk, scale.pk, terms.readers, allocation.slots)).encode()).hexdigest()
    return ReadPlan(group, scale, terms, {row.pk: row for row in responses}, allocation, loads, digest)


def spread_responses(
    *,
    group: ExpertGroup,
    responses: Sequence[Response],
    readers: int,
    seed: int,
    excluded: AbstractSet[tuple[int, int]] = frozenset(),
) -> tuple[Allocation, tuple[LabelLoad, ...]]:
    """Which annotator of the group reads which responses, and how many each.

    Nobody reads one that they wrote, or one to a case that they still have to answer without having read any answer.
    ``excluded``: further pairs of response and person. `DomainError` where there are too few people.
    """
    able = able_annotators(group)
    able.refuse_if_only_invited(has_option=False)
    people = able.users
    if len(people) < readers:
        raise DomainError(
            _(
                "%(asked)d readers per response are required, but only %(people)d in the group can receive "
                "new assignments."
            )
            % {"asked": readers, "people": len(people)}
        )
    items = [Item(response.pk, response.case_id, response.author_id) for response in responses]
    pledged = pledged_to_write(people, {response.case_id for response in responses})
    to_write = {(row.pk, user) for row in responses for user in people if (row.case_id, user) in pledged}
    try:
        allocation = allocate(
            items, people, per_item=readers, seed=seed, check_fraction=0.0, by_case=False, excluded=excluded | to_write
        )
    except Infeasible as infeasible:
        raise DomainError(
            _(
                "Some responses have fewer readers left than required. Those who wrote a response, were asked to rule "
                "on it or still have to write one to its case do not read it."
            )
        ) from infeasible
    names = dict(Physician.objects.filter(benchmark=group.benchmark_id).values_list("user_id", "pseudonym"))
    load = allocation.load
    users = sorted(User.objects.filter(pk__in=people), key=lambda user: (natural(user.name), user.pk))
    return allocation, tuple(LabelLoad(user, names.get(user.pk, ""), load.get(user.pk, 0)) for user in users)


def lock_reading(*, group: ExpertGroup, seed: int, digest: str) -> None:
    """Let one batch of the group be planned and made at a time; `AlreadyCreated` if the preview was made before.

    Nor is a batch of writing planned meanwhile: it could give a case to somebody who is given a response to it here.
    """
    Benchmark.objects.select_for_update(no_key=True).get(pk=group.benchmark_id)
    lock_group(group)
    refuse_repeated(group=group, kind=Batch.Kind.LABEL, seed=seed, digest=digest)


@transaction.atomic
def create_read_batch(
    *, plan: ReadPlan, frame: Mapping[str, Any], by: User | None, at: datetime, digest: str = ""
) -> Batch:
    """Give the responses out exactly as planned. `Conflict` if ``digest`` names another plan than this one.

    ``frame`` says how they were drawn; it is kept with the batch and shown to nobody who reads.
    """
    if digest and digest != plan.digest:
        raise Conflict(_("Responses or members have changed since the preview. Review the new preview, then continue."))
    question = read_question(plan.group.benchmark, plan.scale, at)
    tasks = (
        LabelTask(
            case_id=plan.responses[slot.response].case_id,
            response_id=slot.response,
            annotator_id=slot.annotator,
            position=slot.position,
        )
        for slot in plan.allocation.slots
    )
    return store_label_batch(
        LabelBatchInput(
            group=plan.group,
            title=plan.terms.title,
            annotators_per_case=plan.terms.readers,
            due_date=plan.terms.due_date,
            seed=plan.terms.seed,
            digest=digest,
            frame={"questions": [question.public_id], "about": "response", "seed": plan.terms.seed, **frame},
        ),
        tasks,
        by=by,
        at=at,
    )


def read_question(benchmark: Benchmark, scale: AcuityScale, at: datetime) -> LabelQuestion:
    """The question about responses on the scale, made if it is not there yet."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    rows = LabelQuestion.objects.filter(benchmark=benchmark, scale=scale, kind=LabelQuestion.Kind.READ)
    question = rows.first()
    if question is not None:
        return question
    return add_question(
        benchmark=benchmark,
        name=f"read-advice-{scale.pk}",
        text=READ_QUESTION,
        kind=LabelQuestion.Kind.READ,
        scale=scale,
        at=at,
    )


def add_question(*, benchmark: Benchmark, name: str, at: datetime, **fields: Any) -> LabelQuestion:
    """Add a question about responses, whose ``benchmark`` is locked. Its name has a number where ``name`` is taken."""
    others = LabelQuestion.objects.filter(benchmark=benchmark)
    taken = set(others.values_list("name", flat=True))
    return LabelQuestion.objects.create(
        benchmark=benchmark,
        name=next(free for free in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))) if free not in taken),
        minimum_answers=1,
        position=(others.aggregate(last=Max("position"))["last"] or 0) + 1,
        created_at=at,
        **fields,
    )


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What one physician (the id of a user) marked on one response; levels by place, None for none.

    ``run`` is the public id of the run for which the batch was drawn; empty where the batch was drawn for none.
    """

    batch: str  # public id
    run: str
    response: int
    reader: int
    level: int | None
    escalation: int | None
    spans: tuple[tuple[int, int], ...]
    note: str


def read_answers(scale: AcuityScale) -> list[ReadAnswer]:
    """All answers about responses on a scale that were handed in, by response and reader."""
    places = {level["value"]: place for place, level in enumerate(scale.levels)}
    rows = LabelAnswer.objects.filter(
        question__scale=scale,
        question__kind=LabelQuestion.Kind.READ,
        task__status=LabelTask.Status.SUBMITTED,
        task__case__excluded_at=None,
    )
    fields = (
        *("task__batch__public_id", "task__batch__frame__run", "task__response_id", "task__annotator_id"),
        *("value", "escalation", "evidence", "note"),
    )
    latest: dict[tuple[int, int], ReadAnswer] = {}
    ordered = rows.order_by("task__submitted_at", "pk").values_list(*fields)
    for batch, run, response, reader, value, escalation, evidence, note in ordered:
        latest[response, reader] = ReadAnswer(
            batch,
            run or "",
            response,
            reader,
            None if value == NO_LEVEL else places[value],
            places.get(escalation),
            tuple((span["start"], span["end"]) for span in evidence),
            note,
        )
    return [latest[key] for key in sorted(latest)]
