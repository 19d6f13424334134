"""Gives cases with label questions to physicians, and derives tags from their answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from typing import Annotated

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from accounts.models import User
from annotation.allocation.allocate import Allocation, Infeasible, Item, allocate
from annotation.labels.selectors import TAG_PREFIX, tag_changes
from annotation.models import (
    FIRST_ROUND,
    AcuityRuling,
    Batch,
    ExpertGroup,
    LabelQuestion,
    LabelTask,
    Physician,
    RulingRequest,
)
from annotation.selectors.able import able_annotators
from annotation.selectors.languages_read import (
    MatchLanguages,
    language_rows,
    languages_of,
    languages_read,
    refuse_unread,
    unreadable,
    warn_of_unsaid,
)
from annotation.services.batch_terms import CaseBatchSeed, CaseBatchTitle, DueDate, IncludeInvited, warn_of_past
from annotation.services.batch_titles import sound_title
from annotation.services.known_terms import refuse_unknown
from annotation.services.notices import notify_of_cases
from annotation.services.previews import lock_group, refuse_repeated
from annotation.services.rules import readable_constraint_errors
from consilium.core.commands import Label, OneOf
from consilium.core.errors import Conflict, DomainError
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH
from consilium.core.limits import MAX_TAG_LENGTH
from consilium.core.order import natural
from rubrics.models import Benchmark, Case, Difficulty
from rubrics.selectors.case_selection import CaseSelection

# Tags by which cases of a batch are chosen: a case matches with any of them, its own or agreed.
CaseTags = Annotated[Sequence[Annotated[str, Field(max_length=MAX_TAG_LENGTH)]], Label(gettext_lazy("Tags"))]
CaseLanguages = Annotated[
    Sequence[Annotated[str, Field(max_length=MAX_LANGUAGE_LENGTH)]], Label(gettext_lazy("Language"))
]
CaseDifficulties = Annotated[Sequence[Annotated[str, OneOf(Difficulty)]], Label(gettext_lazy("Difficulty"))]


@command(frozen=True, slots=True)
class CaseFilter:
    """Which cases of the benchmark are given out; an empty field leaves nothing out.

    With ``skip_given``, cases that the group was asked one of these questions about are left out. A case whose votes
    others have seen, in a second round or for a ruling, is left out in any case.
    """

    tags: CaseTags = ()
    languages: CaseLanguages = ()
    difficulties: CaseDifficulties = ()
    skip_given: Annotated[bool, Label(gettext_lazy("Exclude cases that this group has already been asked about"))] = (
        True
    )

    def cases(self, group: ExpertGroup, questions: Sequence[LabelQuestion]) -> QuerySet[Case]:
        """The frame, in the order of keys."""
        selection = CaseSelection(tags=self.tags, languages=self.languages, difficulties=self.difficulties)
        queryset = selection.narrow(Case.objects.included().filter(benchmark=group.benchmark_id))
        if self.skip_given:
            given = tasks_asking(questions).filter(batch__group=group, case=OuterRef("pk"))
            queryset = queryset.exclude(Exists(given))
        # A panel is over all questions on a scale, so votes that were shown for one of them are no secret for another.
        on_scales = list(questions_on_scales_of(questions))
        later = tasks_asking(on_scales).filter(round__gt=FIRST_ROUND, case=OuterRef("pk"))
        requested = RulingRequest.objects.filter(question__in=on_scales, case=OuterRef("pk"))
        return queryset.exclude(Exists(later)).exclude(Exists(requested)).order_by("key")

    def record(self) -> dict[str, object]:
        """The filter as stored in the batch's frame, with the field names that batches of responses use."""
        chosen = {"tags": self.tags, "languages": self.languages, "difficulties": self.difficulties}
        return {name: list(values) for name, values in chosen.items() if values}


@command(frozen=True, slots=True)
class LabelTerms:
    """How cases are given out. A title may be empty in a preview."""

    title: CaseBatchTitle
    annotators_per_case: Annotated[
        int,
        Field(ge=1, le=20),
        Label(gettext_lazy("Annotators per case"), gettext_lazy("Each physician answers independently.")),
    ]
    seed: CaseBatchSeed
    due_date: DueDate = None
    match_languages: MatchLanguages = True
    include_invited: IncludeInvited = False


