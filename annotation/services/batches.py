"""Batches: what they hold, who works on them, and whether they take work."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from hashlib import sha256
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.allocation import Allocation, Infeasible, Item, allocate, keyed
from annotation.models import Assignment, Batch, BatchItem, ExpertGroup, Involvement, Membership, Physician
from annotation.services.conflicts import settle_closed_batch
from annotation.services.rules import seize_batch, spoken_rules
from consilium.lib.errors import Conflict, DomainError
from consilium.lib.transitions import transition
from rubrics.models import Response, Rubric, RubricItem


def new_seed() -> int:
    """A seed for a new batch; it stands in the form, so that the preview and the batch are drawn alike."""
    return secrets.randbelow(2**53)  # exact in JSON and JavaScript, too


@dataclass(frozen=True, slots=True)
class ResponseFilter:
    """Which responses of the benchmark a batch draws from; an empty field leaves nothing out."""

    candidates: Sequence[str] = ()  # public ids
    kinds: Sequence[str] = ()
    difficulties: Sequence[str] = ()
    registers: Sequence[str] = ()
    languages: Sequence[str] = ()
    tags: Sequence[str] = ()  # a case with any of them
    cases: Sequence[str] = ()  # keys
    skip_given: bool = True  # leave out what this group was given before
    draw: int | None = None  # take this many at random; None: all

    def responses(self, group: ExpertGroup) -> QuerySet[Response]:
        """The frame: matching responses whose case has a published rubric."""
        found = Response.objects.filter(case__benchmark=group.benchmark_id)
        lists: dict[str, Sequence[str]] = {
            "candidate__public_id__in": self.candidates,
            "candidate__kind__in": self.kinds,
            "case__difficulty__in": self.difficulties,
            "case__register__in": self.registers,
            "case__language__in": self.languages,
            "case__tags__overlap": self.tags,
            "case__key__in": self.cases,
        }
        found = found.filter(**{lookup: list(values) for lookup, values in lists.items() if values})
        published = Rubric.objects.current().filter(case=OuterRef("case"))
        items = RubricItem.objects.filter(rubric__case=OuterRef("case"), rubric__status="published")
        found = found.filter(Exists(published), Exists(items))
        if self.skip_given:
            found = found.exclude(Exists(BatchItem.objects.filter(response=OuterRef("pk"), batch__group=group)))
        return found


@dataclass(frozen=True, slots=True)
class BatchTerms:
    """How a batch is worked on."""

    title: str
    annotators_per_item: int = 1
    check_policy: str = Batch.CheckPolicy.ALL
    check_fraction: float = 1.0
    order: str = Batch.Order.BY_CASE
    due_date: date | None = None
    seed: int = field(default_factory=new_seed)

    @property
    def fraction(self) -> float:
        """The share that is checked, by the policy."""
        return {"none": 0.0, "all": 1.0}.get(self.check_policy, self.check_fraction)


@dataclass(frozen=True, slots=True)
class PhysicianLoad:
    """What one annotator would get; ``open_work`` is what they have to do in other batches."""

    user: User
    pseudonym: str
    responses: int
    criteria: int
    open_work: int


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """A batch before it is made. ``digest`` names the plan: what was previewed is made, or nothing is."""

    group: ExpertGroup
    terms: BatchTerms
    filter: ResponseFilter
    in_frame: int
    responses: tuple[int, ...]
    rubrics: dict[int, int]  # response → rubric
    cases: dict[int, int]  # response → case
    allocation: Allocation
    loads: tuple[PhysicianLoad, ...]
    criteria: int  # decisions to be made in all
    warnings: tuple[str, ...]

    @property
    def inclusion_probability(self) -> float:
        """By which each response of the frame came in: a simple random sample."""
        return len(self.responses) / self.in_frame

    @property
    def digest(self) -> str:
        """Changes with the responses, their rubrics, the annotators, the queues and the drawn checks."""
        parts = [
            (s.response, self.rubrics[s.response], s.annotator, s.position, s.to_check) for s in self.allocation.slots
        ]
        return sha256(repr((self.in_frame, parts)).encode()).hexdigest()[:16]


def plan_batch(*, group: ExpertGroup, terms: BatchTerms, filter: ResponseFilter) -> BatchPlan:
    """Draw the responses and allocate them, without writing anything. `DomainError` says what is missing."""
    if filter.draw is not None and filter.draw < 1:
        raise DomainError(_("At least one response is needed."))
    if not 0 <= terms.fraction <= 1:
        raise DomainError(_("The share to check lies between 0 and 1."))
    frame = _frame(filter.responses(group))
    if not frame:
        raise DomainError(
            _("No response matches. Loosen the filter, import responses, or take in what the group was given before.")
        )
    drawn = frame
    if filter.draw is not None and filter.draw < len(frame):
        drawn = sorted(frame, key=lambda row: (keyed(terms.seed, "draw", *row.name), row.name))[: filter.draw]
        drawn.sort(key=lambda row: row.name)
    responses = tuple(row.pk for row in drawn)
    members: dict[str, dict[int, None]] = {role: {} for role in Membership.Role.values}
    for user, role in (
        Membership.objects.filter(group=group, active=True, user__is_active=True)
        .order_by("pk")
        .values_list("user_id", "role")
    ):
        members[role][user] = None
    annotators, checkers, adjudicators = (members[role] for role in ("annotator", "checker", "adjudicator"))
    if not annotators:
        raise DomainError(_("The group has no annotator yet. Add members to it first."))
    work = _open_work(set(annotators))
    people = [*annotators, *(user for user in checkers if user not in annotators)]
    involved = Involvement.objects.filter(response__in=responses, user__in=people)
    # A checker of a response may check it again; anybody else who has a part in it is out.
    barred = {
        (response, user)
        for response, user, part in involved.values_list("response_id", "user_id", "part")
        if not (part == "checker" and user in checkers and user not in annotators)
    }
    try:
        allocation = _allocate(drawn, people, annotators, checkers, terms=terms, work=work, barred=barred)
    except Infeasible as missing:
        raise DomainError(_(missing.template) % missing.values) from missing
    cases = {row.pk: row.case for row in drawn}
    rubrics = dict(Rubric.objects.current().filter(case__in=set(cases.values())).values_list("case_id", "pk"))
    sizes = dict(
        RubricItem.objects.filter(rubric__in=rubrics.values()).values_list("rubric").annotate(Count("pk")).order_by()
    )
    size_of = {response: sizes[rubrics[case]] for response, case in cases.items()}
    warnings = []
    if terms.annotators_per_item > 1 and not adjudicators:
        warnings.append(
            _("The group has no adjudicator; where its annotators differ, the conflict waits until it has one.")
        )
    return BatchPlan(
        group=group,
        terms=terms,
        filter=filter,
        in_frame=len(frame),
        responses=responses,
        rubrics={response: rubrics[case] for response, case in cases.items()},
        cases=cases,
        allocation=allocation,
        loads=_loads(group, set(annotators), allocation, size_of, work),
        criteria=sum(size_of[slot.response] for slot in allocation.slots),
        warnings=tuple(warnings),
    )


class _Row(NamedTuple):
    """A response of the frame; ``name`` is what it is called outside the database."""

    name: tuple[str, str, str, int]
    pk: int
    case: int
    author: int | None


def _frame(responses: QuerySet[Response]) -> list[_Row]:
    """The responses by their names. Python sorts them: a database sorts text by its own locale."""
    rows = responses.order_by().values_list(
        "case__key", "candidate__name", "setting", "sample", "pk", "case_id", "author_id"
    )
    return sorted(_Row((key, candidate, setting, sample), *rest) for key, candidate, setting, sample, *rest in rows)


def _allocate(
    drawn: Sequence[_Row],
    people: Sequence[int],
    annotators: Collection[int],
    checkers: Collection[int],
    *,
    terms: BatchTerms,
    work: Mapping[int, int],
    barred: Collection[tuple[int, int]],
) -> Allocation:
    """`allocate` over places in the order of names and of joining the group instead of numbers of rows.

    So the same seed gives the same plan in every database that holds the same benchmark and group.
    """
    response_at = {row.pk: place for place, row in enumerate(drawn)}
    case_at = {case: place for place, case in enumerate(dict.fromkeys(row.case for row in drawn))}
    person_at = {user: place for place, user in enumerate(people)}
    found = allocate(
        [
            Item(response_at[row.pk], case_at[row.case], person_at.get(row.author) if row.author else None)
            for row in drawn
        ],
        [person_at[user] for user in annotators],
        per_item=terms.annotators_per_item,
        seed=terms.seed,
        checkers=[person_at[user] for user in checkers],
        check_fraction=terms.fraction,
        by_case=terms.order == Batch.Order.BY_CASE,
        existing_load={person_at[user]: load for user, load in work.items()},
        barred={(response_at[response], person_at[user]) for response, user in barred},
    )
    return Allocation(
        tuple(replace(slot, response=drawn[slot.response].pk, annotator=people[slot.annotator]) for slot in found.slots)
    )


def _open_work(annotators: set[int]) -> dict[int, int]:
    rows = Assignment.objects.filter(
        annotator__in=annotators, status__in=Assignment.OPEN, batch__status__in=["open", "paused"]
    )
    return dict(rows.values_list("annotator").annotate(Count("pk")).order_by())


def _loads(
    group: ExpertGroup, annotators: set[int], allocation: Allocation, size_of: dict[int, int], work: dict[int, int]
) -> tuple[PhysicianLoad, ...]:
    responses, criteria = allocation.load, dict.fromkeys(annotators, 0)
    for slot in allocation.slots:
        criteria[slot.annotator] += size_of[slot.response]
    names = dict(
        Physician.objects.filter(benchmark=group.benchmark_id, user__in=annotators).values_list("user_id", "pseudonym")
    )
    return tuple(
        PhysicianLoad(user, names.get(user.pk, ""), responses.get(user.pk, 0), criteria[user.pk], work.get(user.pk, 0))
        for user in User.objects.filter(pk__in=annotators).order_by("name", "pk")
    )


@transaction.atomic
def create_batch(*, plan: BatchPlan, by: User | None, at: datetime, digest: str = "") -> Batch:
    """Make the batch exactly as planned. `Conflict` if ``digest`` names another plan than this one."""
    if digest and digest != plan.digest:
        raise Conflict(
            _("Responses or members changed since the preview. Look at the new preview, then make the batch.")
        )
    terms = plan.terms
    if not terms.title.strip():
        raise DomainError(_("A batch needs a title."))
    batch = Batch.objects.create(
        group=plan.group,
        title=terms.title.strip(),
        order=terms.order,
        annotators_per_item=terms.annotators_per_item,
        check_policy=terms.check_policy,
        check_fraction=terms.fraction,
        due_date=terms.due_date,
        seed=terms.seed,
        frame={
            "filter": {name: value for name, value in asdict(plan.filter).items() if value not in ((), [], None)},
            "seed": terms.seed,
            "in_frame": plan.in_frame,
            "drawn": len(plan.responses),
            "inclusion_probability": plan.inclusion_probability,
        },
        created_by=by,
        created_at=at,
    )
    BatchItem.objects.bulk_create(
        [
            BatchItem(
                batch=batch,
                response_id=response,
                rubric_id=plan.rubrics[response],
                inclusion_probability=plan.inclusion_probability,
            )
            for response in plan.responses
        ],
        batch_size=1000,
    )
    with spoken_rules():
        Assignment.objects.bulk_create(
            [
                Assignment(
                    batch=batch,
                    case_id=plan.cases[slot.response],
                    response_id=slot.response,
                    rubric_id=plan.rubrics[slot.response],
                    annotator_id=slot.annotator,
                    position=slot.position,
                    to_check=slot.to_check,
                )
                for slot in plan.allocation.slots
            ],
            batch_size=1000,
        )
    return batch


@transaction.atomic
def pause_batch(*, batch: Batch) -> None:
    """Take no work until the batch is opened again."""
    seize_batch(batch.pk)
    transition(batch, source=[Batch.Status.OPEN], target=Batch.Status.PAUSED)


@transaction.atomic
def open_batch(*, batch: Batch) -> None:
    """Take work again in a paused batch. A closed one stays closed: blinding may have ended with it."""
    seize_batch(batch.pk)
    transition(batch, source=[Batch.Status.PAUSED], target=Batch.Status.OPEN)


@transaction.atomic
def close_batch(*, batch: Batch, at: datetime) -> None:
    """End the batch for good. Work that was not finished stays where it is, and counts in no result."""
    seize_batch(batch.pk)
    transition(batch, source=[Batch.Status.OPEN, Batch.Status.PAUSED], target=Batch.Status.CLOSED, closed_at=at)
    settle_closed_batch(batch=batch, at=at)


@transaction.atomic
def extend_batch(*, batch: Batch, due_date: date | None) -> None:
    """Set another due date, or none."""
    hit = Batch.objects.filter(~Q(status=Batch.Status.CLOSED), pk=batch.pk).update(due_date=due_date)
    if hit != 1:
        raise Conflict(_("This batch is closed, so nothing in it can change any more."))
    batch.due_date = due_date
