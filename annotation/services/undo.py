"""Undo of the last step of a piece of work: submitting it, accepting it, or finishing an adjudication.

A step can be undone for `UNDO_SECONDS`, as long as nobody else has continued from it. The audit trail keeps both.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import Adjudication, Assignment, Batch, Check, Ruling
from annotation.qualification.gold import unsettle_beside
from annotation.services.adjudications import refuse_while_paused
from annotation.services.conflicts import withdraw_conflict_within
from annotation.services.notices import reopen_notice_of_return, withdraw_notice_of_resubmission
from annotation.services.rules import (
    NOTHING_TO_UNDO,
    SUBMITTED_TOO_LATE,
    TOO_LATE,
    lock_batch_shared,
    refuse_unless_open,
)
from annotation.services.staff_notices import withdraw_notice_of_completed_batch
from consilium.core.errors import Conflict
from consilium.core.transitions import transition

# The pages offer it for ten seconds, a submission for thirty (grading.js), and longer while the pointer or the focus
# is on the message (undo_offer.js). The page of a submitted response offers it all the time.
UNDO_SECONDS = 60
ON_THE_WAY = timedelta(seconds=5)  # between the click and the lock


@transaction.atomic
def undo_submit(*, assignment: Assignment, annotator: User, at: datetime) -> None:
    """Give submitted work back to its annotator as it was before.

    `Conflict` if the time is over, a checker has claimed it, or somebody works on a conflict that it opened.
    """
    row = _locked(assignment)
    if row.annotator_id == annotator.pk and row.status == Assignment.Status.DRAFT:
        raise Conflict(str(NOTHING_TO_UNDO))
    if row.annotator_id != annotator.pk or row.status not in (Assignment.Status.SUBMITTED, Assignment.Status.ACCEPTED):
        raise Conflict(str(SUBMITTED_TOO_LATE))
    if row.status == Assignment.Status.ACCEPTED and row.accepted_at != row.submitted_at:
        raise Conflict(str(SUBMITTED_TOO_LATE))
    _refuse_if_over(row.submitted_at, at)
    if row.status == Assignment.Status.ACCEPTED and row.purpose == Assignment.Purpose.WORK:
        try:
            withdraw_conflict_within(
                response=row.response, rubric=row.rubric, group=row.batch.group, at=row.submitted_at
            )
        except Conflict as refused:
            raise Conflict(str(SUBMITTED_TOO_LATE)) from refused
    if row.status == Assignment.Status.SUBMITTED and row.round > 1 and row.submitted_at is not None:
        withdraw_notice_of_resubmission(assignment=row, at=row.submitted_at)
    if row.round > 1 and row.submitted_at is not None:
        reopen_notice_of_return(assignment=row, at=row.submitted_at)
    target = Assignment.Status.DRAFT if row.round == 1 else Assignment.Status.RETURNED
    # Returned work was submitted before, so it keeps a time of submission.
    changes: dict[str, Any] = {"submitted_at": None} if row.round == 1 else {}
    transition(row, source=[row.status], target=target, accepted_at=None, **changes)
    withdraw_notice_of_completed_batch(batch=row.batch)
    assignment.status = row.status


def undo_submit_until(assignment: Assignment, at: datetime) -> datetime | None:
    """Until when the annotator may undo the submission; None where the time is over or its state does not allow it.

    Nothing in it tells that a checker has claimed the work, which the annotator is not to know: `undo_submit` refuses.
    """
    since, status = assignment.submitted_at, Assignment.Status
    if since is None or assignment.status not in (status.SUBMITTED, status.IN_CHECK, status.ACCEPTED):
        return None
    if assignment.batch.status != Batch.Status.OPEN:
        return None
    if assignment.status == Assignment.Status.ACCEPTED and assignment.accepted_at != since:
        return None
    until = since + timedelta(seconds=UNDO_SECONDS)
    return until if at < until else None


@transaction.atomic
def undo_accept(*, assignment: Assignment, checker: User, at: datetime) -> None:
    """Give accepted work back to its checker, with the amendments.

    `Conflict` if the time is over, or somebody works on a conflict that the acceptance opened.
    """
    row = _locked(assignment)
    check = Check.objects.filter(
        assignment=row, round=row.round, checker=checker, result=Check.Result.ACCEPTED
    ).select_for_update(no_key=True)
    check_row = check.first()
    if row.status == Assignment.Status.IN_CHECK and row.checker_id == checker.pk:
        raise Conflict(str(NOTHING_TO_UNDO))
    if check_row is None or row.status != Assignment.Status.ACCEPTED or row.checker_id != checker.pk:
        raise Conflict(str(TOO_LATE))
    finished_at = check_row.finished_at
    _refuse_if_over(finished_at, at)
    withdraw_conflict_within(response=row.response, rubric=row.rubric, group=row.batch.group, at=finished_at)
    unsettle_beside(work=row, at=finished_at)
    transition(row, source=[Assignment.Status.ACCEPTED], target=Assignment.Status.IN_CHECK, accepted_at=None)
    transition(check_row, field="result", source=[Check.Result.ACCEPTED], target="", finished_at=None)
    withdraw_notice_of_completed_batch(batch=row.batch)
    assignment.status = row.status


@transaction.atomic
def undo_finish(*, adjudication: Adjudication, adjudicator: User, at: datetime) -> None:
    """Open a finished adjudication again; rulings that count since then count no more.

    `Conflict` if the time is over, or the response has been adjudicated between groups since.
    """
    row = Adjudication.objects.select_for_update(no_key=True).get(pk=adjudication.pk)
    finished_at = row.finished_at
    if row.status == Adjudication.Status.OPEN and row.adjudicator_id == adjudicator.pk:
        raise Conflict(str(NOTHING_TO_UNDO))
    if row.status != Adjudication.Status.DONE or row.adjudicator_id != adjudicator.pk or finished_at is None:
        raise Conflict(str(TOO_LATE))
    _refuse_if_over(finished_at, at)
    refuse_while_paused(row)
    between = Adjudication.objects.filter(
        response=row.response_id, other_group__isnull=False, created_at__gte=finished_at
    )
    if between.exclude(pk=row.pk).exists():
        raise Conflict(str(TOO_LATE))
    transition(row, source=[Adjudication.Status.DONE], target=Adjudication.Status.OPEN, finished_at=None)
    Ruling.objects.filter(adjudication=row, final_at=finished_at).update(final_at=None)
    adjudication.status = row.status


def _locked(assignment: Assignment) -> Assignment:
    lock_batch_shared(assignment.batch_id)
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",))
    row = rows.select_related("batch__group", "response", "rubric").get(pk=assignment.pk)
    refuse_unless_open(row.batch)
    return row


def _refuse_if_over(since: datetime | None, at: datetime) -> None:
    if since is None or at > since + timedelta(seconds=UNDO_SECONDS) + ON_THE_WAY:
        raise Conflict(
            _("This can no longer be undone: more than %(seconds)d seconds have passed.") % {"seconds": UNDO_SECONDS}
        )