@dataclass(frozen=True, slots=True)
class LabelLoad:
    """What one annotator would get."""

    user: User
    pseudonym: str
    cases: int


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """A batch of cases before it is made. ``digest`` identifies the plan: exactly the preview is made, or nothing."""

    group: ExpertGroup
    questions: tuple[LabelQuestion, ...]
    terms: LabelTerms
    filter: CaseFilter
    cases: tuple[int, ...]
    allocation: Allocation
    loads: tuple[LabelLoad, ...]
    warnings: tuple[str, ...]
    digest: str

    @property
    def answers(self) -> int:
        """Number of answers asked for in all."""
        return len(self.allocation.slots) * len(self.questions)


def questions_on_scales_of(questions: Sequence[LabelQuestion]) -> QuerySet[LabelQuestion]:
    """All questions on the scales that ``questions`` are on, retired ones and these themselves too."""
    scales = {question.scale_id for question in questions if question.scale_id is not None}
    return LabelQuestion.objects.filter(scale__in=scales)


def tasks_asking(questions: Sequence[LabelQuestion]) -> QuerySet[LabelTask]:
    """Tasks in whose batch one of ``questions`` is asked."""
    condition = Q(pk__in=[])
    for question in questions:
        condition |= Q(batch__frame__questions__contains=[question.public_id])
    return LabelTask.objects.filter(condition)


def plan_labels(
    *, group: ExpertGroup, questions: Sequence[LabelQuestion], terms: LabelTerms, filter: CaseFilter
) -> LabelPlan:
    """Spread the cases evenly over the group's annotators; nothing is written. `DomainError` says what is missing.

    Nobody is asked the same question about the same case twice.
    """
    if not questions:
        raise DomainError(_("Choose at least one question."))
    if any(not question.active for question in questions):
        raise DomainError(_("A retired question cannot be asked."))
    refuse_unknown(group.benchmark, tags=filter.tags, languages=filter.languages)
    cases = tuple(filter.cases(group, questions).values_list("pk", flat=True))
    if not cases:
        raise DomainError(
            _("No cases match. Cases that this group has already been asked about may have been excluded.")
        )
    able = able_annotators(group, include_invited=terms.include_invited)
    able.refuse_if_only_invited()
    people, warnings = able.users, able.warnings()
    per_case = terms.annotators_per_case
    if len(people) < per_case:
        raise DomainError(
            _(
                "%(asked)d annotators per case are required, but only %(people)d in the group can receive "
                "new assignments."
            )
            % {"asked": per_case, "people": len(people)}
        )
    minimum = max(question.minimum_answers for question in questions)
    if per_case < minimum:
        warnings.append(
            _(
                "A category needs at least %(minimum)d answers to count as agreed; this batch collects "
                "%(asked)d per case."
            )
            % {"minimum": minimum, "asked": per_case}
        )
    excluded = not_to_ask(questions, cases, people)
    if terms.match_languages:
        language_of, known = languages_of(cases), languages_read(people)
        languages = language_rows(list(language_of.values()), known)
        refuse_unread(languages, needed=per_case)
        excluded |= unreadable(language_of, known)
        warnings += warn_of_unsaid(known) if len(languages) > 1 else []
    try:
        allocation = allocate(
            [Item(case, case) for case in cases],
            people,
            per_item=per_case,
            seed=terms.seed,
            check_fraction=0.0,
            by_case=False,
            excluded=excluded,
        )
    except Infeasible as infeasible:
        raise DomainError(
            _(
                "Some cases have fewer physicians left than required, because the others have already been "
                "asked about them or do not read their language."
            )
        ) from infeasible
    names = dict(Physician.objects.filter(benchmark=group.benchmark_id).values_list("user_id", "pseudonym"))
    loads = tuple(
        LabelLoad(user, names.get(user.pk, ""), allocation.load.get(user.pk, 0))
        for user in sorted(User.objects.filter(pk__in=people), key=lambda user: (natural(user.name), user.pk))
    )
    whole = (group.pk, [question.pk for question in questions], terms.annotators_per_case, allocation.slots)
    digest = sha256(repr(whole).encode()).hexdigest()
    warnings += warn_of_past(terms.due_date)
    return LabelPlan(group, tuple(questions), terms, filter, cases, allocation, loads, tuple(warnings), digest)


def not_to_ask(questions: Sequence[LabelQuestion], cases: Iterable[int], people: Sequence[int]) -> set[tuple[int, int]]:
    """Pairs of case and person: who was asked one of the questions about it, or has ruled on how urgent it is."""
    own_cases = list(cases)
    before = tasks_asking(questions).filter(case__in=own_cases, annotator__in=people)
    pairs = set(before.values_list("case_id", "annotator_id"))
    if any(question.is_levels for question in questions):
        ruled = AcuityRuling.objects.filter(case__in=own_cases, adjudicator__in=people)
        pairs |= set(ruled.values_list("case_id", "adjudicator_id"))
    return pairs


