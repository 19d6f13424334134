"""Claims work: the annotator's open assignment first, otherwise a free slot; no two annotators get the same slot."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction
from django.db.models import Case, Count, Max, QuerySet, Value, When
from django.db.models.functions import MD5, Cast, Concat
from django.utils import timezone

from accounts.models import User
from annotation.allocation.allocate import drawn_places
from annotation.models import Assignment, Batch, Membership, Slot
from annotation.qualification.gold import gold_due
from annotation.selectors.eligibility import eligibility_of
from annotation.services.rules import lock_batch_shared, readable_constraint_errors, refuse_unless_open
from annotation.services.slots.free_slots import annotators_of, matching_cases, open_in_group, put_off, takable
from consilium.core.transitions import transition


@transaction.atomic
def claim_next(*, annotator: User, batch: Batch, at: datetime) -> Assignment | None:
    """The annotator's next work in ``batch``; None when nothing is there for them.

    Returned work comes first, then drafts and the rest of their queue, then a free slot, which is taken for them, and
    last the work that they put off. Slots that another annotator is just taking are skipped. If only such slots are
    left, this waits for them, since they may become free again. `Conflict` if the batch is paused or closed.
    """
    lock_batch_shared(batch.pk)
    batch = Batch.objects.select_related("group__benchmark").get(pk=batch.pk)
    refuse_unless_open(batch)
    # One claim of a person at a time: two tabs get the same response, and a race cannot exceed the capacity.
    member = (
        annotators_of(batch.group_id).select_for_update(no_key=True, of=("self",)).filter(user=annotator.pk).first()
    )
    if member is None or batch.imported:
        return None
    waiting, left_for_later = _own_open(annotator, batch)
    if waiting is not None:
        return waiting
    if batch.kind == Batch.Kind.GRADE and _has_room(member) and _may_get_work(annotator, batch, at):
        taken = _take(annotator, batch, at)
        if taken is not None:
            return taken
    return left_for_later


def _own_open(annotator: User, batch: Batch) -> tuple[Assignment | None, Assignment | None]:
    """The first open work in the annotator's queue, else None; and, only if there is none, the first deferred work."""
    order = Case(
        When(status=Assignment.Status.RETURNED, then=0), When(status=Assignment.Status.DRAFT, then=1), default=2
    )
    rows = (
        Assignment.objects.filter(batch=batch, annotator=annotator, status__in=Assignment.OPEN)
        .annotate(put_off=put_off(), rank=order)
        .order_by("put_off", "rank", "position", "pk")
    )
    first = rows.first()
    if first is None or first.put_off:
        return None, rows.order_by("position", "pk").first()
    return first, None


def _has_room(member: Membership) -> bool:
    return member.capacity is None or open_in_group(member.user_id, member.group_id) < member.capacity


def _may_get_work(annotator: User, batch: Batch, at: datetime) -> bool:
    return eligibility_of(annotator, batch.group, at=at).may_get_work


def _take(annotator: User, batch: Batch, at: datetime) -> Assignment | None:
    rows = _ordered(takable(annotator, [batch]), annotator, batch)
    if batch.gold_per_annotator and rows.exists():
        due = gold_due(annotator=annotator, batch=batch, at=at)
        if due is not None:
            return due
    while True:
        # Rolling back to the savepoint releases the lock of a slot that turns out to be taken; if the lock were kept,
        # two claims could wait for each other.
        sid = transaction.savepoint()
        slot = rows.select_for_update(no_key=True, of=("self",), skip_locked=True).first()
        if slot is None:
            slot = rows.select_for_update(no_key=True, of=("self",)).first()
        if slot is None:
            transaction.savepoint_commit(sid)
            return None
        # The lock may have been granted after another transaction's commit, which the query for the slot did not see.
        if not takable(annotator, [batch]).filter(pk=slot.pk).exists():
            transaction.savepoint_rollback(sid)
            continue
        transaction.savepoint_commit(sid)
        return give(slot=slot, annotator=annotator, batch=batch, at=at)


def _ordered(rows: QuerySet[Slot], annotator: User, batch: Batch) -> QuerySet[Slot]:
    """The annotator's own order, a keyed shuffle of cases, then of responses; it reveals nothing about the candidates.

    In a batch ordered by case, the case of their last response comes first. Cases of their specialty come before others
    where a match is preferred.
    """
    key = f"{batch.seed}:{annotator.pk}:"

    def keyed(column: str) -> MD5:
        return MD5(Concat(Value(key + column + ":"), Cast(column, models.CharField())))

    order: list[Any] = []
    if batch.order == Batch.Order.BY_CASE:
        last = Assignment.objects.filter(batch=batch, annotator=annotator).order_by("-position", "-pk")
        case = last.values_list("case", flat=True).first()
        order.append(Case(When(item__response__case=case, then=0), default=1))
    if batch.specialty_match == Batch.SpecialtyMatch.PREFERRED:
        order.append(Case(When(item__response__case__in=matching_cases(annotator, batch), then=0), default=1))
    if batch.order == Batch.Order.BY_CASE:
        order.append(keyed("item__response__case_id"))
    return rows.order_by(*order, keyed("item__response_id"), "number")


