"""Conflicts: the votes on a response, and the adjudications that open where they disagree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.models import (
    Adjudication,
    Amendment,
    Assignment,
    Batch,
    BatchItem,
    Check,
    Decision,
    ExpertGroup,
    Slot,
)
from annotation.selectors.ratings import Divided, divided_votes, group_ratings, groups_with_decisions
from annotation.services.rules import TOO_LATE
from annotation.services.staff_notices import (
    notify_adjudicators,
    notify_of_conflicts,
    withdraw_notice_of_adjudicators,
    withdraw_notice_of_conflict,
)
from consilium.core.errors import Conflict, DomainError
from consilium.core.ratings import shared
from consilium.core.transitions import transition
from consilium.statistics.outcomes import Outcome
from rubrics.imports.bulk import chunks
from rubrics.models import Benchmark, Response, Rubric

WORKS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Vote:
    """One annotator's accepted outcome of one criterion; the checker's amendment replaces it."""

    assignment: str  # public id
    outcome: str
    note: str
    borderline: bool
    evidence: list[dict[str, object]]
    amended_because: str  # the checker's reason; empty where the annotator's own decision counts
    given: str = ""  # the annotator's own outcome, where a checker amended it
    request: str = ""  # what the check of the round before asked to review, or its reason for an amendment
    answer: str = ""  # of the annotator, to that
    before: str = ""  # the annotator's outcome in the round before, where they changed it since


def accepted_votes(*, response: Response, rubric: Rubric, group: ExpertGroup) -> dict[int, list[Vote]]:
    """Criterion → votes of the group's accepted work on a response, in no particular order."""
    rows = Assignment.objects.filter(
        response=response,
        rubric=rubric,
        batch__group=group,
        status=Assignment.Status.ACCEPTED,
        purpose=Assignment.Purpose.WORK,
    )
    work = {row.pk: row for row in rows.only("pk", "public_id", "round")}
    amendments: dict[tuple[int, int], tuple[str, str]] = {}
    requests: dict[tuple[int, int], str] = {}
    for assignment, criterion, outcome, reason, round_, result in (
        Amendment.objects.filter(check_row__assignment__in=work)
        .exclude(outcome="", to_review=False)
        .values_list(
            *("check_row__assignment_id", "criterion_id", "outcome", "reason", "check_row__round", "check_row__result")
        )
    ):
        place, last = (assignment, criterion), work[assignment].round
        if result == Check.Result.ACCEPTED and round_ == last and outcome:
            amendments[place] = (outcome, reason)
        elif result == Check.Result.RETURNED and round_ == last - 1:
            requests[place] = reason
    rows_by_round = {
        (decision.assignment_id, decision.criterion_id, decision.round): decision
        for decision in Decision.objects.filter(assignment__in=work, outcome__isnull=False).order_by(
            "assignment__public_id", "criterion_id"
        )
    }
    votes: dict[int, list[Vote]] = {}
    for (assignment, criterion, round_), decision in rows_by_round.items():
        row, place = work[assignment], (assignment, criterion)
        if round_ != row.round:
            continue
        outcome, reason = amendments.get(place, (decision.outcome, ""))
        former = rows_by_round.get((assignment, criterion, round_ - 1))
        before = (former.outcome or "") if former is not None and former.outcome != decision.outcome else ""
        votes.setdefault(criterion, []).append(
            Vote(
                row.public_id,
                outcome or "",
                decision.note,
                decision.borderline,
                decision.evidence,
                reason,
                given=(decision.outcome or "") if reason else "",
                request=requests.get(place, ""),
                answer=decision.answer,
                before=before,
            )
        )
    return votes


@dataclass(frozen=True, slots=True)
class Opened:
    """How many conflicts were opened: the number of ``criteria``, and of the ``responses`` that they are on.

    ``ids``: the adjudications (`Adjudication.pk`) that are new, or open again with more criteria.
    """

    responses: int = 0
    criteria: int = 0
    ids: frozenset[int] = frozenset()

    def __add__(self, other: Opened) -> Opened:
        return Opened(self.responses + other.responses, self.criteria + other.criteria, self.ids | other.ids)

    @property
    def adjudications(self) -> QuerySet[Adjudication]:
        """Those adjudications."""
        return Adjudication.objects.filter(pk__in=self.ids)


