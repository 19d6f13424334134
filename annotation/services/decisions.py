"""Writes of an annotator: saves decisions and submits assignments."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.models import Assignment, Batch, Decision, Outcome
from annotation.qualification.services import after_handing_in, refuse_new_work
from annotation.selectors.review_rounds import unreviewed_criteria
from annotation.services.conflicts import open_conflicts_within
from annotation.services.notices import notify_of_resubmission, read_notice_of_return
from annotation.services.rules import CHANGED_ELSEWHERE, NoLongerOpen, lock_batch_shared, refuse_unless_open
from annotation.services.slots import claim_next, put_off
from annotation.services.staff_notices import notify_of_completed_batch
from consilium.core.errors import Conflict, DomainError, FaultsRefused, LineError
from consilium.core.limits import MAX_NOTE_LENGTH, MAX_PASSAGES, MAX_REASON_LENGTH
from consilium.core.locks import RowLock, shared_lock_sql
from consilium.core.transitions import transition
from consilium.core.versioning import SaveResult, StaleSave, is_replay
from rubrics.models import RubricItem

# Run by `_held_row`. The lock is a statement of its own, so that the next statement sees commits made while it waited.
# The columns are status, round, status of the batch, allowed criteria, and whether eligibility must be checked.
HELD_ROW_SQL = f"""
    SELECT {shared_lock_sql(RowLock.BATCH, "%s")};
    SELECT
        a.status, a.round, b.status,
        ARRAY(
            SELECT i.criterion_id FROM rubrics_rubricitem i
            WHERE i.rubric_id = a.rubric_id AND i.criterion_id = ANY(%s)
              AND (a.criteria IS NULL OR i.criterion_id = ANY(a.criteria))
        ),
        a.status = 'not_started' AND (
            EXISTS (
                SELECT 1 FROM annotation_membership m
                WHERE m.group_id = b.group_id AND m.user_id = a.annotator_id AND m.withheld_at IS NOT NULL
            )
            OR EXISTS (
                SELECT 1 FROM annotation_qualificationrule q WHERE q.benchmark_id = g.benchmark_id AND q.required
            )
        )
    FROM annotation_assignment a
    JOIN annotation_batch b ON b.id = a.batch_id
    JOIN annotation_expertgroup g ON g.id = b.group_id
    WHERE a.id = %s AND a.annotator_id = %s
    FOR NO KEY UPDATE OF a
