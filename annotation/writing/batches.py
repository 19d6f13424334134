"""Creates a writing batch as previewed, and hands over its open tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Max
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import Batch, WritingTask, WritingTerms
from annotation.selectors.able import able_annotators
from annotation.services.batch_titles import sound_title
from annotation.services.case_handover import fitting_tasks, lock_exclusive, refuse_nothing_open, spread
from annotation.services.notices import notify_of_writing
from annotation.services.previews import refuse_repeated
from annotation.services.rules import readable_constraint_errors
from annotation.writing.exclusions import excluded_writers
from annotation.writing.writing_plan import WritingFilter, WritingOrder, WritingPlan, order_shown, plan_writing
from consilium.core.errors import Conflict
from consilium.core.transitions import transition
from rubrics.models import Benchmark, Candidate


@transaction.atomic
def create_writing_batch(
    *, order: WritingOrder, filter: WritingFilter, by: User | None, at: datetime, digest: str = ""
) -> Batch:
    """Give the cases out. `Conflict` if ``digest`` differs from that of the plan that would be made now.

    `AlreadyCreated` if the previewed plan was made into a batch before.
    """
    # Without the lock two simultaneous batches could give the same case to the same writer.
    Benchmark.objects.select_for_update(no_key=True).get(pk=order.group.benchmark_id)
    refuse_repeated(group=order.group, kind=Batch.Kind.WRITE, seed=order.seed, digest=digest)
    plan = plan_writing(order=order, filter=filter)
    if digest and digest != plan.digest:
        raise Conflict(
            _("Cases or members have changed since the preview. Review the new preview, then assign the cases.")
        )
    title = sound_title(order.title, benchmark=order.group.benchmark)
    batch = Batch.objects.create(
        group=order.group,
        title=title,
        kind=Batch.Kind.WRITE,
        order=Batch.Order.SHUFFLED,
        annotators_per_item=order.writers_per_case,
        check_policy=Batch.CheckPolicy.NONE,
        check_fraction=0.0,
        specialty_match=order.specialty_match,
        match_languages=order.match_languages,
        due_date=order.due_date,
        seed=order.seed,
        plan_digest=digest,
        frame=_frame(plan),
        created_by=by,
        created_at=at,
    )
    terms = WritingTerms.objects.create(
        batch=batch,
        candidate=_candidate(order),
        mode=order.mode,
        mode_name=order.mode_name.strip(),
        instructions=order.instructions.strip(),
    )
    terms.references.set(order.references)
    with readable_constraint_errors():
        WritingTask.objects.bulk_create(
            [
                WritingTask(
                    batch=batch,
                    case_id=slot.response,  # the allocation's items are cases
                    writer_id=slot.annotator,
                    position=slot.position,
                    shown=order_shown(
                        plan.shown[slot.response], seed=order.seed, case=slot.response, writer=slot.annotator
                    ),
                )
                for slot in plan.allocation.slots
            ],
            batch_size=1000,
        )
    notify_of_writing(batch=batch, counts=Counter(plan.allocation.load), at=at)
    return batch


def _candidate(order: WritingOrder) -> Candidate:
    candidate, _created = Candidate.objects.get_or_create(
        benchmark=order.group.benchmark, name=order.candidate.strip(), defaults={"kind": Candidate.Kind.PHYSICIAN}
    )
    return candidate


def _frame(plan: WritingPlan) -> dict[str, object]:
    return {
        "filter": plan.filter.record(),
        "seed": plan.order.seed,
        "in_frame": plan.in_frame,
        "drawn": len(plan.cases),
        "inclusion_probability": len(plan.cases) / plan.in_frame,
        "without_references": plan.without_references,
        "without_writers": plan.without_writers,
    }


# Handing over and taking back -----------------------------------------------------------------------------------------


def movable_tasks(*, batch: Batch, holder: int) -> list[WritingTask]:
    """Tasks that ``holder`` has not handed in, in the order of their queue; none in a closed batch."""
    rows = WritingTask.objects.filter(batch=batch, writer=holder, status__in=WritingTask.OPEN)
    return list(rows.exclude(batch__status=Batch.Status.CLOSED))


def takers_of(*, batch: Batch, tasks: Sequence[WritingTask]) -> dict[int, list[WritingTask]]:
    """Active annotators who may get new work → the tasks that they may take over; those who may take none are left out.

    The same exclusions hold as for a new batch. Nobody gets back a case that they had in this batch before.
    """
    people = able_annotators(batch.group).users
    cases = [task.case_id for task in tasks]
    terms = batch.writing_terms
    exclusions = excluded_writers(
        mode=terms.mode,
        candidate=terms.candidate,
        cases=cases,
        people=people,
        match_languages=batch.match_languages,
    )
    had = WritingTask.objects.filter(batch=batch, case__in=cases).values_list("case_id", "writer_id")
    return fitting_tasks(tasks, people, set(had).union(*exclusions.values()))


def open_in(batch: Batch) -> dict[int, int]:
    """Writer → cases of the batch that they have open."""
    rows = WritingTask.objects.filter(batch=batch, status__in=WritingTask.OPEN).order_by()
    return dict(rows.values_list("writer").annotate(Count("pk")))


@transaction.atomic
def hand_over_writing(*, batch: Batch, holder: User, to: User | None, at: datetime) -> int:
    """Give the open cases of ``holder`` to ``to``, or spread them if ``to`` is None; returns how many were given.

    A case that nobody may take stays with its holder. A draft stays on record and becomes no response: the new writer
    starts from scratch. `Conflict` if nothing is open; `DomainError` if nobody may take any of the cases.
    """
    lock_exclusive(batch)
    tasks = movable_tasks(batch=batch, holder=holder.pk)
    refuse_nothing_open(tasks)
    moves = spread(tasks, takers_of(batch=batch, tasks=tasks), open_in(batch), to=to)
    rows = WritingTask.objects.filter(batch=batch, writer__in=moves.values()).order_by()
    last = Counter(dict(rows.values_list("writer").annotate(Max("position"))))
    for task in tasks:
        taker = moves.get(task.pk)
        if taker is None:
            continue
        _release(task, WritingTask.Release.PASSED_ON, at)
        last[taker] += 1
        WritingTask.objects.create(
            batch=batch,
            case_id=task.case_id,
            writer_id=taker,
            position=last[taker],
            shown=order_shown(task.shown, seed=batch.seed, case=task.case_id, writer=taker),
        )
    notify_of_writing(batch=batch, counts=Counter(moves.values()), at=at)
    return len(moves)


@transaction.atomic
def take_back(*, batch: Batch, holder: User, at: datetime) -> int:
    """Release the open cases of ``holder`` without giving them to anybody; returns how many."""
    lock_exclusive(batch)
    tasks = movable_tasks(batch=batch, holder=holder.pk)
    refuse_nothing_open(tasks)
    for task in tasks:
        _release(task, WritingTask.Release.TAKEN_BACK, at)
    return len(tasks)


def _release(task: WritingTask, reason: str, at: datetime) -> None:
    transition(task, source=WritingTask.OPEN, target=WritingTask.Status.RELEASED, released_at=at, release_reason=reason)