def open_conflicts_within(*, response: Response, rubric: Rubric, group: ExpertGroup, at: datetime) -> None:
    """Open an adjudication where all of the group's work on the response is accepted and does not agree.

    Called whenever work is accepted. The admins and the adjudicators are notified, at most once a day.
    """
    opened = open_group_conflicts(group=group, works={(response.pk, rubric.pk)}, at=at)
    if opened.responses:
        notify_of_conflicts(benchmark=group.benchmark, count=opened.responses, at=at)
        notify_adjudicators(opened=opened.adjudications, at=at)


@transaction.atomic
def open_group_conflicts(*, group: ExpertGroup, works: Collection[tuple[int, int]], at: datetime) -> Opened:
    """`open_conflicts_within` for many ``works``, pairs of ids (response, rubric).

    Votes of all batches of the group count together, as in its ratings. Locks on the rows of the responses serialise
    simultaneous acceptances, which would otherwise not see each other. Conflicts that arise later, in another batch,
    are added to the same adjudication.
    """
    opened = Opened()
    for some in chunks(sorted(works), WORKS_AT_ONCE):
        responses = sorted({response for response, _rubric in some})
        locked = Response.objects.select_for_update(no_key=True).filter(pk__in=responses).order_by("pk")
        list(locked.values_list("pk"))
        divided = [each for each in divided_votes(group, responses) if (each.response, each.rubric) in works]
        if divided:
            unfinished = _unfinished_works(group, {each.response for each in divided})
            ready = [each for each in divided if (each.response, each.rubric) not in unfinished]
            opened += _adjudicate(group, ready, at)
    return opened


def withdraw_conflict_within(*, response: Response, rubric: Rubric, group: ExpertGroup, at: datetime | None) -> None:
    """Delete the adjudication that the acceptance of work at ``at`` opened, because the acceptance is undone.

    `Conflict` if an adjudicator has claimed or finished it since, or if it was open before: others may work on it
    already. The lock is that of `open_group_conflicts`.
    """
    list(Response.objects.select_for_update(no_key=True).filter(pk=response.pk).values_list("pk"))
    rows = Adjudication.objects.select_for_update().filter(
        response=response, rubric=rubric, group=group, other_group=None
    )
    row = rows.first()
    if row is None:
        return
    if row.status == Adjudication.Status.DONE:
        if at is None or row.finished_at is None or row.finished_at >= at:
            raise Conflict(str(TOO_LATE))
        return
    if row.adjudicator_id is not None or row.created_at != at or row.rulings.exists():
        raise Conflict(str(TOO_LATE))
    # In the order in which `open_conflicts_within` locks the notifications.
    withdraw_notice_of_conflict(benchmark=group.benchmark, at=row.created_at)
    withdraw_notice_of_adjudicators(opened=Adjudication.objects.filter(pk=row.pk), at=row.created_at)
    row.delete()


def _unfinished_works(group: ExpertGroup, responses: Collection[int]) -> set[tuple[int, int]]:
    """Works, pairs (response, rubric), with assignments that are not accepted yet or slots that are not taken yet."""
    rows = Assignment.objects.filter(
        response__in=responses, batch__group=group, purpose=Assignment.Purpose.WORK
    ).exclude(status=Assignment.Status.RELEASED)
    # Work that was unfinished or not taken when its batch was closed is never done.
    waiting = rows.exclude(status=Assignment.Status.ACCEPTED).exclude(batch__status=Batch.Status.CLOSED)
    untaken = (
        Slot.objects.filter(item__response__in=responses, item__batch__group=group)
        .exclude(item__batch__status=Batch.Status.CLOSED)
        .filter(~Exists(rows.filter(slot=OuterRef("pk"))))
    )
    return {
        *waiting.values_list("response_id", "rubric_id"),
        *untaken.values_list("item__response_id", "item__rubric_id"),
    }