"""


@dataclass(frozen=True, slots=True)
class DecisionInput:
    """The complete state of one decision that its author wants to save.

    ``evidence`` is a list of ``{"start", "end"}`` in code points of the response, with the ``quote`` if the sender
    wants it compared. ``answer`` is for the checker who asked to review the criterion. ``version`` is the version that
    the sender saw, 0 for none; ``client_id`` identifies this save.
    """

    criterion: int
    outcome: str | None
    borderline: bool = False
    note: str = ""
    evidence: Sequence[Mapping[str, Any]] = ()
    answer: str = ""
    version: int = 0
    client_id: UUID | None = None


class Unanswered(DomainError):
    """Work cannot be handed in yet; ``criteria`` are the ids of the criteria that lack something, in rubric order.

    They lack a decision, or what ``lack`` names: the ``"note"`` that the batch wants where a criterion cannot be
    assessed, or the ``"review"`` that a checker asked for.
    """

    def __init__(self, criteria: Sequence[int], *, lack: Literal["decision", "note", "review"] = "decision") -> None:
        self.criteria = list(criteria)
        if lack == "note":
            text = ngettext(
                "%(number)d criterion marked “Can’t assess” still needs a note that explains why.",
                "%(number)d criteria marked “Can’t assess” still need a note that explains why.",
                len(criteria),
            )
        elif lack == "review":
            text = ngettext(
                "%(number)d criterion still needs your review: change the decision, or answer the checker.",
                "%(number)d criteria still need your review: change the decision, or answer the checker.",
                len(criteria),
            )
        else:
            text = ngettext(
                "%(number)d criterion has no decision yet.", "%(number)d criteria have no decision yet.", len(criteria)
            )
        super().__init__(text % {"number": len(criteria)})


def criteria_of(assignment: Assignment) -> list[int]:
    """Ids of the criteria to decide, in rubric order."""
    items = RubricItem.objects.filter(rubric=assignment.rubric_id)
    if assignment.criteria is not None:
        items = items.filter(criterion__in=assignment.criteria)
    return list(items.order_by("position").values_list("criterion_id", flat=True))


ValidChange = tuple[int, DecisionInput, list[dict[str, Any]]]  # place in the request, change, its evidence with quotes


def save_decision(*, assignment: Assignment, annotator: User, change: DecisionInput, at: datetime) -> Decision:
    """Save one decision: `save_decisions` for a single decision."""
    return save_decisions(assignment=assignment, annotator=annotator, changes=[change], at=at)[0]


@transaction.atomic
def save_decisions(
    *, assignment: Assignment, annotator: User, changes: Sequence[DecisionInput], at: datetime
) -> list[Decision]:
    """Save decisions of the current round, all of them or none, in the order given.

    A repeated save (same ``client_id``) changes nothing and returns the result of the first. `StaleSave` if the stored
    version is not the version that the sender saw; `Conflict` if the work is no longer open to its annotator;
    `FaultsRefused` on an invalid criterion, outcome or evidence, and where two changes are of the same criterion.
    """
    refuse_same_criterion_twice(changes)
    results = save_each_decision(assignment=assignment, annotator=annotator, changes=changes, at=at)
    refused = [(place, result) for place, result in enumerate(results, start=1) if result.status == "refused"]
    if refused:
        errors = [LineError(place, result.field, result.detail) for place, result in refused]
        raise FaultsRefused(errors, detail=errors[0].message)
    for result in results:
        if result.status == "stale":
            raise StaleSave(result.current, CHANGED_ELSEWHERE)
    criteria = [change.criterion for change in changes]
    rows = Decision.objects.filter(assignment=assignment, round=assignment.round, criterion__in=criteria)
    saved = {row.criterion_id: row for row in rows}
    return [saved[criterion] for criterion in criteria]


def refuse_same_criterion_twice(changes: Sequence[DecisionInput]) -> None:
    """`FaultsRefused` names each entry whose criterion an entry before has as well."""
    first: dict[int, int] = {}
    errors = [
        LineError(place, "criterion", _("Entry %(number)d is about the same criterion.") % {"number": earlier})
        for place, change in enumerate(changes, start=1)
        if (earlier := first.setdefault(change.criterion, place)) != place
    ]
    if errors:
        raise FaultsRefused(errors, detail=_("Send each criterion once."))


@transaction.atomic
def save_each_decision(
    *, assignment: Assignment, annotator: User, changes: Sequence[DecisionInput], at: datetime
) -> list[SaveResult]:
    """Save each change that can be saved, and return the result of each, in the order given.

    The changes are independent: a stale change does not block the others. `Conflict` if none can be saved, because the
    work is no longer open to its annotator. Only the key, batch and rubric of ``assignment`` need be loaded; its status
    and round are updated.
    """
    try:
        held = _held_row(assignment, annotator, [change.criterion for change in changes])
    except Conflict:
        # The work was handed in or closed meanwhile. Saves that succeeded before, but whose response was lost, still
        # count as saved.
        return _saved_before(assignment, changes)
    if held.must_check_eligibility:
        refuse_new_work(assignment=assignment, at=at)
    results: list[SaveResult | None] = [None] * len(changes)
    text = ""
    if any(change.evidence for change in changes):
        text = Assignment.objects.values_list("response__text", flat=True).get(pk=assignment.pk)
    valid: list[ValidChange] = []
    for place, change in enumerate(changes):
        try:
            valid.append((place, change, _validated(change, held.allowed, text)))
        except DomainError as refused:
            results[place] = SaveResult(change.criterion, "refused", detail=str(refused), field=refused.field)
    for wave in _waves(valid):
        written = _write(assignment.pk, held.round, [(change, evidence) for _place, change, evidence in wave], at)
        left = [change.criterion for _place, change, _evidence in wave if change.criterion not in written]
        stored = (
            {
                decision.criterion_id: decision
                for decision in Decision.objects.filter(assignment=assignment.pk, round=held.round, criterion__in=left)
            }
            if left
            else {}
        )
        for place, change, _evidence in wave:
            results[place] = (
                SaveResult(change.criterion, "saved", written[change.criterion], saved_at=at)
                if change.criterion in written
                else _not_written(change, stored.get(change.criterion))
            )
    if held.status == Assignment.Status.NOT_STARTED and any(
        result is not None and result.status == "saved" for result in results
    ):
        transition(assignment, source=[Assignment.Status.NOT_STARTED], target=Assignment.Status.DRAFT, started_at=at)
        held = replace(held, status=Assignment.Status.DRAFT)
    assignment.status, assignment.round = held.status, held.round
    return [result for result in results if result is not None]


def _saved_before(assignment: Assignment, changes: Sequence[DecisionInput]) -> list[SaveResult]:
    """Results of ``changes`` that were all saved before; re-raises the current `Conflict` if one of them was not."""
    criteria = [change.criterion for change in changes]
    rows = Decision.objects.filter(assignment=assignment.pk, round=assignment.round, criterion__in=criteria)
    stored = {row.criterion_id: row for row in rows}
    results: list[SaveResult] = []
    for change in changes:
        row = stored.get(change.criterion)
        if row is None or not is_replay(change.client_id, stored=row.client_id):
            raise  # re-raises the Conflict that the caller handles
        results.append(SaveResult(change.criterion, "saved", row.version, saved_at=row.updated_at))
    return results


@dataclass(frozen=True, slots=True)
class _HeldRow:
    """Data that a save needs of an assignment that is locked until the transaction ends."""

    status: str
    round: int
    allowed: frozenset[int]  # ids of the requested criteria that are part of the work
    must_check_eligibility: bool  # new work, and its annotator is held back or may have to qualify first


def _held_row(assignment: Assignment, annotator: User, criteria: Sequence[int]) -> _HeldRow:
    """Lock the work; `Conflict` unless it is open. One round trip: this runs on every autosave."""
    with connection.cursor() as cursor:
        cursor.execute(HELD_ROW_SQL, [assignment.batch_id, list(criteria), assignment.pk, annotator.pk])
        cursor.nextset()
        row = cursor.fetchone()
    if row is None:
        raise Assignment.DoesNotExist
    status, round_number, batch_status, allowed, must_check_eligibility = row
    refuse_unless_open(Batch(status=batch_status))
    _refuse_unless_writable(status)
    return _HeldRow(status, round_number, frozenset(allowed), must_check_eligibility)


def _waves(rows: Sequence[ValidChange]) -> list[list[ValidChange]]:
    """Split ``rows`` so that no criterion occurs twice in one statement; a second change goes to a later statement."""
    waves: list[list[ValidChange]] = []
    for row in rows:
        if not waves or any(other[1].criterion == row[1].criterion for other in waves[-1]):
            waves.append([])
        waves[-1].append(row)
    return waves


def _write(
    assignment: int, round_number: int, rows: Sequence[tuple[DecisionInput, list[dict[str, Any]]]], at: datetime
) -> dict[int, int]:
    """Write all rows in one statement; returns criterion → new version for each row that was written.

    A row whose version is not the version that its sender saw is not changed: the condition of DO UPDATE prevents a
    stale save from overwriting anything, however many saves race. A first save must have seen version 0: without the
    EXISTS, a missing row would be inserted with any version.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotation_decision AS d (assignment_id, criterion_id, round, outcome, borderline, note,"
            " evidence, answer, version, client_id, created_at, updated_at)"
            " SELECT %s, c.criterion, %s, c.outcome, c.borderline, c.note, c.evidence, c.answer, c.seen + 1, c.client,"
            " %s, %s"
            " FROM jsonb_to_recordset(%s::jsonb) AS c (criterion bigint, outcome text, borderline boolean, note text,"
            " evidence jsonb, answer text, seen integer, client uuid)"
            " WHERE c.seen = 0 OR EXISTS (SELECT 1 FROM annotation_decision k WHERE k.assignment_id = %s"
            " AND k.criterion_id = c.criterion AND k.round = %s)"
            " ON CONFLICT (assignment_id, criterion_id, round) DO UPDATE SET outcome = EXCLUDED.outcome,"
            " borderline = EXCLUDED.borderline, note = EXCLUDED.note, evidence = EXCLUDED.evidence,"
            " answer = EXCLUDED.answer,"
            " version = EXCLUDED.version, client_id = EXCLUDED.client_id, updated_at = EXCLUDED.updated_at"
            " WHERE d.version = EXCLUDED.version - 1 AND (d.client_id = EXCLUDED.client_id) IS NOT TRUE"
            " RETURNING criterion_id, version",
            [
                *(assignment, round_number, at, at),
                json.dumps(
                    [
                        {
                            "criterion": change.criterion,
                            "outcome": change.outcome,
                            "borderline": change.borderline,
                            "note": change.note,
                            "evidence": evidence,
                            "answer": change.answer.strip(),
                            "seen": change.version,
                            "client": str(change.client_id) if change.client_id else None,
                        }
                        for change, evidence in rows
                    ]
                ),
                *(assignment, round_number),
            ],
        )
        return dict(cursor.fetchall())