@transaction.atomic
def make_label_batch(
    *,
    group: ExpertGroup,
    questions: Sequence[LabelQuestion],
    terms: LabelTerms,
    filter: CaseFilter,
    by: User | None,
    at: datetime,
    digest: str = "",
) -> Batch:
    """Plan a batch of cases and make it, one at a time in a group.

    `AlreadyCreated` and `Conflict` as in `make_batch`.
    """
    lock_group(group)
    refuse_repeated(group=group, kind=Batch.Kind.LABEL, seed=terms.seed, digest=digest)
    plan = plan_labels(group=group, questions=questions, terms=terms, filter=filter)
    return create_label_batch(plan=plan, by=by, at=at, digest=digest)


@transaction.atomic
def create_label_batch(*, plan: LabelPlan, by: User | None, at: datetime, digest: str = "") -> Batch:
    """Give the cases out exactly as planned. `Conflict` if ``digest`` names another plan than this one."""
    if digest and digest != plan.digest:
        raise Conflict(
            _("Cases or members have changed since the preview. Review the new preview, then assign the cases.")
        )
    terms = plan.terms
    lock_group(plan.group)
    refuse_repeated(group=plan.group, kind=Batch.Kind.LABEL, seed=terms.seed, digest=digest)
    return store_label_batch(
        LabelBatchInput(
            group=plan.group,
            title=terms.title,
            annotators_per_case=terms.annotators_per_case,
            due_date=terms.due_date,
            seed=terms.seed,
            digest=digest,
            match_languages=terms.match_languages,
            frame={
                "questions": [question.public_id for question in plan.questions],
                "filter": plan.filter.record(),
                "seed": terms.seed,
                "in_frame": len(plan.cases),
                "drawn": len(plan.cases),
                "inclusion_probability": 1.0,
            },
        ),
        (
            LabelTask(case_id=slot.response, annotator_id=slot.annotator, position=slot.position)
            for slot in plan.allocation.slots
        ),
        by=by,
        at=at,
    )


@dataclass(frozen=True, slots=True)
class LabelBatchInput:
    """A batch of cases as it is stored; ``frame`` names the questions, and how the cases were chosen."""

    group: ExpertGroup
    title: str
    annotators_per_case: int
    due_date: date | None
    seed: int
    digest: str
    frame: dict[str, object]
    match_languages: bool = False


def store_label_batch(
    batch_input: LabelBatchInput, tasks: Iterable[LabelTask], *, by: User | None, at: datetime
) -> Batch:
    """Store a batch with its tasks, and notify their annotators. Call it under `lock_group`."""
    title = sound_title(batch_input.title, benchmark=batch_input.group.benchmark)
    batch = Batch.objects.create(
        group=batch_input.group,
        title=title,
        kind=Batch.Kind.LABEL,
        order=Batch.Order.SHUFFLED,
        annotators_per_item=batch_input.annotators_per_case,
        check_policy=Batch.CheckPolicy.NONE,
        check_fraction=0.0,
        due_date=batch_input.due_date,
        seed=batch_input.seed,
        plan_digest=batch_input.digest,
        match_languages=batch_input.match_languages,
        frame=batch_input.frame,
        created_by=by,
        created_at=at,
    )
    rows = list(tasks)
    for task in rows:
        task.batch = batch
    with readable_constraint_errors():
        LabelTask.objects.bulk_create(rows, batch_size=1000)
    notify_of_cases(batch=batch, at=at)
    return batch


# Tags ---------------------------------------------------------------------------------------------------------------


@transaction.atomic
def write_tags(*, benchmark: Benchmark, at: datetime) -> int:
    """Make the agreed values of all active questions tags of their cases; returns the number of changed cases.

    Tags that are no longer agreed, or belong to a retired question, are removed.
    """
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    changes = tag_changes(benchmark)
    rows = list(Case.objects.filter(pk__in=changes).only("label_tags"))
    for case in rows:
        others = [tag for tag in case.label_tags if not tag.startswith(TAG_PREFIX)]
        case.label_tags = [*others, *changes[case.pk]]
    Case.objects.bulk_update(rows, ["label_tags"], batch_size=1000)
    LabelQuestion.objects.filter(benchmark=benchmark, active=True).update(tags_written_at=at)
    return len(rows)
