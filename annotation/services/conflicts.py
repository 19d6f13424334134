"""Where raters differ: votes of a response, and the adjudications that open when they do not agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Adjudication, Amendment, Assignment, Batch, BatchItem, Decision, ExpertGroup, Slot
from annotation.ratings import group_ratings
from consilium.lib.errors import DomainError
from consilium.lib.ratings import Outcome, shared
from consilium.lib.transitions import transition
from rubrics.models import Response, Rubric


@dataclass(frozen=True, slots=True)
class Vote:
    """What one annotator's accepted work says of one criterion, the checker's amendment over it."""

    assignment: str  # public id
    outcome: str
    note: str
    borderline: bool
    evidence: list[dict[str, object]]
    amended_because: str  # the checker's reason; empty where the annotator's own decision stands


def accepted_votes(*, response: Response, rubric: Rubric, group: ExpertGroup) -> dict[int, list[Vote]]:
    """Criterion → votes of the group's accepted work on a response, in an order that means nothing."""
    rows = Assignment.objects.filter(
        response=response,
        rubric=rubric,
        batch__group=group,
        status=Assignment.Status.ACCEPTED,
        purpose=Assignment.Purpose.WORK,
    )
    work = {row.pk: row for row in rows.only("pk", "public_id", "round")}
    amendments = {
        (assignment, criterion): (outcome, reason)
        for assignment, criterion, outcome, reason, round_ in Amendment.objects.filter(
            check_row__assignment__in=work, check_row__result="accepted"
        )
        .exclude(outcome="")
        .values_list("check_row__assignment_id", "criterion_id", "outcome", "reason", "check_row__round")
        if work[assignment].round == round_
    }
    votes: dict[int, list[Vote]] = {}
    decisions = Decision.objects.filter(assignment__in=work, outcome__isnull=False)
    for decision in decisions.order_by("assignment__public_id", "criterion_id"):
        row = work[decision.assignment_id]
        if decision.round != row.round:
            continue
        outcome, reason = amendments.get((row.pk, decision.criterion_id), (decision.outcome, ""))
        votes.setdefault(decision.criterion_id, []).append(
            Vote(row.public_id, outcome or "", decision.note, decision.borderline, decision.evidence, reason)
        )
    return votes


def conflicts_in(votes: Mapping[int, list[Vote]]) -> list[int]:
    """Criteria on which the votes differ."""
    return sorted(criterion for criterion, cast in votes.items() if len({vote.outcome for vote in cast}) > 1)


@transaction.atomic
def open_conflicts_within(*, response: Response, rubric: Rubric, group: ExpertGroup, at: datetime) -> None:
    """Open an adjudication where all of the group's work on the response is accepted and does not agree.

    Called whenever work is accepted. The row of the response serialises two acceptances of the same moment, of which
    each would otherwise not see the other. Conflicts that come later (another batch) are added to the same row.
    """
    Response.objects.select_for_update(no_key=True).filter(pk=response.pk).first()
    rows = Assignment.objects.filter(
        response=response, rubric=rubric, batch__group=group, purpose=Assignment.Purpose.WORK
    ).exclude(status=Assignment.Status.RELEASED)
    if rows.count() < 2:
        return
    # What a closed batch left unfinished, or untaken, will not come any more.
    waiting = rows.exclude(status=Assignment.Status.ACCEPTED).exclude(batch__status=Batch.Status.CLOSED)
    untaken = (
        Slot.objects.filter(item__response=response, item__rubric=rubric, item__batch__group=group)
        .exclude(item__batch__status=Batch.Status.CLOSED)
        .filter(~Exists(rows.filter(slot=OuterRef("pk"))))
    )
    if waiting.exists() or untaken.exists():
        return
    votes = accepted_votes(response=response, rubric=rubric, group=group)
    conflicts = conflicts_in(votes)
    if not conflicts:
        return
    agreement = 1 - len(conflicts) / len(votes)
    row = Adjudication.objects.filter(response=response, rubric=rubric, group=group, other_group=None).first()
    if row is None:
        Adjudication.objects.create(
            response=response, rubric=rubric, group=group, criteria=conflicts, agreement=agreement, created_at=at
        )
        return
    added = set(conflicts) - set(row.criteria)
    if added:
        transition(
            row,
            source=Adjudication.Status.values,
            target=Adjudication.Status.OPEN,
            criteria=sorted({*row.criteria, *conflicts}),
            agreement=min(agreement, row.agreement),
            finished_at=None,
        )