def _not_written(change: DecisionInput, stored: Decision | None) -> SaveResult:
    """The result of a change that `_write` did not write: it is a repetition, it is stale, or there is no row."""
    if stored is None:
        detail = _("This version of the decision does not exist.")
        return SaveResult(change.criterion, "refused", detail=detail, field="version")
    if is_replay(change.client_id, stored=stored.client_id):
        return SaveResult(change.criterion, "saved", stored.version, saved_at=stored.updated_at)
    return SaveResult(change.criterion, "stale", stored.version, current=stored)


@transaction.atomic
def submit(*, assignment: Assignment, annotator: User, at: datetime) -> None:
    """Hand the work in: it goes to a checker if it was drawn for a check; otherwise it counts at once.

    `Unanswered` lists the criteria without a decision, without the note that the batch wants, or without the review
    that a checker asked for; `Conflict` if the work was handed in before.
    """
    row = _locked(assignment, annotator)
    refuse_unless_open(row.batch)
    _refuse_unless_writable(row.status)
    decided = Decision.objects.filter(assignment=row, round=row.round, outcome__isnull=False)
    notes = {
        criterion: note if outcome == Outcome.CANNOT_ASSESS else None
        for criterion, outcome, note in decided.values_list("criterion", "outcome", "note")
    }
    criteria = criteria_of(row)
    if missing := [criterion for criterion in criteria if criterion not in notes]:
        raise Unanswered(missing)
    if row.batch.explain_cannot_assess:
        unexplained = [
            criterion for criterion in criteria if (note := notes[criterion]) is not None and not note.strip()
        ]
        if unexplained:
            raise Unanswered(unexplained, lack="note")
    if row.round > 1 and (unreviewed := unreviewed_criteria(row)):
        raise Unanswered([criterion for criterion in criteria if criterion in unreviewed], lack="review")
    changes: dict[str, Any] = {"submitted_at": at, "started_at": row.started_at or at}
    if row.to_check:
        transition(row, source=Assignment.OPEN, target=Assignment.Status.SUBMITTED, **changes)
        if row.round > 1:
            notify_of_resubmission(assignment=row, at=at)
    else:
        transition(row, source=Assignment.OPEN, target=Assignment.Status.ACCEPTED, accepted_at=at, **changes)
        open_conflicts_within(response=row.response, rubric=row.rubric, group=row.batch.group, at=at)
    after_handing_in(assignment=row, at=at)
    if row.round > 1:
        read_notice_of_return(assignment=row, at=at)
    if row.status == Assignment.Status.ACCEPTED:
        notify_of_completed_batch(batch=row.batch, at=at)
    _bring_up_to_date(assignment, row)