def _adjudicate(group: ExpertGroup, divided: Sequence[Divided], at: datetime) -> Opened:
    """Open an adjudication for each divided response, or add the missing criteria to its existing adjudication."""
    rows = Adjudication.objects.filter(
        response__in=[each.response for each in divided], group=group, other_group=None
    ).select_related("adjudicator")
    known = {(row.response_id, row.rubric_id): row for row in rows}
    new = [
        Adjudication(
            response_id=each.response,
            rubric_id=each.rubric,
            group=group,
            criteria=each.criteria,
            agreement=1 - len(each.criteria) / each.n_criteria,
            created_at=at,
        )
        for each in divided
        if (each.response, each.rubric) not in known
    ]
    Adjudication.objects.bulk_create(new, batch_size=1000)
    opened = _opened(new)
    for each in divided:
        row = known.get((each.response, each.rubric))
        added = set(each.criteria) - set(row.criteria) if row else set()
        if row and added:
            _reopen(row, each)
            opened += Opened(1, len(added), frozenset([row.pk]))
    return opened


def _opened(rows: Sequence[Adjudication]) -> Opened:
    """What new adjudications, just stored, are."""
    return Opened(len(rows), sum(len(row.criteria) for row in rows), frozenset(row.pk for row in rows))


def _reopen(row: Adjudication, divided: Divided) -> None:
    """Add conflicts to an adjudication. Its final rulings stay final: they count while it is open again."""
    changes: dict[str, Any] = {
        "criteria": sorted({*row.criteria, *divided.criteria}),
        "agreement": min(1 - len(divided.criteria) / divided.n_criteria, row.agreement),
        "finished_at": None,
    }
    if row.adjudicator is not None and not row.adjudicator.email:
        # An adjudicator whose rulings were imported cannot sign in: another adjudicator of the group continues.
        changes["adjudicator"] = None
    transition(row, source=Adjudication.Status.values, target=Adjudication.Status.OPEN, **changes)


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
    # Work that was created before slots were introduced.
    without = Assignment.objects.filter(batch=batch, response=OuterRef("response"), slot=None).exclude(
        status=Assignment.Status.ACCEPTED
    )
    left = BatchItem.objects.filter(Exists(accepted), batch=batch).filter(Exists(unfinished) | Exists(without))
    opened = Opened()
    for item in left.select_related("response", "rubric", "batch__group"):
        # The admin who closes the batch sees the conflicts on its page, and gets no notification.
        opened += open_group_conflicts(group=item.batch.group, works={(item.response_id, item.rubric_id)}, at=at)
    notify_adjudicators(opened=opened.adjudications, at=at)


def unclosed_batches(*, groups: tuple[ExpertGroup, ExpertGroup]) -> QuerySet[Batch]:
    """Batches of the two groups that still take work, or may take work again."""
    rows = Batch.objects.filter(group__in=groups).exclude(kind=Batch.Kind.QUALIFY)
    return rows.exclude(status=Batch.Status.CLOSED)


@transaction.atomic
def open_conflicts_between(*, group: ExpertGroup, other: ExpertGroup, at: datetime) -> int:
    """Open an adjudication for each response on which two groups' final decisions differ; returns how many are new."""
    opened = open_between(group=group, other=other, at=at)[0]
    notify_adjudicators(opened=opened.adjudications, at=at)
    return opened.responses


