"""What an annotator writes: decisions, and handing them in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.models import Assignment, Decision, Outcome
from annotation.services.conflicts import open_conflicts_within
from annotation.services.rules import hold_batch, refuse_unless_open
from consilium.lib.errors import Conflict, DomainError
from consilium.lib.transitions import transition
from rubrics.models import RubricItem

LONGEST_NOTE = 5_000
MOST_EVIDENCE = 20


@dataclass(frozen=True, slots=True)
class DecisionInput:
    """The whole state of one decision as its author wants it.

    ``evidence`` is a list of ``{"start", "end"}`` in code points of the response, with the ``quote`` if the sender
    wants it compared. ``version`` is the one that the sender saw, 0 for none; ``client_id`` names this very save.
    """

    criterion: int
    outcome: str | None
    borderline: bool = False
    note: str = ""
    evidence: Sequence[Mapping[str, Any]] = ()
    version: int = 0
    client_id: UUID | None = None


class StaleDecision(Conflict):
    """Somebody (another tab, another device) saved this decision after the sender last saw it; ``current`` is it."""

    def __init__(self, current: Decision) -> None:
        self.current = current
        super().__init__(_("This criterion was changed elsewhere in the meantime."))


class Unanswered(DomainError):
    """Work cannot be handed in yet; ``criteria`` are the ids of those without a decision, in rubric order."""

    def __init__(self, criteria: Sequence[int]) -> None:
        self.criteria = list(criteria)
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


def save_decision(*, assignment: Assignment, annotator: User, change: DecisionInput, at: datetime) -> Decision:
    """Save one decision: `save_decisions` for a single one."""
    return save_decisions(assignment=assignment, annotator=annotator, changes=[change], at=at)[0]


@transaction.atomic
def save_decisions(
    *, assignment: Assignment, annotator: User, changes: Sequence[DecisionInput], at: datetime
) -> list[Decision]:
    """Save decisions of the current round, all of them or none, in the order given.

    A repeated save (same ``client_id``) changes nothing and answers as the first did. `StaleDecision` where the
    version in the database is not the one that the sender saw; `Conflict` where the work is not open to its annotator
    any more; `DomainError` on a criterion, an outcome or evidence that cannot be.
    """
    row = _locked(assignment, annotator)
    refuse_unless_open(row.batch)
    if row.status not in Assignment.OPEN:
        raise Conflict(_("This response was handed in already, so its decisions stand."))
    allowed = set(criteria_of(row))
    known = {
        decision.criterion_id: decision
        for decision in Decision.objects.filter(
            assignment=row, round=row.round, criterion__in=[change.criterion for change in changes]
        )
    }
    saved = []
    fresh: list[Decision] = []  # written by one INSERT
    for change in changes:
        evidence = _validated(change, allowed, row.response.text)
        current = known.get(change.criterion)
        if current is None:
            current = _first(row, change, evidence, at)
            fresh.append(current)
        elif not (change.client_id and current.client_id == change.client_id):
            if any(current is one for one in fresh):  # decided twice in this very save
                Decision.objects.bulk_create(fresh)
                fresh = []
            _next(current, change, evidence, at)
        known[change.criterion] = current
        saved.append(current)
    Decision.objects.bulk_create(fresh)
    if row.status == Assignment.Status.NOT_STARTED:
        transition(row, source=[Assignment.Status.NOT_STARTED], target=Assignment.Status.DRAFT, started_at=at)
    _bring_up_to_date(assignment, row)
    return saved


@transaction.atomic
def submit(*, assignment: Assignment, annotator: User, at: datetime) -> None:
    """Hand the work in: to a checker where it was drawn for a check, else it counts at once.

    `Unanswered` lists what has no decision yet; `Conflict` if it was handed in before.
    """
    row = _locked(assignment, annotator)
    refuse_unless_open(row.batch)
    if row.status not in Assignment.OPEN:
        raise Conflict(_("This response was handed in already, so its decisions stand."))
    decided = set(
        Decision.objects.filter(assignment=row, round=row.round, outcome__isnull=False).values_list(
            "criterion_id", flat=True
        )
    )
    missing = [criterion for criterion in criteria_of(row) if criterion not in decided]
    if missing:
        raise Unanswered(missing)
    changes: dict[str, Any] = {"submitted_at": at, "started_at": row.started_at or at}
    if row.to_check:
        transition(row, source=Assignment.OPEN, target=Assignment.Status.SUBMITTED, **changes)
    else:
        transition(row, source=Assignment.OPEN, target=Assignment.Status.ACCEPTED, accepted_at=at, **changes)
        open_conflicts_within(response=row.response, rubric=row.rubric, group=row.batch.group, at=at)
    _bring_up_to_date(assignment, row)


def next_open(*, annotator: User, after: Assignment) -> Assignment | None:
    """What the annotator goes on with: returned work of the batch first, then the queue from here on, then from its
    start; None when the batch has nothing open."""
    rows = Assignment.objects.filter(batch=after.batch_id, annotator=annotator, status__in=Assignment.OPEN)
    queue = sorted(
        rows.exclude(pk=after.pk).only("public_id", "status", "position"),
        key=lambda row: (row.status != Assignment.Status.RETURNED, row.position <= after.position, row.position),
    )
    return queue[0] if queue else None


def _locked(assignment: Assignment, annotator: User) -> Assignment:
    hold_batch(assignment.batch_id)
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "batch__group", "response", "rubric"
    )
    return rows.get(pk=assignment.pk, annotator=annotator)


def _bring_up_to_date(seen: Assignment, row: Assignment) -> None:
    for name in ("status", "round", "started_at", "submitted_at", "accepted_at"):
        setattr(seen, name, getattr(row, name))


def _validated(change: DecisionInput, allowed: Collection[int], text: str) -> list[dict[str, Any]]:
    if change.criterion not in allowed:
        raise DomainError(_("This criterion is not part of the work."))
    if change.outcome is not None and change.outcome not in Outcome.values:
        raise DomainError(_("The outcome is met, not met or cannot assess."))
    if len(change.note) > LONGEST_NOTE:
        raise DomainError(_("A note has at most %(most)d characters.") % {"most": LONGEST_NOTE})
    if "\x00" in change.note:
        raise DomainError(_("A note cannot hold a NUL character."))
    if len(change.evidence) > MOST_EVIDENCE:
        raise DomainError(_("At most %(most)d passages can be attached to a criterion.") % {"most": MOST_EVIDENCE})
    evidence = []
    for span in change.evidence:
        start, end = span.get("start"), span.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise DomainError(_("The evidence does not lie within the response."))
        quote = text[start:end]
        if span.get("quote", quote) != quote:
            raise DomainError(_("The quoted evidence does not stand at this place of the response."))
        passage = {"quote": quote, "start": start, "end": end}
        if passage not in evidence:
            evidence.append(passage)
    return evidence


def _first(row: Assignment, change: DecisionInput, evidence: list[dict[str, Any]], at: datetime) -> Decision:
    if change.version != 0:
        raise DomainError(_("There is no decision of this version."))
    return Decision(
        assignment=row,
        criterion_id=change.criterion,
        round=row.round,
        outcome=change.outcome,
        borderline=change.borderline,
        note=change.note,
        evidence=evidence,
        client_id=change.client_id,
        created_at=at,
        updated_at=at,
    )


def _next(current: Decision, change: DecisionInput, evidence: list[dict[str, Any]], at: datetime) -> None:
    values: dict[str, Any] = {
        "outcome": change.outcome,
        "borderline": change.borderline,
        "note": change.note,
        "evidence": evidence,
        "client_id": change.client_id,
        "version": change.version + 1,
        "updated_at": at,
    }
    if Decision.objects.filter(pk=current.pk, version=change.version).update(**values) != 1:
        raise StaleDecision(current)
    for name, value in values.items():
        setattr(current, name, value)