def next_open(*, annotator: User, after: Assignment, at: datetime | None = None) -> Assignment | None:
    """The annotator's next work in the batch; None when the batch has nothing for them.

    Returned work comes first, then the queue from ``after`` on, then from its start. With ``at``, a free slot of the
    batch is taken for the annotator if nothing is open except work that they put off.
    """
    rows = Assignment.objects.filter(batch=after.batch_id, annotator=annotator, status__in=Assignment.OPEN)
    queue = sorted(
        rows.exclude(pk=after.pk).annotate(put_off=put_off()).only("public_id", "status", "position"),
        key=lambda row: (
            row.put_off,
            row.status != Assignment.Status.RETURNED,
            row.position <= after.position,
            row.position,
        ),
    )
    if at is not None and (not queue or queue[0].put_off) and after.purpose != Assignment.Purpose.QUALIFICATION:
        try:
            return claim_next(annotator=annotator, batch=after.batch, at=at)
        except Conflict:  # paused or closed since
            pass
    return queue[0] if queue else None


def _refuse_unless_writable(status: str) -> None:
    if status == Assignment.Status.RELEASED:
        raise NoLongerOpen(_("This response was released or reassigned, so nothing in it can be changed."))
    if status not in Assignment.OPEN:
        raise NoLongerOpen(_("This response has been submitted, so its decisions can no longer be changed."))