@transaction.atomic
def open_between(
    *, group: ExpertGroup, other: ExpertGroup, at: datetime, settled_only: bool = False
) -> tuple[Opened, int]:
    """`open_conflicts_between` with more counts: what was opened, and the number of responses that were left out.

    ``settled_only`` leaves out responses on which one of the groups has an open conflict within itself, since it has
    not decided there yet. All batches of both groups must be closed, so that neither group's decisions can be
    influenced by the other's. Pairs that an adjudicator found faulty are left out, as in agreement.
    """
    if group.pk == other.pk or group.benchmark_id != other.benchmark_id:
        raise DomainError(_("Choose two different groups of the benchmark."))
    if unclosed_batches(groups=(group, other)).exists():
        raise DomainError(
            _("Close the batches of both groups first. Until then, neither group may learn about the other.")
        )
    first, second = group_ratings(group, "final"), group_ratings(other, "final")
    first_places, other_places = shared(first, second)
    if not len(first_places):
        raise DomainError(_("The two groups have no accepted decisions on the same responses."))
    first_outcome, second_outcome = first.outcome[first_places], second.outcome[other_places]
    faulty = (first_outcome == Outcome.FAULTY) | (second_outcome == Outcome.FAULTY)
    differ = ((first_outcome != second_outcome) | (first_outcome == Outcome.UNDECIDED)) & ~faulty
    responses, criteria = first.response[first_places], first.criterion[first_places]
    rubrics: dict[int, int] = {}
    for response_id, rubric_id in (
        BatchItem.objects.filter(batch__group__in=[group, other])
        .order_by("rubric_id")
        .values_list("response_id", "rubric_id")
    ):
        rubrics[response_id] = rubric_id
    # Adjudications opened before stay unchanged; a later version of a rubric may bring conflicts on new criteria.
    known: set[tuple[int, int]] = set()  # response, rubric
    opened: set[tuple[int, int]] = set()  # response, criterion
    earlier = Adjudication.objects.filter(group__in=[group, other], other_group__in=[group, other])
    for response_id, rubric_id, named in earlier.values_list("response_id", "rubric_id", "criteria"):
        known.add((response_id, rubric_id))
        opened.update((response_id, criterion) for criterion in named)
    rows = []
    unsettled = set(_open_within(group, other).values_list("response_id", flat=True)) if settled_only else set()
    left_out = [
        response
        for response in unsettled.intersection(responses.tolist())
        if response in rubrics and (response, rubrics[response]) not in known
    ]
    for response in np.unique(responses[differ]).tolist():
        if response not in rubrics or (response, rubrics[response]) in known or response in unsettled:
            continue
        at_response = responses == response
        conflicts = [
            criterion for criterion in criteria[at_response & differ].tolist() if (response, criterion) not in opened
        ]
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
    return _opened(rows), len(left_out)


def _open_within(*groups: ExpertGroup) -> QuerySet[Adjudication]:
    return Adjudication.objects.filter(group__in=groups, other_group=None, status=Adjudication.Status.OPEN)


# Imported decisions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenedBetween:
    """What was opened between two groups, and on how many shared responses a group must settle its own conflicts first.

    ``refused``: why nothing could be opened, in the reader's language.
    """

    group: str
    other: str
    opened: Opened = Opened()
    n_unsettled: int = 0
    refused: str = ""


@transaction.atomic
def open_imported_conflicts(*, benchmark: Benchmark, at: datetime) -> tuple[dict[str, Opened], list[OpenedBetween]]:
    """Open the conflicts within each group that has imported decisions, then those between it and every other group.

    Returns a dict by group name, and a list with one entry for each pair of groups with decisions. If it is called
    again it opens only the conflicts that have arisen since. Admins and adjudicators are notified, at most once a day.
    """
    imported = Batch.objects.filter(group__benchmark=benchmark, imported=True)
    within: dict[str, Opened] = {}
    for group in ExpertGroup.objects.filter(pk__in=imported.values("group")).order_by("name"):
        items = BatchItem.objects.filter(batch__in=imported.filter(group=group))
        works = set(items.values_list("response_id", "rubric_id"))
        within[group.name] = open_group_conflicts(group=group, works=works, at=at)
    between = [
        _open_between_imported(group, other, at)
        for group, other in combinations(groups_with_decisions(benchmark), 2)
        if group.name in within or other.name in within
    ]
    opened = sum([*within.values(), *(pair.opened for pair in between)], Opened())
    if opened.responses:
        notify_of_conflicts(benchmark=benchmark, count=opened.responses, at=at)
        notify_adjudicators(opened=opened.adjudications, at=at)
    return within, between


def _open_between_imported(group: ExpertGroup, other: ExpertGroup, at: datetime) -> OpenedBetween:
    try:
        opened, n_unsettled = open_between(group=group, other=other, at=at, settled_only=True)
    except DomainError as refused:
        return OpenedBetween(group.name, other.name, refused=str(refused))
    return OpenedBetween(group.name, other.name, opened, n_unsettled)
