"""Writes of an adjudicator: take a response with conflicts, rule on each, finish."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.models import Adjudication, Batch, ExpertGroup, Ruling, RulingOutcome
from annotation.selectors.queue_order import in_order_of_adjudication
from annotation.services.rules import CHANGED_ELSEWHERE, lock_next_claim, readable_constraint_errors, refuse_unseen
from consilium.core.errors import Conflict, DomainError
from consilium.core.transitions import transition
from consilium.core.versioning import is_replay, refuse_stale
from rubrics.models import RubricItem
from rubrics.services.revisions import request_revision, withdraw_revision


class Undecided(DomainError):
    """An adjudication cannot end yet; ``criteria`` are the ids of those without a ruling."""

    def __init__(self, criteria: Sequence[int]) -> None:
        self.criteria = list(criteria)
        text = ngettext(
            "%(number)d conflict is not decided yet.", "%(number)d conflicts are not decided yet.", len(criteria)
        )
        super().__init__(text % {"number": len(criteria)})


@transaction.atomic
def claim_adjudication(
    *, adjudicator: User, waiting: QuerySet[Adjudication], wait: bool = False
) -> Adjudication | None:
    """Take the first conflict of ``waiting`` by `in_order_of_adjudication`; None when nothing is left.

    Rows that another adjudicator is just taking are skipped. ``wait`` as in `claim_check`.
    """
    free = waiting.filter(adjudicator=None, status=Adjudication.Status.OPEN)
    row = (
        in_order_of_adjudication(free, adjudicator)
        .select_for_update(skip_locked=not wait, no_key=True, of=("self",))
        .first()
    )
    if row is None:
        return None
    refuse_while_paused(row)
    with readable_constraint_errors():
        # The status does not change. The row lock guarantees that nobody else holds the adjudication.
        transition(row, source=[Adjudication.Status.OPEN], target=Adjudication.Status.OPEN, adjudicator=adjudicator)
    return row


@transaction.atomic
def next_adjudication(
    *, adjudicator: User, held: QuerySet[Adjudication], waiting: QuerySet[Adjudication]
) -> Adjudication | None:
    """The first of ``held``, else a claim from ``waiting``; None for neither. As `next_check`."""
    lock_next_claim(adjudicator)
    own = held.order_by("agreement", "pk").first()
    return own or claim_adjudication(adjudicator=adjudicator, waiting=waiting)


@transaction.atomic
def release_adjudication(*, adjudication: Adjudication, adjudicator: User) -> None:
    """Put a claimed adjudication back for another adjudicator, who continues from the rulings made so far.

    `Conflict` if it is finished, somebody else holds it, or the batch of the response is paused.
    """
    row = _held(adjudication, adjudicator)
    transition(row, source=[Adjudication.Status.OPEN], target=Adjudication.Status.OPEN, adjudicator=None)


@transaction.atomic
def rule(
    *,
    adjudication: Adjudication,
    adjudicator: User,
    criterion: int,
    outcome: str,
    reason: str = "",
    at: datetime,
    version: int | None = None,
    client_id: UUID | None = None,
) -> Ruling | None:
    """Decide one conflict: met, not met, cannot assess, or that the criterion itself is faulty, with the reason.

    An empty outcome takes the ruling back; None if there is no ruling to take back. A final ruling that gets another
    outcome counts again once the adjudication is finished. A repeated save (same ``client_id``) changes nothing;
    `StaleSave` if ``version`` is given and differs from the stored version.
    """
    row = _held(adjudication, adjudicator)
    if criterion not in row.criteria:
        raise DomainError(_("The raters agree on this criterion; there is nothing to decide."), field="criterion")
    if outcome and outcome not in RulingOutcome.values:
        raise DomainError(_("The outcome must be met, not met, can’t assess or faulty."), field="outcome")
    reason = reason.strip() if outcome else ""
    if outcome == RulingOutcome.FAULTY and not reason:
        raise DomainError(_("Describe what is wrong with the criterion."), field="reason")
    ruling = Ruling.objects.filter(adjudication=row, criterion_id=criterion).first()
    if ruling is not None and is_replay(client_id, stored=ruling.client_id):
        return ruling
    refuse_stale(version, stored=ruling.version if ruling else 0, current=ruling, message=CHANGED_ELSEWHERE)
    if ruling is None:
        if not outcome:
            return None
        ruling = Ruling(adjudication=row, criterion_id=criterion, version=0, created_at=at)
    before = (ruling.outcome, ruling.reason)
    ruling.outcome, ruling.reason = outcome, reason
    if outcome != before[0]:
        ruling.final_at = None
    ruling.version, ruling.client_id, ruling.updated_at = ruling.version + 1, client_id, at
    ruling.save()
    if (outcome, reason) != before and RulingOutcome.FAULTY in (outcome, before[0]):
        _ask_for_a_revision(row, ruling, by=adjudicator, at=at)
    return ruling


def _ask_for_a_revision(row: Adjudication, ruling: Ruling, *, by: User, at: datetime) -> None:
    """Request a revision of a criterion that is ruled faulty, or withdraw the request if no such ruling is left.

    Two groups, and the consensus of both, may find the same criterion faulty for the same response: this is one request
    with all their reasons. A lock on the row of the rubric item serialises them.
    """
    RubricItem.objects.select_for_update(no_key=True).filter(
        rubric=row.rubric_id, criterion=ruling.criterion_id
    ).first()
    stored = Ruling.objects.filter(
        adjudication__response=row.response_id,
        adjudication__rubric=row.rubric_id,
        criterion=ruling.criterion_id,
        outcome=RulingOutcome.FAULTY,
    )
    reasons = list(dict.fromkeys(stored.order_by("created_at", "pk").values_list("reason", flat=True)))
    if reasons:
        request_revision(
            rubric=row.rubric,
            criterion=ruling.criterion,
            response=row.response,
            reason="\n\n".join(reasons),
            by=by,
            at=at,
        )
    else:
        withdraw_revision(rubric=row.rubric, criterion=ruling.criterion, response=row.response)


@transaction.atomic
def finish_adjudication(
    *, adjudication: Adjudication, adjudicator: User, at: datetime, shown: Mapping[int, int] | None = None
) -> None:
    """End the adjudication; its rulings count from now on.

    `Undecided` where a conflict has no ruling; `Unseen` if the rulings are not those in ``shown`` (criterion →
    version), where that is given.
    """
    row = _held(adjudication, adjudicator)
    refuse_unseen(shown, Ruling.objects.filter(adjudication=row))
    rulings = Ruling.objects.filter(adjudication=row).exclude(outcome="")
    ruled = set(rulings.values_list("criterion_id", flat=True))
    missing = [criterion for criterion in row.criteria if criterion not in ruled]
    if missing:
        raise Undecided(missing)
    transition(row, source=[Adjudication.Status.OPEN], target=Adjudication.Status.DONE, finished_at=at)
    rulings.filter(final_at=None).update(final_at=at)
    adjudication.status, adjudication.finished_at = row.status, row.finished_at


def _held(adjudication: Adjudication, adjudicator: User) -> Adjudication:
    row = Adjudication.objects.select_for_update(no_key=True).get(pk=adjudication.pk)
    if row.status != Adjudication.Status.OPEN or row.adjudicator_id != adjudicator.pk:
        raise Conflict(_("This adjudication is finished, or someone else has claimed it."))
    refuse_while_paused(row)
    return row


def refuse_while_paused(row: Adjudication) -> None:
    """`Conflict` if the batch of the response is paused."""
    if (
        row.other_group_id is None
        and Batch.objects.filter(
            group=row.group_id, items__response=row.response_id, status=Batch.Status.PAUSED
        ).exists()
    ):
        raise Conflict(
            _("The batch of this response is paused. Nothing is lost; you can continue when it is open again.")
        )


def open_within(groups: Collection[ExpertGroup]) -> int:
    """How many adjudications within these groups are open; their pairs stay undecided between groups until settled."""
    return Adjudication.objects.filter(group__in=groups, other_group=None, status=Adjudication.Status.OPEN).count()
