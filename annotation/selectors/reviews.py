"""Data of the review pages for checkers, adjudicators and annotators: their lists, and the changes of a check.

As in `reading_pages`, pages get rows, never a response or a candidate, and no name of another physician.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce, Length

from accounts.models import User
from annotation import access
from annotation.allocation.specialties import case_specialty
from annotation.models import (
    Amendment,
    Assignment,
    Attention,
    Check,
    Decision,
    LabelTask,
    Outcome,
    RulingOutcome,
    WritingTask,
)
from annotation.selectors.queue_order import in_order_of_adjudication, in_order_of_checking
from annotation.selectors.queue_places import graded_place, label_place, writing_place
from annotation.services.attention import time_spent
from annotation.writing.selectors import submitted_tasks
from rubrics.models import Benchmark, RubricItem

PER_PAGE = 50


# Lists --------------------------------------------------------------------------------------------------------------


def _with_specialties(page: Page[Any]) -> Page[Any]:
    page.object_list = [{**row, "specialty": case_specialty(row["tags"])} for row in page.object_list]
    return page


@dataclass(frozen=True, slots=True)
class CheckLists:
    """How many checks there are for a checker, and the rows behind each number."""

    waiting: int
    in_hand: list[str]  # public ids, the longest waiting first
    done: int
    rows: dict[str, QuerySet[Any, dict[str, Any]]]

    @property
    def held(self) -> int:
        """How many checks this checker has taken and not finished."""
        return len(self.in_hand)

    def page(self, show: str, number: Any) -> Page[Any]:
        """A page of the list ``show``: ``waiting``, ``held`` or ``done``."""
        return _with_specialties(Paginator(self.rows[show], PER_PAGE).get_page(number))


def check_lists(user: User, benchmark: Benchmark | None) -> CheckLists:
    """Checks that wait (work that this checker sent back first, then the oldest), those in hand, and those done."""
    waiting, held = access.waiting_checks(user), access.held_checks(user)
    done = access.done_checks(user)
    if benchmark is not None:
        waiting = waiting.filter(batch__group__benchmark=benchmark)
        held = held.filter(batch__group__benchmark=benchmark)
        done = done.filter(assignment__batch__group__benchmark=benchmark)
    columns: tuple[str, ...] = ("public_id", "round", "submitted_at")
    columns += ("batch__title", "batch__status", "batch__due_date")
    again = Case(When(checker=user.pk, then=Value(1)), default=Value(0))
    about_case: dict[str, Any] = {
        "tags": F("case__tags"),
        "language": F("case__language"),
        "length": Length("response__text"),
    }
    about_case["benchmark"] = F("batch__group__benchmark__title")
    remarked = Decision.objects.filter(assignment=OuterRef("pk"), round=OuterRef("round")).filter(
        Q(borderline=True) | Q(outcome=Outcome.CANNOT_ASSESS) | ~Q(note="")
    )
    returned = Check.objects.filter(assignment=OuterRef("pk"), round=OuterRef("round") - 1)
    about_work: dict[str, Any] = {
        "flagged": Coalesce(Subquery(remarked.order_by().values("assignment").annotate(n=Count("pk")).values("n")), 0),
        "to_review": Coalesce(Subquery(returned.values("n_to_review")[:1]), 0),
    }
    columns += (*about_case, *about_work)
    waiting_rows, held_rows = (rows.annotate(**about_case, **about_work) for rows in (waiting, held))
    rows = {
        "waiting": in_order_of_checking(waiting_rows.annotate(again=again), user).values("again", *columns),
        "held": held_rows.order_by("submitted_at", "pk").values(*columns),
        "done": done.annotate(
            amended=Count("amendments", filter=~Q(amendments__outcome="")),
            tags=F("assignment__case__tags"),
            language=F("assignment__case__language"),
            benchmark=F("assignment__batch__group__benchmark__title"),
        )
        .order_by("-finished_at", "-pk")
        .values(
            *("tags", "language", "n_to_review", "benchmark"),
            "result",
            "note",
            "round",
            "finished_at",
            "amended",
            "assignment__public_id",
            "assignment__batch__title",
        ),
    }
    in_hand = list(held.order_by("submitted_at", "pk").values_list("public_id", flat=True))
    return CheckLists(waiting.count(), in_hand, done.count(), rows)


@dataclass(frozen=True, slots=True)
class AdjudicationLists:
    """How many conflicts there are for an adjudicator, and the rows behind each number."""

    open: int
    in_hand: list[str]  # public ids, the lowest agreement first
    done: int
    rows: dict[str, QuerySet[Any, dict[str, Any]]]

    @property
    def held(self) -> int:
        """How many adjudications this adjudicator has taken and not finished."""
        return len(self.in_hand)

    def page(self, show: str, number: Any) -> Page[Any]:
        """A page of the open adjudications, or of those that are ``done``."""
        return _with_specialties(Paginator(self.rows[show], PER_PAGE).get_page(number))


def adjudication_lists(user: User, benchmark: Benchmark | None) -> AdjudicationLists:
    """Open conflicts, those in hand first, then by lowest agreement; and those this adjudicator has settled."""
    open_, done = access.open_adjudications(user), access.done_adjudications(user)
    if benchmark is not None:
        open_, done = (rows.filter(group__benchmark=benchmark) for rows in (open_, done))
    about_work: dict[str, Any] = {
        "benchmark": F("group__benchmark__title"),
        "tags": F("response__case__tags"),
        "language": F("response__case__language"),
        "length": Length("response__text"),
    }
    columns: tuple[str, ...] = ("public_id", "agreement", "criteria", "adjudicator", "other_group")
    columns += ("created_at", "finished_at")
    columns += ("batch_title", *about_work)
    open_rows, done_rows = (access.with_batch(rows).annotate(**about_work) for rows in (open_, done))
    rows = {
        "": in_order_of_adjudication(open_rows, user).values(*columns),
        "done": done_rows.annotate(faulty=Count("rulings", filter=Q(rulings__outcome=RulingOutcome.FAULTY)))
        .order_by("-finished_at", "-pk")
        .values("faulty", *columns),
    }
    held = open_.filter(adjudicator=user.pk).order_by("agreement", "pk")
    return AdjudicationLists(open_.count(), list(held.values_list("public_id", flat=True)), done.count(), rows)


# The result of a check ----------------------------------------------------------------------------------------------


def note_of_the_round_before(assignment: Assignment, number: int) -> str:
    """The note with which the work was last sent back before round ``number``; empty in the first round."""
    rows = Check.objects.filter(assignment=assignment, round__lt=number, result=Check.Result.RETURNED)
    return rows.order_by("-round").values_list("note", flat=True).first() or ""


# What a check changed -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AmendedLine:
    """A criterion of an annotator's work, their decision, and the check's amendment with its reason."""

    criterion: int
    number: int
    text: str
    own: str
    outcome: str
    reason: str
    round: int
    to_review: bool = False  # the reason asks the annotator to review the criterion, and `outcome` is empty


def amendments_of(assignment: Assignment) -> dict[int, AmendedLine]:
    """Criterion → what the last finished check of the work changed there, without the checker's name."""
    lines = amendments_in([assignment.pk]).get(assignment.pk, [])
    return {line.criterion: line for line in lines if not line.to_review}


