"""Assignments that leave their annotator: returned, handed over, deferred. Decisions stay on record."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F, Max, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.models import Adjudication, Assignment, Batch, BatchItem, Check, ExpertGroup, Skip, Slot
from annotation.selectors.eligibility import eligibility_of
from annotation.selectors.languages_read import unreadable_pairs
from annotation.services.notices import notify_of_passed_work
from annotation.services.rules import NoLongerOpen, lock_batch_shared, refuse_unless_open
from annotation.services.slots.claims import give, next_position
from annotation.services.slots.free_slots import annotators_of, free_slots, matching_cases, open_in_group, refusals
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_NOTE_LENGTH
from consilium.core.transitions import transition


@transaction.atomic
def release(*, assignments: Iterable[Assignment], by: User | None, at: datetime) -> int:
    """Put open work back, so that somebody else may take it; returns how many pieces.

    Work that was handed in meanwhile stays. `Conflict` if no work is left to put back. The audit trail says who did it.
    """
    rows = _lock_open([row.pk for row in assignments])
    if not rows:
        raise Conflict(_("This work has already been submitted or released, so it was not moved."))
    for row in rows:
        _let_go(row, at)
    return len(rows)


def _lock_open(ids: Collection[int]) -> list[Assignment]:
    """Lock and return the rows that can still be released or reassigned: open work of batches that are not closed."""
    batches = Assignment.objects.filter(pk__in=ids).order_by("batch").values_list("batch", flat=True).distinct()
    for batch in list(batches):
        lock_batch_shared(batch)
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "batch__group__benchmark", "annotator", "response"
    )
    return list(
        rows.filter(pk__in=ids, status__in=Assignment.OPEN, batch__imported=False)
        .exclude(batch__status=Batch.Status.CLOSED)
        .exclude(purpose=Assignment.Purpose.QUALIFICATION)
        .order_by("pk")
    )


def _let_go(row: Assignment, at: datetime) -> None:
    slot = row.slot_id
    if slot is None and row.purpose == Assignment.Purpose.WORK:  # created before slots were introduced
        slot = _new_slot(row).pk
    transition(
        row,
        source=Assignment.OPEN,
        target=Assignment.Status.RELEASED,
        released_at=at,
        lease_until=None,
        slot_id=slot,
    )


def _new_slot(row: Assignment) -> Slot:
    item = BatchItem.objects.select_for_update(no_key=True).get(batch=row.batch_id, response=row.response_id)
    last = Slot.objects.filter(item=item).aggregate(last=Max("number"))["last"] or 0
    return Slot.objects.create(item=item, number=last + 1)


@transaction.atomic
def reassign(*, assignments: Iterable[Assignment], to: User, by: User | None, at: datetime) -> int:
    """Give open work to another annotator of the group; returns how many pieces.

    `DomainError` with the reason, and nothing is reassigned, if ``to`` may not take all of it. Work that was handed in
    meanwhile stays where it is; `Conflict` if no work is left to reassign.
    """
    rows = [row for row in _lock_open([row.pk for row in assignments]) if row.purpose == Assignment.Purpose.WORK]
    rows = [row for row in rows if row.annotator_id != to.pk]
    if not rows:
        raise Conflict(_("This work has already been submitted or reassigned, so it was not moved."))
    for batch in {row.batch_id: row.batch for row in rows}.values():
        _refuse_new_hand(to, batch, [row for row in rows if row.batch_id == batch.pk], at)
    for row in rows:
        _let_go(row, at)
        assert row.slot_id is not None  # set by `_let_go`
        slot = Slot.objects.select_related("item__response").get(pk=row.slot_id)
        give(slot=slot, annotator=to, batch=row.batch, at=at)
    notify_of_passed_work(assignments=rows, to=to.pk, at=at)
    return len(rows)


@transaction.atomic
def assign(*, free: Iterable[Slot], batch: Batch, to: User, at: datetime) -> int:
    """Give free slots of the batch to an annotator of its group; returns how many.

    `DomainError` with the reason, and nothing is assigned, if ``to`` may not take all of it. Slots that were claimed
    meanwhile stay where they are, as do those of excluded cases; `Conflict` if none is left, or if the batch is closed.
    """
    lock_batch_shared(batch.pk)
    batch = Batch.objects.select_related("group__benchmark").get(pk=batch.pk)
    # First the member, as in `claim_next`: otherwise this and a claim of theirs could wait for each other.
    annotators_of(batch.group_id).select_for_update(no_key=True, of=("self",)).filter(user=to.pk).first()
    ids = {slot.pk for slot in free}
    # The locks may have been granted after another transaction's commit, which only the second query sees.
    locked = list(Slot.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=ids).order_by("pk"))
    rows = free_slots([batch.pk]).filter(pk__in=[slot.pk for slot in locked], item__response__case__excluded_at=None)
    slots = list(rows.select_related("item__response").order_by("pk"))
    if not slots or batch.imported or batch.status == Batch.Status.CLOSED:
        raise Conflict(_("This work has already been claimed, or its batch is closed, so it was not moved."))
    _refuse_new_hand(to, batch, slots, at)
    given = [give(slot=slot, annotator=to, batch=batch, at=at) for slot in slots]
    notify_of_passed_work(assignments=given, to=to.pk, at=at)
    return len(given)


def why_not(*, to: User, batch: Batch, pieces: Sequence[Assignment | Slot], at: datetime) -> str:
    """Why ``to`` cannot take over this work of the batch, in a sentence; empty if they can."""
    try:
        with transaction.atomic():
            _refuse_new_hand(to, batch, pieces, at)
    except DomainError as refused:
        return str(refused)
    return ""


def _refuse_new_hand(to: User, batch: Batch, rows: Sequence[Assignment | Slot], at: datetime) -> None:
    """`DomainError` with the reason why ``to`` cannot take over these rows of the batch."""
    member = annotators_of(batch.group_id).select_for_update(no_key=True, of=("self",)).filter(user=to.pk).first()
    if member is None:
        raise DomainError(_("%(person)s is not an active annotator of the group.") % {"person": to})
    if not eligibility_of(to, batch.group, at=at).may_get_work:
        raise DomainError(_("Assignments to %(person)s are paused; see “Quality” for the reason.") % {"person": to})
    responses = {row.response_id for row in rows}
    own = sum(row.response.author_id == to.pk for row in rows)
    if own:
        raise DomainError(
            ngettext(
                "%(person)s wrote %(n)d of these responses and cannot grade it.",
                "%(person)s wrote %(n)d of these responses and cannot grade them.",
                own,
            )
            % {"person": to, "n": own}
        )
    # Two slots of one response must not go to one person either.
    refused = refusals(batch.group_id, [to.pk], responses)
    excluded = {response for refused_responses in refused.values() for response in refused_responses}
    part = len(excluded) + len(rows) - len(responses)
    if part:
        raise DomainError(
            ngettext(
                "%(person)s already has a role in %(n)d of these responses, or skipped it.",
                "%(person)s already has a role in %(n)d of these responses, or skipped them.",
                part,
            )
            % {"person": to, "n": part}
        )
    if batch.specialty_match == Batch.SpecialtyMatch.REQUIRED:
        fitting = set(matching_cases(to, batch))
        others = sum(row.case_id not in fitting for row in rows)
        if others:
            raise DomainError(
                ngettext(
                    "%(n)d of these responses requires a specialty other than that of %(person)s.",
                    "%(n)d of these responses require a specialty other than that of %(person)s.",
                    others,
                )
                % {"person": to, "n": others}
            )
    if batch.match_languages:
        others = len(unreadable_pairs({row.case_id for row in rows}, [to.pk]))
        if others:
            raise DomainError(
                ngettext(
                    "%(n)d of these cases is in a language that %(person)s does not read.",
                    "%(n)d of these cases are in languages that %(person)s does not read.",
                    others,
                )
                % {"person": to, "n": others}
            )
    if member.capacity is not None:
        open_now = open_in_group(to.pk, batch.group_id)
        if open_now + len(rows) > member.capacity:
            raise DomainError(
                _("%(person)s has %(open)d open responses and a capacity of %(capacity)d; %(n)d more would exceed it.")
                % {"person": to, "open": open_now, "capacity": member.capacity, "n": len(rows)}
            )


@transaction.atomic
def skip(*, assignment: Assignment, annotator: User, reason: str, note: str = "", at: datetime) -> None:
    """Pass over a response.

    ``later`` moves it to the end of the annotator's own queue. Any other reason gives it back to the pool for good, so
    that it is not offered to this annotator again. `Conflict` if it was handed in.
    """
    if reason not in Skip.Reason.values:
        raise DomainError(_("Choose a reason: later, outside your field, cannot be judged, or another reason."))
    note = note.strip()
    if reason == Skip.Reason.OTHER and not note:
        raise DomainError(_("Explain in the note why you are skipping this response."))
    if len(note) > MAX_NOTE_LENGTH:
        raise DomainError(_("A note has at most %(most)d characters.") % {"most": MAX_NOTE_LENGTH})
    lock_batch_shared(assignment.batch_id)
    row = (
        Assignment.objects.select_for_update(no_key=True, of=("self",))
        .select_related("batch")
        .get(pk=assignment.pk, annotator=annotator)
    )
    refuse_unless_open(row.batch)
    if row.status not in Assignment.OPEN:
        raise NoLongerOpen(_("This response has already been submitted or released, so it cannot be skipped."))
    if row.purpose == Assignment.Purpose.QUALIFICATION and reason != Skip.Reason.LATER:
        raise DomainError(_("Responses of a qualification can be postponed but not released."))
    Skip.objects.create(assignment=row, reason=reason, note=note, created_at=at)
    if reason == Skip.Reason.LATER:
        row.position = next_position(annotator.pk, row.batch_id)
        row.save(update_fields=["position"])
    else:
        _let_go(row, at)
    for name in ("status", "position", "released_at"):
        setattr(assignment, name, getattr(row, name))


# Work of a physician who leaves -------------------------------------------------------------------------------------


@transaction.atomic
def release_open_work_of(*, user: User, group: ExpertGroup, by: User | None, at: datetime) -> int:
    """Put back all open work of ``user`` in the group; returns how many pieces without gold. Submitted work is kept."""
    rows = _lock_open(_open_of(user, group))
    for row in rows:
        _let_go(row, at)
    return sum(row.purpose == Assignment.Purpose.WORK for row in rows)


def _open_of(user: User, group: ExpertGroup) -> list[int]:
    rows = Assignment.objects.filter(annotator=user, batch__group=group, status__in=Assignment.OPEN)
    return list(rows.values_list("pk", flat=True))


@transaction.atomic
def release_if_left(*, assignment: Assignment, at: datetime) -> bool:
    """Put returned work back if its annotator has left the group meanwhile; returns whether it was put back."""
    if annotators_of(assignment.batch.group_id).filter(user=assignment.annotator_id).exists():
        return False
    rows = _lock_open([assignment.pk])
    for row in rows:
        _let_go(row, at)
        assignment.status = row.status
    return bool(rows)


@transaction.atomic
def release_held_checks_of(*, user: User, group: ExpertGroup) -> int:
    """Put back a checker's unfinished checks for other checkers; amendments made so far stay in the record."""
    rows = list(
        Assignment.objects.select_for_update(no_key=True, of=("self",))
        .filter(batch__group=group, checker=user, status=Assignment.Status.IN_CHECK)
        .exclude(batch__status=Batch.Status.CLOSED)
    )
    for row in rows:
        put_back_check(row, Check.objects.get(assignment=row, round=row.round))
    return len(rows)


def put_back_check(row: Assignment, check: Check) -> None:
    """Make work that is in check free for another checker, who starts from the annotator's decisions.

    Taking the amendments back counts as a save, so that a tab that still shows them is stale.
    """
    left = check.amendments.exclude(outcome="", to_review=False)
    left.update(outcome="", to_review=False, version=F("version") + 1, client_id=None)
    transition(row, source=[Assignment.Status.IN_CHECK], target=Assignment.Status.SUBMITTED, checker=None)


@transaction.atomic
def release_held_adjudications_of(*, user: User, group: ExpertGroup) -> int:
    """Put back the user's unfinished adjudications for other adjudicators, who continue from the existing rulings."""
    rows = Adjudication.objects.filter(adjudicator=user, status=Adjudication.Status.OPEN)
    return rows.filter(Q(group=group) | Q(other_group=group)).update(adjudicator=None)
