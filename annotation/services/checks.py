"""Writes of a secondary checker: take work, amend it with a reason, accept it or send it back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.models import Amendment, Assignment, Check, Decision, Outcome
from annotation.qualification.gold import settle_beside
from annotation.selectors.queue_order import in_order_of_checking
from annotation.selectors.review_rounds import TO_REVIEW
from annotation.services.conflicts import open_conflicts_within
from annotation.services.notices import notify_of_return
from annotation.services.rules import (
    CHANGED_ELSEWHERE,
    lock_batch_shared,
    lock_next_claim,
    readable_constraint_errors,
    refuse_unless_open,
    refuse_unseen,
)
from annotation.services.slots import put_back_check, release_if_left
from annotation.services.staff_notices import notify_of_completed_batch
from consilium.core.errors import Conflict, DomainError
from consilium.core.transitions import transition
from consilium.core.versioning import is_replay, refuse_stale


class WouldDiscard(Conflict):
    """A check cannot be released unless its amendments and marks may be discarded."""


@transaction.atomic
def claim_check(*, checker: User, waiting: QuerySet[Assignment], at: datetime, wait: bool = False) -> Assignment | None:
    """Take the next piece of ``waiting`` (work that this checker may take by access); None when nothing is left.

    The order is that of `in_order_of_checking`. Rows that another checker is just taking are skipped, so two checkers
    never hold the same work. With ``wait``, for ``waiting`` that is one row, it waits for them instead: after None, a
    claim of the row is committed.
    """
    row = (
        in_order_of_checking(waiting, checker)
        .select_for_update(skip_locked=not wait, no_key=True, of=("self",))
        .select_related("batch")
        .first()
    )
    if row is None:
        return None
    lock_batch_shared(row.batch_id)
    row.batch.refresh_from_db(fields=["status"])
    refuse_unless_open(row.batch)
    with readable_constraint_errors():
        transition(row, source=[Assignment.Status.SUBMITTED], target=Assignment.Status.IN_CHECK, checker=checker)
    Check.objects.update_or_create(
        assignment=row,
        round=row.round,
        defaults={"checker": checker},
        create_defaults={"checker": checker, "created_at": at},
    )
    return row


@transaction.atomic
def next_check(
    *, checker: User, held: QuerySet[Assignment], waiting: QuerySet[Assignment], at: datetime
) -> Assignment | None:
    """The first of ``held`` (work that this checker has claimed), else a claim from ``waiting``; None for neither.

    Of several requests of one person at once, the first claims and the others get the same piece.
    """
    lock_next_claim(checker)
    own = held.order_by("submitted_at", "pk").first()
    return own or claim_check(checker=checker, waiting=waiting, at=at)


@transaction.atomic
def release_check(*, assignment: Assignment, checker: User, discard: bool = False) -> None:
    """Put claimed work back, so that another checker may take it; amendments and marks are taken back.

    They stay in the record. `Conflict` if there are any and ``discard`` is false.
    """
    row, check = _held(assignment, checker)
    if not discard and check.amendments.exclude(outcome="", to_review=False).exists():
        raise WouldDiscard(
            _("This check has amendments or marks, which would be discarded. Confirm that before you release it.")
        )
    put_back_check(row, check)


@transaction.atomic
def amend(
    *,
    assignment: Assignment,
    checker: User,
    criterion: int,
    outcome: str,
    reason: str,
    at: datetime,
    version: int | None = None,
    client_id: UUID | None = None,
) -> Amendment | None:
    """Replace the annotator's outcome for one criterion by another one, or ask for a review of it, with the reason.

    `TO_REVIEW` as ``outcome`` asks the annotator to review the criterion once the work is returned. The annotator's own
    outcome takes either back; None if there is nothing to take back. A repeated save (same ``client_id``) changes
    nothing; `StaleSave` if ``version`` is given and differs from the stored version.
    """
    row, check = _held(assignment, checker)
    if outcome not in Outcome.values and outcome != TO_REVIEW:
        raise DomainError(_("The outcome must be met, not met or can’t assess."), field="outcome")
    decision = Decision.objects.filter(assignment=row, round=row.round, criterion=criterion).first()
    if decision is None:
        raise DomainError(_("This criterion is not part of the work."), field="criterion")
    known = Amendment.objects.filter(check_row=check, criterion=criterion).first()
    if known is not None and is_replay(client_id, stored=known.client_id):
        return known
    refuse_stale(version, stored=known.version if known else 0, current=known, message=CHANGED_ELSEWHERE)
    reason = reason.strip()
    taken_back = outcome == decision.outcome
    if not taken_back and not reason:
        if outcome == TO_REVIEW:
            raise DomainError(_("Write in one line what to review in this criterion."), field="reason")
        raise DomainError(_("Enter a reason: an amendment needs one."), field="reason")
    if known is None:
        if taken_back:
            return None
        known = Amendment(check_row=check, criterion_id=criterion, version=0, created_at=at)
    known.to_review = outcome == TO_REVIEW
    known.outcome = "" if taken_back or known.to_review else outcome
    if not taken_back:
        known.reason = reason  # an amendment that was taken back keeps its reason for the record
    known.version, known.client_id, known.updated_at = known.version + 1, client_id, at
    known.save()
    return known


@transaction.atomic
def accept_check(
    *, assignment: Assignment, checker: User, at: datetime, shown: Mapping[int, int] | None = None
) -> None:
    """Accept the work with its amendments; it counts from now on.

    `Unseen` if the amendments are not those in ``shown`` (criterion → version), where that is given. `DomainError` if
    the annotator is still asked to review a criterion: that question would never reach them.
    """
    row, check = _held(assignment, checker)
    refuse_unseen(shown, check.amendments.all())
    marked = check.amendments.filter(to_review=True).count()
    if marked:
        text = ngettext(
            "%(number)d criterion is marked for review. Return the work, or remove the mark before you accept.",
            "%(number)d criteria are marked for review. Return the work, or remove the marks before you accept.",
            marked,
        )
        raise DomainError(text % {"number": marked})
    transition(row, source=[Assignment.Status.IN_CHECK], target=Assignment.Status.ACCEPTED, accepted_at=at)
    transition(check, field="result", source=[""], target=Check.Result.ACCEPTED, finished_at=at)
    settle_beside(work=row, at=at)
    open_conflicts_within(response=row.response, rubric=row.rubric, group=row.batch.group, at=at)
    notify_of_completed_batch(batch=row.batch, at=at)


@transaction.atomic
def return_check(
    *, assignment: Assignment, checker: User, note: str, at: datetime, shown: Mapping[int, int] | None = None
) -> Check:
    """Send the work back with a note, criteria that are marked for review, or both; the check as it ended.

    Its decisions are copied to a new round, in which the annotator continues. `Unseen` as in `accept_check`.
    """
    note = note.strip()
    row, check = _held(assignment, checker)
    refuse_unseen(shown, check.amendments.all())
    marked = check.amendments.filter(to_review=True).count()
    if not note and not marked:
        raise DomainError(_("Mark the criteria to review again, or describe in the note what to review."), field="note")
    transition(
        check,
        field="result",
        source=[""],
        target=Check.Result.RETURNED,
        note=note,
        n_to_review=marked,
        finished_at=at,
    )
    decisions = list(Decision.objects.filter(assignment=row, round=row.round))
    transition(row, source=[Assignment.Status.IN_CHECK], target=Assignment.Status.RETURNED, round=row.round + 1)
    Decision.objects.bulk_create(
        [
            Decision(
                assignment=row,
                criterion_id=old.criterion_id,
                round=row.round,
                outcome=old.outcome,
                borderline=old.borderline,
                note=old.note,
                evidence=old.evidence,
                # One more than the old version, so that a tab left open since the last round is stale.
                version=old.version + 1,
                created_at=at,
                updated_at=at,
            )
            for old in decisions
        ]
    )
    notify_of_return(assignment=row, note=bool(note), marked=marked, at=at)
    release_if_left(assignment=row, at=at)
    return check


def _held(assignment: Assignment, checker: User) -> tuple[Assignment, Check]:
    lock_batch_shared(assignment.batch_id)
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "batch__group__benchmark", "annotator", "response", "rubric"
    )
    row = rows.get(pk=assignment.pk)
    refuse_unless_open(row.batch)
    if row.status != Assignment.Status.IN_CHECK or row.checker_id != checker.pk:
        raise Conflict(_("This check is no longer yours."))
    return row, Check.objects.get(assignment=row, round=row.round)