def _locked(assignment: Assignment, annotator: User) -> Assignment:
    lock_batch_shared(assignment.batch_id)
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "batch__group", "response", "rubric"
    )
    return rows.get(pk=assignment.pk, annotator=annotator)


def _bring_up_to_date(seen: Assignment, row: Assignment) -> None:
    for name in ("status", "round", "started_at", "submitted_at", "accepted_at"):
        setattr(seen, name, getattr(row, name))


def _validated(change: DecisionInput, allowed: Collection[int], text: str) -> list[dict[str, Any]]:
    """The evidence of ``change`` with its quotes; `DomainError` where the decision cannot be saved at all."""
    if change.criterion not in allowed:
        raise DomainError(_("This criterion is not part of the work."), field="criterion")
    if change.outcome is not None and change.outcome not in Outcome.values:
        raise DomainError(_("The outcome must be met, not met or can’t assess."), field="outcome")
    if len(change.note) > MAX_NOTE_LENGTH:
        raise DomainError(_("A note has at most %(most)d characters.") % {"most": MAX_NOTE_LENGTH}, field="note")
    if len(change.answer) > MAX_REASON_LENGTH:
        raise DomainError(_("An answer has at most %(most)d characters.") % {"most": MAX_REASON_LENGTH}, field="answer")
    if any(sign == "\x00" or "\ud800" <= sign <= "\udfff" for sign in change.note + change.answer):
        raise DomainError(_("A note cannot contain a NUL or an incomplete character."), field="note")
    return checked_passages(change.evidence, text)


def checked_passages(spans: Sequence[Mapping[str, Any]], text: str) -> list[dict[str, Any]]:
    """Evidence with its quotes, each passage once; `DomainError` where one does not lie within ``text``."""
    if len(spans) > MAX_PASSAGES:
        message = _("At most %(most)s passages can be attached.") % {"most": MAX_PASSAGES}
        raise DomainError(message, field="evidence")
    evidence: list[dict[str, Any]] = []
    for span in spans:
        start, end = span.get("start"), span.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise DomainError(_("The evidence is outside the response."), field="evidence")
        quote = text[start:end]
        if span.get("quote", quote) != quote:
            message = _("The quoted evidence does not match the text at this place in the response.")
            raise DomainError(message, field="evidence")
        passage = {"quote": quote, "start": start, "end": end}
        if passage not in evidence:
            evidence.append(passage)
    return evidence