def amendments_in(assignments: Collection[int]) -> dict[int, list[AmendedLine]]:
    """Assignment (id) → what its last finished check changed or asked to review, in the order of the rubric.

    Three queries.

    A check that is not finished yet is left out, since its checker may still change it.
    """
    last: dict[int, int] = dict(
        Check.objects.filter(assignment__in=list(assignments))
        .exclude(result="")
        .order_by("assignment", "round")
        .values_list("assignment", "pk")
    )
    if not last:
        return {}
    rows = (
        Amendment.objects.filter(check_row__in=last.values())
        .exclude(outcome="", to_review=False)
        .annotate(
            work=F("check_row__assignment"), round=F("check_row__round"), rubric=F("check_row__assignment__rubric")
        )
        .values_list("work", "round", "rubric", "criterion", "criterion__text", "outcome", "reason", "to_review")
    )
    amendments = list(rows)
    criteria = {row[3] for row in amendments}
    numbers: dict[tuple[int, int], int] = {
        (rubric, criterion): position
        for rubric, criterion, position in RubricItem.objects.filter(
            rubric__in={row[2] for row in amendments}, criterion__in=criteria
        ).values_list("rubric", "criterion", "position")
    }
    own = {
        (work, round_, criterion): outcome
        for work, round_, criterion, outcome in Decision.objects.filter(
            assignment__in=last, criterion__in=criteria
        ).values_list("assignment", "round", "criterion", "outcome")
    }
    lines: dict[int, list[AmendedLine]] = {}
    for work, round_, rubric, criterion, text, outcome, reason, to_review in amendments:
        own_outcome = own.get((work, round_, criterion)) or ""
        number = numbers.get((rubric, criterion), 0)
        line = AmendedLine(criterion, number, text, own_outcome, outcome, reason, round_, to_review)
        lines.setdefault(work, []).append(line)
    for each in lines.values():
        each.sort(key=lambda line: line.number)
    return lines


