"""Writes to suggestions that no draft makes: rejecting, putting aside, undoing, withdrawing, and the time of reading.

Taking a suggestion is a save of the draft, and the state of a suggestion that was taken follows from it
(`drafting.suggestions.draft_hooks`). So none of these functions takes one, or changes one that stands in the draft.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.active_time import check_reported_seconds
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_REASON_LENGTH
from drafting.models import RejectionReason, Suggestion, SuggestionsOpened

State = Suggestion.State


@transaction.atomic
def reject(
    *, suggestion: Suggestion, reason: int | None, by: User, at: datetime, note: str = "", seconds: int = 0
) -> Suggestion:
    """Reject a suggestion, or give the reason for which one was rejected before; `Conflict` while the draft has it.

    ``reason``: a `RejectionReason`, or None where nobody said why. ``seconds``: for how long it was read, up to now.
    """
    if reason is not None and reason not in RejectionReason.values:
        raise DomainError(_("The reason must be a number from 1 to 6."))
    row = _not_in_draft(suggestion)
    if row.state != State.REJECTED or row.decided_by_id is None:
        row.decided_by, row.decided_at = by, at
    row.state, row.put_aside, row.reason, row.note = State.REJECTED, False, reason, note.strip()[:MAX_REASON_LENGTH]
    _add_seconds(row, seconds, by, at)
    row.save()
    return row


@transaction.atomic
def reopen(*, suggestion: Suggestion, by: User, at: datetime, seconds: int = 0) -> Suggestion:
    """Undo a rejection, or bring back what was put aside: the suggestion is open again."""
    row = _not_in_draft(suggestion)
    clear_decision(row)
    _add_seconds(row, seconds, by, at)
    row.save()
    return row


@transaction.atomic
def put_aside(*, suggestion: Suggestion, by: User, at: datetime, seconds: int = 0) -> Suggestion:
    """Leave the decision for later; the suggestion stays open, behind the others."""
    row = _not_in_draft(suggestion)
    clear_decision(row)
    row.put_aside = True
    _add_seconds(row, seconds, by, at)
    row.save()
    return row


@transaction.atomic
def read(*, suggestion: Suggestion, seconds: int, by: User, at: datetime) -> Suggestion:
    """Add to the time for which a suggestion was read."""
    row = Suggestion.objects.select_for_update(of=("self",)).get(pk=suggestion.pk)
    _add_seconds(row, seconds, by, at)
    row.save(update_fields=["seconds_read"])
    return row


@transaction.atomic
def withdraw(*, suggestions: Collection[Suggestion], by: User, at: datetime) -> int:
    """Withdraw suggestions on which no one has decided; returns how many. Others stay as they are."""
    rows = Suggestion.objects.filter(pk__in=[row.pk for row in suggestions], state=State.OPEN)
    locked = [row.pk for row in rows.select_for_update().order_by("pk")]
    return Suggestion.objects.filter(pk__in=locked, state=State.OPEN).update(state=State.WITHDRAWN, put_aside=False)


def clear_decision(row: Suggestion) -> None:
    """Make it open, as if nobody had decided; the caller saves it."""
    row.state, row.put_aside = State.OPEN, False
    row.decided_by, row.decided_at, row.reason, row.note = None, None, None, ""


def _not_in_draft(suggestion: Suggestion) -> Suggestion:
    row = Suggestion.objects.select_for_update(of=("self",)).get(pk=suggestion.pk)
    if row.state == State.WITHDRAWN:
        raise Conflict(_("This suggestion was withdrawn."))
    if row.published_in_id is not None:
        raise Conflict(
            _("This suggestion was published as a criterion, so the decision on it can no longer be changed.")
        )
    if row.state in Suggestion.TAKEN:
        raise Conflict(_("This suggestion is already in the rubric. Remove the criterion first."))
    return row


def _add_seconds(row: Suggestion, seconds: int, by: User, at: datetime) -> None:
    """Add what a page reports, within the time that has passed since this author first saw the suggestions."""
    seconds = check_reported_seconds(seconds)
    opened = SuggestionsOpened.objects.filter(case=row.case_id, author=by).first() if seconds else None
    if opened is not None:
        passed = int((at - opened.opened_at).total_seconds())
        row.seconds_read += max(0, min(seconds, passed))