@transaction.atomic
def settle_closed_batch(*, batch: Batch, at: datetime) -> None:
    """Open the conflicts of responses whose last unfinished work ended with the batch."""
    accepted = Assignment.objects.filter(
        batch__group=batch.group_id,
        response=OuterRef("response"),
        status=Assignment.Status.ACCEPTED,
        purpose=Assignment.Purpose.WORK,
    )
    finished = Assignment.objects.filter(slot=OuterRef("pk"), status=Assignment.Status.ACCEPTED)
    unfinished = Slot.objects.filter(~Exists(finished), item=OuterRef("pk"))
    # Work from before there were slots.
    without = Assignment.objects.filter(batch=batch, response=OuterRef("response"), slot=None).exclude(
        status=Assignment.Status.ACCEPTED
    )
    left = BatchItem.objects.filter(Exists(accepted), batch=batch).filter(Exists(unfinished) | Exists(without))
    for item in left.select_related("response", "rubric", "batch__group"):
        open_conflicts_within(response=item.response, rubric=item.rubric, group=item.batch.group, at=at)


def unclosed_batches(*, groups: tuple[ExpertGroup, ExpertGroup]) -> QuerySet[Batch]:
    """Batches of the two groups that still take work, or may again."""
    rows = Batch.objects.filter(group__in=groups).exclude(kind=Batch.Kind.QUALIFY)
    return rows.exclude(status=Batch.Status.CLOSED)


@transaction.atomic
def open_conflicts_between(*, group: ExpertGroup, other: ExpertGroup, at: datetime) -> int:
    """Open an adjudication for each response on which the final decisions of two groups differ; how many are new.

    Both groups must have ended: their batches closed, so that nothing one side decides can follow the other. Pairs
    that an adjudicator found faulty are left out, as agreement leaves them out.
    """
    if group.pk == other.pk or group.benchmark_id != other.benchmark_id:
        raise DomainError(_("Choose two different groups of the benchmark."))
    if unclosed_batches(groups=(group, other)).exists():
        raise DomainError(_("Close the batches of both groups first; until then neither may learn of the other."))
    first, second = group_ratings(group, "final"), group_ratings(other, "final")
    here, there = shared(first, second)
    if not len(here):
        raise DomainError(_("The two groups have no accepted decisions on the same responses."))
    one, two = first.outcome[here], second.outcome[there]
    faulty = (one == Outcome.FAULTY) | (two == Outcome.FAULTY)
    differ = ((one != two) | (one == Outcome.UNDECIDED)) & ~faulty
    responses, criteria = first.response[here], first.criterion[here]
    rubrics: dict[int, int] = {}
    for response_id, rubric_id in (
        BatchItem.objects.filter(batch__group__in=[group, other])
        .order_by("rubric_id")
        .values_list("response_id", "rubric_id")
    ):
        rubrics[response_id] = rubric_id
    # What was opened before stays as it is; a later version of a rubric may bring conflicts on new criteria.
    known: set[tuple[int, int]] = set()  # response, rubric
    opened: set[tuple[int, int]] = set()  # response, criterion
    standing = Adjudication.objects.filter(group__in=[group, other], other_group__in=[group, other])
    for response_id, rubric_id, named in standing.values_list("response_id", "rubric_id", "criteria"):
        known.add((response_id, rubric_id))
        opened.update((response_id, criterion) for criterion in named)
    rows = []
    for response in np.unique(responses[differ]).tolist():
        if response not in rubrics or (response, rubrics[response]) in known:
            continue
        at_response = responses == response
        conflicts = [one for one in criteria[at_response & differ].tolist() if (response, one) not in opened]
        if not conflicts:
            continue
        rows.append(
            Adjudication(
                response_id=response,
                rubric_id=rubrics[response],
                group=group,
                other_group=other,
                criteria=conflicts,
                agreement=1 - len(conflicts) / int(at_response.sum()),
                created_at=at,
            )
        )
    Adjudication.objects.bulk_create(rows, batch_size=1000)
    return len(rows)
