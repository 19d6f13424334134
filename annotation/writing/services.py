"""Writes of a writer: open a task, save the text, submit it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import WritingTask
from annotation.selectors.case_work import following, of_excluded_cases
from annotation.services.rules import lock_batch_shared, refuse_unless_open
from annotation.services.staff_notices import notify_of_completed_batch
from annotation.writing.exclusions import has_read_an_answer
from annotation.writing.writing_plan import UNAIDED
from consilium.core.active_time import add_seconds
from consilium.core.errors import Conflict, DomainError
from consilium.core.transitions import transition
from consilium.core.versioning import is_replay, refuse_stale
from rubrics.models import Candidate, Response

MAX_TEXT_LENGTH = 50_000
SETTING = "chat"


@dataclass(frozen=True, slots=True)
class TextInput:
    """The complete draft that its writer wants to save.

    ``reference`` is the place (from 0) of the shown reference that it was begun from, None for none; ``version`` is the
    version that the sender saw; ``client_id`` identifies this save.
    """

    text: str
    reference: int | None = None
    version: int = 1
    client_id: UUID | None = None


@transaction.atomic
def release_if_read(*, task: WritingTask, at: datetime) -> bool:
    """Take an open unaided task back from a writer who has read an answer to the case by now; returns whether it did.

    Call it when the page is opened and before the text is handed in: the writer may read an answer after the
    allocation.
    """
    if task.batch.writing_terms.mode != UNAIDED or task.status not in WritingTask.OPEN or not has_read_an_answer(task):
        return False
    transition(
        task,
        source=WritingTask.OPEN,
        target=WritingTask.Status.RELEASED,
        released_at=at,
        release_reason=WritingTask.Release.HAS_READ,
    )
    return True


@transaction.atomic
def save_text(*, task: WritingTask, writer: User, change: TextInput, at: datetime) -> WritingTask:
    """Save the draft. A repeated save (same ``client_id``) changes nothing and returns the result of the first.

    `StaleSave` if the stored version is not the version that the sender saw; `Conflict` if the task is no longer open
    to its writer.
    """
    row = _locked(task, writer)
    if is_replay(change.client_id, stored=row.client_id):
        return row
    _refuse_stale(change.version, row)
    _refuse_impossible(row, change)
    started = row.status == WritingTask.Status.NOT_STARTED
    begun_from = None if change.reference is None or not change.text.strip() else row.shown[change.reference]
    row.text, row.derived_from_id = change.text, begun_from
    row.version, row.client_id, row.saved_at = change.version + 1, change.client_id, at
    row.save(update_fields=["text", "derived_from", "version", "client_id", "saved_at"])
    if started:
        transition(row, source=[WritingTask.Status.NOT_STARTED], target=WritingTask.Status.DRAFT, started_at=at)
    return row


@transaction.atomic
def hand_in(*, task: WritingTask, writer: User, version: int, attested: bool, at: datetime) -> Response:
    """Make the draft a response, which never changes. ``version`` is the version of the draft that the writer sees.

    The sample is the next free number of the candidate on the case: a lock serialises hand-ins for one candidate.
    `DomainError` if there is no text, or if an unaided text is not attested to be the writer's own.
    """
    row = _locked(task, writer)
    _refuse_stale(version, row)
    if not row.text.strip():
        raise DomainError(_("There is nothing to submit yet. Write the response first."))
    terms = row.batch.writing_terms
    if terms.mode == UNAIDED and not attested:
        raise DomainError(_("Confirm that you wrote this yourself and without AI tools."))
    Candidate.objects.select_for_update(no_key=True).get(pk=terms.candidate_id)
    last = Response.objects.filter(candidate=terms.candidate_id, case=row.case_id, setting=SETTING)
    sample = last.aggregate(last=Max("sample"))["last"]
    response = Response.objects.create(
        case_id=row.case_id,
        candidate_id=terms.candidate_id,
        setting=SETTING,
        sample=0 if sample is None else sample + 1,
        text=row.text.strip(),
        author=writer,
        derived_from_id=row.derived_from_id,
        writing_mode=terms.mode,
        metadata=_metadata(row, attested),
    )
    transition(
        row,
        source=WritingTask.OPEN,
        target=WritingTask.Status.SUBMITTED,
        submitted_at=at,
        started_at=row.started_at or at,
        response=response,
    )
    notify_of_completed_batch(batch=row.batch, at=at)
    task.status, task.submitted_at, task.response = row.status, row.submitted_at, response
    return response


def _metadata(row: WritingTask, attested: bool) -> dict[str, Any]:
    """How the response was written, for those who run the benchmark."""
    shown = Response.objects.select_related("candidate").in_bulk(row.shown)
    return {
        "mode_name": row.batch.writing_terms.mode_name,
        "references": [{"response": shown[pk].public_id, "candidate": shown[pk].candidate.name} for pk in row.shown],
        "seconds": row.seconds,
        "attested": attested,
    }


@transaction.atomic
def record_time(*, task: WritingTask, seconds: int, at: datetime) -> int:
    """Add the time that the page counted since its last report; returns the seconds that were added."""
    rows = WritingTask.objects.select_for_update(no_key=True, of=("self",)).select_related("response")
    row = rows.get(pk=task.pk)
    credited = add_seconds(row, seconds=seconds, since=row.reported_at or row.started_at or at, at=at)
    if row.response is not None:  # a page that is left after the submission reports its last minute then
        row.response.metadata["seconds"] = row.seconds
        row.response.save(update_fields=["metadata"])
    return credited


def next_task(*, writer: User, after: WritingTask) -> WritingTask | None:
    """The writer's next open task: in their queue of the batch from ``after`` on, then from its start; else None."""
    rows = WritingTask.objects.filter(batch=after.batch_id, writer=writer, status__in=WritingTask.OPEN)
    return following(rows.exclude(of_excluded_cases()), after)


def _locked(task: WritingTask, writer: User) -> WritingTask:
    lock_batch_shared(task.batch_id)
    rows = WritingTask.objects.select_for_update(no_key=True, of=("self",)).select_related("batch__writing_terms")
    row = rows.get(pk=task.pk, writer=writer)
    refuse_unless_open(row.batch)
    if row.status == WritingTask.Status.RELEASED:
        raise Conflict(_("This case was reassigned, so nothing more can be saved for it here."))
    if row.status not in WritingTask.OPEN:
        raise Conflict(_("This response has been submitted and can no longer be changed."))
    return row


def _refuse_stale(version: int, row: WritingTask) -> None:
    message = _("This text was changed elsewhere in the meantime.")
    refuse_stale(version, stored=row.version, current=row, message=message)


def _refuse_impossible(row: WritingTask, change: TextInput) -> None:
    if len(change.text) > MAX_TEXT_LENGTH:
        raise DomainError(_("A response has at most %(most)d characters.") % {"most": MAX_TEXT_LENGTH})
    if change.reference is not None and not 0 <= change.reference < len(row.shown):
        raise DomainError(_("This reference does not exist."))