# What an annotator has handed in ------------------------------------------------------------------------------------


GRADED, ANSWERED, WRITTEN = "graded", "answered", "written"


@dataclass(frozen=True, slots=True)
class HandedIn:
    """Work that its physician has handed in: a graded response, answers to questions, or a written response.

    Answers are about a case (`is_case`) or about a response to it; a written response is to a case.
    """

    public_id: str
    place: int  # in its physician's queue
    batch: str
    status: str
    submitted_at: datetime | None
    seconds: int  # spent on it by its annotator
    amended: list[AmendedLine] = field(default_factory=list)
    sent_back: bool = False  # in any earlier round
    kind: str = GRADED
    is_case: bool = False
    round: int = 1  # of votes


def handed_in(
    user: User, benchmark: Benchmark | None, *, page: Any, per_page: int = 20
) -> tuple[Page[Any], list[HandedIn]]:
    """A page of the annotator's finished work, the latest first, in a fixed number of queries.

    Includes work in groups in which their work has ended.
    """
    assignments = access.submitted_assignments(user).exclude(purpose=Assignment.Purpose.QUALIFICATION)
    tasks, written = access.submitted_label_tasks(user), submitted_tasks(user)
    sources: dict[str, QuerySet[Any]] = {GRADED: assignments, ANSWERED: tasks, WRITTEN: written}
    columns = ("submitted_at", "pk", "kind")
    parts = []
    for kind, rows in sources.items():
        within = rows if benchmark is None else rows.filter(batch__group__benchmark=benchmark)
        parts.append(within.order_by().annotate(kind=Value(kind)).values_list(*columns))
    first, *others = parts
    shown = Paginator(first.union(*others, all=True).order_by("-submitted_at", "kind", "-pk"), per_page).get_page(page)
    places = [(kind, pk) for _at, pk, kind in shown.object_list]
    readers = {GRADED: _graded, ANSWERED: _answered, WRITTEN: _written}
    lines: dict[tuple[str, int], HandedIn] = {}
    for kind, read in readers.items():
        ids = [pk for of_kind, pk in places if of_kind == kind]
        if ids:
            lines |= read(user, ids)
    return shown, [lines[place] for place in places]


def _graded(user: User, ids: list[int]) -> dict[tuple[str, int], HandedIn]:
    rows = list(Assignment.objects.filter(pk__in=ids).select_related("batch").annotate(place=graded_place()))
    seconds = time_spent(user, ids)
    amended = amendments_in([row.pk for row in rows if row.status == Assignment.Status.ACCEPTED])
    return {
        (GRADED, row.pk): HandedIn(
            row.public_id,
            row.place,
            row.batch.title,
            row.status_for_annotator,
            row.submitted_at,
            seconds.get(row.pk, 0),
            amended.get(row.pk, []),
            row.round > 1,
        )
        for row in rows
    }


def _answered(user: User, ids: list[int]) -> dict[tuple[str, int], HandedIn]:
    seconds = dict(Attention.objects.filter(user=user, label_task__in=ids).values_list("label_task", "seconds"))
    return {
        (ANSWERED, row.pk): HandedIn(
            row.public_id,
            row.place,
            row.batch.title,
            row.status,
            row.submitted_at,
            seconds.get(row.pk, 0),
            kind=ANSWERED,
            is_case=row.response_id is None,
            round=row.round,
        )
        for row in LabelTask.objects.filter(pk__in=ids).select_related("batch").annotate(place=label_place())
    }


def _written(user: User, ids: list[int]) -> dict[tuple[str, int], HandedIn]:
    rows = WritingTask.objects.filter(pk__in=ids, writer=user).select_related("batch")
    return {
        (WRITTEN, row.pk): HandedIn(
            row.public_id,
            row.place,
            row.batch.title,
            row.status,
            row.submitted_at,
            row.seconds,
            kind=WRITTEN,
            is_case=True,
        )
        for row in rows.annotate(place=writing_place())
    }
