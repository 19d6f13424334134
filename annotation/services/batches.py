"""Creates batches as planned, and changes whether they take work."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from datetime import date, datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import Assignment, Batch, BatchItem, ExpertGroup, Slot
from annotation.qualification.gold import mix_in_gold
from annotation.services.batch_terms import BatchTerms
from annotation.services.batch_titles import sound_title
from annotation.services.conflicts import settle_closed_batch
from annotation.services.drawing import ResponseFilter
from annotation.services.due import notify_of_new_due_date
from annotation.services.notices import notify_of_new_work
from annotation.services.planning import BatchPlan, plan_batch
from annotation.services.previews import lock_group, refuse_repeated
from annotation.services.rules import lock_batch_exclusive, readable_constraint_errors
from annotation.services.slots.claims import lease_end
from consilium.core.errors import Conflict
from consilium.core.transitions import transition


@transaction.atomic
def make_batch(
    *,
    group: ExpertGroup,
    terms: BatchTerms,
    filter: ResponseFilter,
    by: User | None,
    at: datetime,
    digest: str = "",
) -> tuple[Batch, BatchPlan]:
    """Plan a batch and make it, one at a time in a group. With ``digest``, exactly the plan that was previewed.

    `AlreadyCreated` if the preview was made into a batch before; `Conflict` if the plan would differ by now.
    """
    lock_group(group)
    refuse_repeated(group=group, kind=Batch.Kind.GRADE, seed=terms.seed, digest=digest)
    plan = plan_batch(group=group, terms=terms, filter=filter)
    return create_batch(plan=plan, by=by, at=at, digest=digest), plan


@transaction.atomic
def create_batch(*, plan: BatchPlan, by: User | None, at: datetime, digest: str = "") -> Batch:
    """Make the batch exactly as planned. `Conflict` if ``digest`` is that of another plan."""
    if digest and digest != plan.digest:
        raise Conflict(
            _("Responses or members have changed since the preview. Review the new preview, then create the batch.")
        )
    terms = plan.terms
    lock_group(plan.group)
    refuse_repeated(group=plan.group, kind=Batch.Kind.GRADE, seed=terms.seed, digest=digest)
    title = sound_title(terms.title, benchmark=plan.group.benchmark)
    batch = Batch.objects.create(
        group=plan.group,
        title=title,
        order=terms.order,
        annotators_per_item=terms.annotators_per_item,
        check_policy=terms.check_policy,
        check_fraction=terms.fraction,
        strategy=terms.strategy,
        specialty_match=terms.specialty_match,
        match_languages=terms.match_languages,
        lease_hours=terms.lease_hours,
        gold_per_annotator=terms.gold_per_annotator,
        explain_cannot_assess=terms.explain_cannot_assess,
        due_date=terms.due_date,
        seed=terms.seed,
        plan_digest=digest,
        frame=_frame(plan),
        created_by=by,
        created_at=at,
    )
    items = BatchItem.objects.bulk_create(
        [
            BatchItem(
                batch=batch,
                response_id=response,
                rubric_id=plan.rubrics[response],
                inclusion_probability=plan.probabilities[response],
            )
            for response in plan.responses
        ],
        batch_size=1000,
    )
    slots = {
        (slot.item.response_id, slot.number): slot
        for slot in Slot.objects.bulk_create(
            [Slot(item=item, number=number) for item in items for number in range(1, terms.annotators_per_item + 1)],
            batch_size=1000,
        )
    }
    taken: Counter[int] = Counter()
    rows = []
    for given in plan.allocation.slots:
        taken[given.response] += 1
        rows.append(
            Assignment(
                batch=batch,
                case_id=plan.cases[given.response],
                response_id=given.response,
                rubric_id=plan.rubrics[given.response],
                annotator_id=given.annotator,
                slot=slots[given.response, taken[given.response]],
                position=given.position,
                to_check=given.to_check,
                lease_until=lease_end(batch, at),
            )
        )
    with readable_constraint_errors():
        Assignment.objects.bulk_create(rows, batch_size=1000)
    mix_in_gold(batch=batch, at=at)
    notify_of_new_work(batch=batch, at=at)
    return batch


# Settings that a batch keeps as they were sent.
_KEPT = (
    *("annotators_per_item", "check_policy", "order", "due_date", "strategy", "specialty_match", "match_languages"),
    *("lease_hours", "explain_cannot_assess"),
)


def settings_not_taken(*, batch: Batch, terms: BatchTerms, filter: ResponseFilter) -> list[str]:
    """The names of settings in which a repeated request differs from the batch that was made from its preview."""
    names = [name for name in _KEPT if getattr(terms, name) != getattr(batch, name)]
    if terms.title.strip() != batch.title:
        names.insert(0, "title")
    if terms.check_policy == batch.check_policy and terms.fraction != batch.check_fraction:
        names.append("check_fraction")
    if json.loads(json.dumps(_stored_filter(filter), default=str)) != batch.frame.get("filter"):
        names.append("filter")
    return names


def _stored_filter(filter: ResponseFilter) -> dict[str, object]:
    chosen = asdict(filter)
    del chosen["overlap_with"], chosen["overlap_share"]
    return {name: value for name, value in chosen.items() if value not in ((), [], None)}


def _frame(plan: BatchPlan) -> dict[str, object]:
    frame: dict[str, object] = {
        "filter": _stored_filter(plan.filter),
        "seed": plan.terms.seed,
        "in_frame": plan.in_frame,
        "drawn": len(plan.responses),
        "inclusion_probability": plan.inclusion_probability,
    }
    if plan.overlap is not None:
        frame["overlap"] = plan.overlap.record()
    return frame


def _refuse_repeated(batch: Batch, status: str, message: str) -> None:
    """`Conflict` where the batch has the status already; call it under the lock of the batch."""
    if Batch.objects.filter(pk=batch.pk, status=status).exists():
        raise Conflict(message)


@transaction.atomic
def pause_batch(*, batch: Batch) -> None:
    """Take no work until the batch is opened again."""
    lock_batch_exclusive(batch.pk)
    _refuse_repeated(batch, Batch.Status.PAUSED, _("This batch is already paused, perhaps from another tab."))
    transition(batch, source=[Batch.Status.OPEN], target=Batch.Status.PAUSED)


@transaction.atomic
def open_batch(*, batch: Batch, at: datetime | None = None) -> None:
    """Take work again in a paused batch. A closed batch stays closed: blinding may have ended with it.

    Leases begin again, as nobody could work while the batch was paused.
    """
    lock_batch_exclusive(batch.pk)
    _refuse_repeated(batch, Batch.Status.OPEN, _("This batch is already open, perhaps from another tab."))
    transition(batch, source=[Batch.Status.PAUSED], target=Batch.Status.OPEN)
    if batch.lease_hours:
        leased = Assignment.objects.filter(batch=batch, status__in=Assignment.OPEN, lease_until__isnull=False)
        leased.update(lease_until=lease_end(batch, at or timezone.now()))


@transaction.atomic
def close_batch(*, batch: Batch, at: datetime) -> None:
    """Close the batch for good. Unfinished work stays with its annotators, and counts in no result."""
    lock_batch_exclusive(batch.pk)
    _refuse_repeated(batch, Batch.Status.CLOSED, _("This batch is already closed, perhaps from another tab."))
    transition(batch, source=[Batch.Status.OPEN, Batch.Status.PAUSED], target=Batch.Status.CLOSED, closed_at=at)
    settle_closed_batch(batch=batch, at=at)


@transaction.atomic
def extend_batch(*, batch: Batch, due_date: date | None, at: datetime | None = None) -> None:
    """Set another due date, or none, and notify those with open work where it is another one."""
    before = Batch.objects.values_list("due_date", flat=True).get(pk=batch.pk)
    hit = Batch.objects.filter(~Q(status=Batch.Status.CLOSED), pk=batch.pk).update(due_date=due_date)
    if hit != 1:
        raise Conflict(_("This batch is closed, so nothing in it can be changed."))
    batch.due_date = due_date
    if before != due_date:
        notify_of_new_due_date(batch=batch, at=at or timezone.now())
