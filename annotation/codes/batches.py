"""Gives responses to physicians who mark by a code book which failures each shows.

They see conversation and response alone, as in *Read advice*; nobody codes a response that they wrote or were
asked to rule on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Annotated

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from accounts.models import User
from annotation.allocation.allocate import Allocation
from annotation.labels.advice import add_question, lock_reading, spread_responses
from annotation.labels.batches import LabelBatchInput, LabelLoad, store_label_batch, tasks_asking
from annotation.models import CODES_QUESTION, Batch, CodeRuling, ExpertGroup, LabelQuestion, LabelTask
from annotation.selectors.code_rulings import readers_of_rulings
from annotation.services.batch_terms import CaseBatchSeed, CaseBatchTitle, DueDate
from annotation.services.drawing import ResponseFilter, at_random, frame_of
from annotation.services.known_terms import refuse_unknown
from annotation.writing.exclusions import pledged_to_write
from consilium.core.commands import Label, OneOf
from consilium.core.errors import Conflict, DomainError
from rubrics.models import Benchmark, CodeBook, Difficulty, Response


@command(frozen=True, slots=True)
class CodingTerms:
    """Which responses are coded, and by how many. A title may be empty in a preview."""

    title: CaseBatchTitle
    coders: Annotated[
        int,
        Field(ge=1, le=20),
        Label(
            gettext_lazy("Physicians per response"),
            gettext_lazy("Each codes independently; with two, their agreement can be measured."),
        ),
    ]
    seed: CaseBatchSeed
    size: Annotated[
        int | None,
        Field(ge=1, le=10_000),
        Label(gettext_lazy("Responses"), gettext_lazy("Drawn at random from all that match. Leave empty to use all.")),
    ] = None
    candidates: Annotated[Sequence[str], Label(gettext_lazy("Candidates"))] = ()
    difficulties: Annotated[Sequence[Annotated[str, OneOf(Difficulty)]], Label(gettext_lazy("Difficulty"))] = ()
    tags: Annotated[
        Sequence[str],
        Label(gettext_lazy("Tags"), gettext_lazy("Cases with any of these, separated by commas: theme:hedging, …")),
    ] = ()
    same_as: Annotated[
        str,
        Label(
            gettext_lazy("Same responses as"),
            gettext_lazy("A batch with codes of another group, so that the two groups can be compared."),
        ),
    ] = ""
    criteria: Annotated[
        bool,
        Label(
            gettext_lazy("Show the criteria of the rubric"),
            gettext_lazy("A code can then be tied to the criterion that it is about."),
        ),
    ] = False
    due_date: DueDate = None


@dataclass(frozen=True, slots=True)
class CodingPlan:
    """A batch of responses to code, before it is made; ``digest`` identifies it."""

    group: ExpertGroup
    book: CodeBook
    terms: CodingTerms
    in_frame: int
    responses: dict[int, Response]
    allocation: Allocation
    loads: tuple[LabelLoad, ...]
    digest: str

    @property
    def answers(self) -> int:
        """Number of answers asked for in all."""
        return len(self.allocation.slots)


def code_question(book: CodeBook) -> LabelQuestion | None:
    """The question on a version of a code book, where anything was given out to be coded by it."""
    return LabelQuestion.objects.filter(code_book=book).first()


def plan_coding(*, group: ExpertGroup, book: CodeBook, terms: CodingTerms) -> CodingPlan:
    """Draw responses that the group was not asked to code, and spread them; nothing is written.

    `DomainError` says what is missing.
    """
    if not book.codes:
        raise DomainError(_("The code book has no codes."))
    refuse_unknown(group.benchmark, candidates=terms.candidates, tags=terms.tags)
    question = code_question(book)
    tasks = tasks_asking([question] if question else [])
    frame = ResponseFilter(candidates=terms.candidates, difficulties=terms.difficulties, tags=terms.tags)
    rows = frame.matching(group).filter(case__excluded_at=None)
    rows = rows.exclude(Exists(tasks.filter(response=OuterRef("pk"), batch__group=group)))
    if terms.same_as:
        other = Batch.objects.filter(
            public_id=terms.same_as, group__benchmark=group.benchmark_id, frame__about="codes"
        ).first()
        if other is None or other.group_id == group.pk:
            raise DomainError(_("Choose a batch with codes of the other group."), field="same_as")
        rows = rows.filter(pk__in=other.label_tasks.values("response"))
    named = frame_of(rows)
    if not named:
        raise DomainError(_("No responses match. Responses that this group has already been given are excluded."))
    drawn = at_random(named, terms.size or len(named), terms.seed, "codes")
    responses = Response.objects.in_bulk([row.pk for row in drawn])
    allocation, loads = spread_responses(
        group=group,
        responses=[responses[row.pk] for row in drawn],
        readers=terms.coders,
        seed=terms.seed,
        excluded=_readers_of_marks(question, responses),
    )
    whole = (group.pk, book.pk, terms.coders, terms.criteria, len(named), allocation.slots)
    return CodingPlan(
        group, book, terms, len(named), responses, allocation, loads, sha256(repr(whole).encode()).hexdigest()
    )


def _readers_of_marks(question: LabelQuestion | None, responses: Collection[int]) -> set[tuple[int, int]]:
    """Pairs of response and adjudicator who may have read what others marked."""
    return readers_of_rulings(CodeRuling.objects.filter(question=question, response__in=responses))


def not_to_code(question: LabelQuestion, responses: Collection[int], people: Collection[int]) -> set[tuple[int, int]]:
    """Pairs of response and person: who wrote it, was given it before, or may have read what others marked.

    So is who still has to write to its case without having read any answer.
    """
    given = tasks_asking([question]).filter(response__in=responses, annotator__in=people)
    written = Response.objects.filter(pk__in=responses, author__in=people)
    cases = dict(Response.objects.filter(pk__in=responses).values_list("pk", "case_id"))
    pledged = pledged_to_write(people, set(cases.values()))
    return {
        *_readers_of_marks(question, responses),
        *given.values_list("response_id", "annotator_id"),
        *written.values_list("pk", "author_id"),
        *((pk, user) for pk, case in cases.items() for user in people if (case, user) in pledged),
    }


@transaction.atomic
def make_coding_batch(
    *, group: ExpertGroup, book: CodeBook, terms: CodingTerms, by: User | None, at: datetime, digest: str = ""
) -> Batch:
    """Draw responses and give them out. `AlreadyCreated` and `Conflict` as in `make_label_batch`."""
    lock_reading(group=group, seed=terms.seed, digest=digest)
    # The code book is frozen by the question below: nobody changes it between the plan and that.
    book = CodeBook.objects.select_for_update(no_key=True).get(pk=book.pk)
    plan = plan_coding(group=group, book=book, terms=terms)
    if digest and digest != plan.digest:
        raise Conflict(_("Responses or members have changed since the preview. Review the new preview, then continue."))
    question = _question(group.benchmark, book, at)
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
            group=group,
            title=terms.title,
            annotators_per_case=terms.coders,
            due_date=terms.due_date,
            seed=terms.seed,
            digest=digest,
            frame={
                "questions": [question.public_id],
                "about": "codes",
                "code_book": book.version,
                "criteria": terms.criteria,
                "seed": terms.seed,
                "filter": {
                    name: list(values)
                    for name, values in (
                        ("candidates", terms.candidates),
                        ("difficulties", terms.difficulties),
                        ("tags", terms.tags),
                    )
                    if values
                },
                "same_as": terms.same_as,
                "in_frame": plan.in_frame,
                "drawn": len(plan.responses),
                "inclusion_probability": len(plan.responses) / plan.in_frame,
            },
        ),
        tasks,
        by=by,
        at=at,
    )


def _question(benchmark: Benchmark, book: CodeBook, at: datetime) -> LabelQuestion:
    """The question on the code book, made if it is not there yet: from then on the version is frozen."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    question = code_question(book)
    if question is not None:
        return question
    return add_question(
        benchmark=benchmark,
        name=f"codes-{book.version}",
        text=CODES_QUESTION,
        kind=LabelQuestion.Kind.CODES,
        code_book=book,
        at=at,
    )