def give(*, slot: Slot, annotator: User, batch: Batch, at: datetime) -> Assignment:
    """Assign a free slot to the annotator, in a transaction. Released work of theirs continues in its earlier state."""
    item = slot.item
    values: dict[str, Any] = {
        "slot": slot,
        "position": next_position(annotator.pk, batch.pk),
        "to_check": _to_check(slot, batch),
        "lease_until": lease_end(batch, at),
    }
    known = (
        Assignment.objects.select_for_update(no_key=True)
        .filter(batch=batch, response=item.response_id, rubric=item.rubric_id, annotator=annotator)
        .first()
    )
    with readable_constraint_errors():
        if known is None:
            return Assignment.objects.create(
                batch=batch,
                case_id=item.response.case_id,
                response_id=item.response_id,
                rubric_id=item.rubric_id,
                criteria=_named_criteria(slot),
                annotator=annotator,
                **values,
            )
        back_to = Assignment.Status.NOT_STARTED
        if known.round > 1:
            back_to = Assignment.Status.RETURNED
        elif known.started_at is not None:
            back_to = Assignment.Status.DRAFT
        transition(known, source=[Assignment.Status.RELEASED], target=back_to, released_at=None, **values)
    return known


def _named_criteria(slot: Slot) -> list[int] | None:
    """The criteria asked about on the slot's response, the same for later annotators too; None for the whole rubric."""
    rows = Assignment.objects.filter(slot__item=slot.item_id, rubric=slot.item.rubric_id, criteria__isnull=False)
    return rows.values_list("criteria", flat=True).first()


def next_position(annotator: int, batch: int) -> int:
    """The position after everything that the annotator ever had in the batch."""
    rows = Assignment.objects.filter(annotator=annotator, batch=batch)
    return (rows.aggregate(last=Max("position"))["last"] or 0) + 1


def _to_check(slot: Slot, batch: Batch) -> bool:
    """Whether the slot is drawn for a check; the first draw stays valid, whoever has the slot."""
    before = Assignment.objects.filter(slot=slot).order_by("-pk").values_list("to_check", flat=True).first()
    if before is not None:
        return before
    if batch.check_fraction in (0, 1):
        return bool(batch.check_fraction)
    places = list(Slot.objects.filter(item__batch=batch).order_by("item_id", "number").values_list("pk", flat=True))
    return places.index(slot.pk) in drawn_places(len(places), batch.check_fraction, batch.seed)


# Available responses ------------------------------------------------------------------------------------------------


def available(*, annotator: User, batch: Batch, at: datetime | None = None) -> int:
    """How many responses of the batch the annotator could take now; 0 while they have no room."""
    return available_in(annotator=annotator, batches=[batch], at=at).get(batch.pk, 0)


def available_in(*, annotator: User, batches: Sequence[Batch], at: datetime | None = None) -> dict[int, int]:
    """Batch id → `available`, in a number of queries that depends on the annotator's groups alone."""
    members = {
        member.group_id: member
        for member in Membership.objects.filter(
            user=annotator.pk,
            user__is_active=True,
            role=Membership.Role.ANNOTATOR,
            active=True,
            group__in={batch.group_id for batch in batches},
        )
    }
    groups = {batch.group_id: batch.group for batch in batches if batch.group_id in members}
    able = {
        group
        for group, row in groups.items()
        if _has_room(members[group]) and eligibility_of(annotator, row, at=at or timezone.now()).may_get_work
    }
    chosen = [
        batch
        for batch in batches
        if batch.group_id in able
        and batch.status == Batch.Status.OPEN
        and batch.kind == Batch.Kind.GRADE
        and not batch.imported
    ]
    if not chosen:
        return {}
    counts = takable(annotator, chosen).order_by().values_list("item__batch")
    return dict(counts.annotate(Count("item__response", distinct=True)))


def lease_end(batch: Batch, at: datetime) -> datetime | None:
    """When the lease of work that is handed out at ``at`` ends; None where the batch has no leases."""
    return at + timedelta(hours=batch.lease_hours) if batch.lease_hours else None
