"""Work that came back from a check: what its checker asked to review, and what the annotator changed since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from annotation.models import Amendment, Assignment, Batch, Check, Decision, Outcome, Physician
from rubrics.models import RubricItem

TO_REVIEW = "review"  # what a checker chooses in place of an outcome, so that the annotator reviews the criterion
CHECK_CHOICES = [*Outcome.choices, (TO_REVIEW, TO_REVIEW)]
REVIEWED_FIELDS = ("outcome", "borderline", "note", "evidence")


def review_requests(assignment: Assignment, number: int) -> dict[int, str]:
    """Criterion (id) → the line with which the check of the round before ``number`` asked to review it."""
    if number == 1:
        return {}
    rows = Amendment.objects.filter(
        check_row__assignment=assignment, check_row__round=number - 1, check_row__result="returned", to_review=True
    )
    return dict(rows.values_list("criterion_id", "reason"))


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the check of round ``round`` asked to review in a criterion, and what came of it in the next round."""

    round: int
    request: str
    answer: str  # of the annotator; empty where there is none
    outcome: str  # in that round
    outcome_after: str


def earlier_exchanges(assignment: Assignment, number: int) -> dict[int, list[Exchange]]:
    """Criterion (id) → the exchanges before that which `review_requests` has for round ``number``, in order.

    Two queries; none before the third round, which is the first that can have any.
    """
    if number <= 2:
        return {}
    marks = Amendment.objects.filter(
        check_row__assignment=assignment, check_row__round__lt=number - 1, check_row__result="returned", to_review=True
    )
    rows = list(marks.order_by("check_row__round").values_list("criterion_id", "check_row__round", "reason"))
    decisions = {
        (criterion, round_): (outcome or "", answer)
        for criterion, round_, outcome, answer in Decision.objects.filter(
            assignment=assignment, round__lt=number, criterion__in={criterion for criterion, *_rest in rows}
        ).values_list("criterion_id", "round", "outcome", "answer")
    }
    exchanges: dict[int, list[Exchange]] = {}
    for criterion, round_, request in rows:
        before, _answer = decisions.get((criterion, round_), ("", ""))
        after, answer = decisions.get((criterion, round_ + 1), ("", ""))
        exchanges.setdefault(criterion, []).append(Exchange(round_, request, answer, before, after))
    return exchanges


@dataclass(frozen=True, slots=True)
class EarlierAmendment:
    """What a check that ended with a return had amended a criterion to, in round ``round``."""

    round: int
    outcome: str
    reason: str
    own: bool  # by the checker of the round in which it is shown


def earlier_amendments(assignment: Assignment, number: int) -> dict[int, EarlierAmendment]:
    """Criterion (id) → its amendment in the rounds before ``number``; one query, none for the first round.

    Where a later one of these rounds marked the criterion for review, that mark counts and the amendment is left out.
    """
    if number == 1:
        return {}
    reader = Check.objects.filter(assignment=assignment, round=number, checker=OuterRef("check_row__checker"))
    rows = Amendment.objects.filter(
        check_row__assignment=assignment, check_row__round__lt=number, check_row__result=Check.Result.RETURNED
    ).exclude(outcome="", to_review=False)
    last = {
        criterion: EarlierAmendment(round_, outcome, reason, own)
        for criterion, round_, outcome, reason, own in rows.annotate(own=Exists(reader))
        .order_by("check_row__round")
        .values_list("criterion_id", "check_row__round", "outcome", "reason", "own")
    }
    return {criterion: amendment for criterion, amendment in last.items() if amendment.outcome}


def decisions_before(assignment: Assignment, number: int) -> dict[int, Decision]:
    """Criterion (id) → the decision of the round before ``number``; empty for the first round."""
    if number == 1:
        return {}
    rows = Decision.objects.filter(assignment=assignment, round=number - 1)
    return {row.criterion_id: row for row in rows}


def is_changed(decision: Decision | None, before: Decision | None) -> bool:
    """Whether outcome, borderline, note or evidence differ; an answer to the checker changes no decision."""
    return any(getattr(decision, name, None) != getattr(before, name, None) for name in REVIEWED_FIELDS)


def unreviewed_criteria(assignment: Assignment) -> set[int]:
    """Criteria (ids) that the annotator was asked to review, and has neither changed nor answered."""
    requests = review_requests(assignment, assignment.round)
    if not requests:
        return set()
    before = decisions_before(assignment, assignment.round)
    rows = Decision.objects.filter(assignment=assignment, round=assignment.round, criterion__in=requests)
    now = {row.criterion_id: row for row in rows}
    return {
        criterion
        for criterion in requests
        if not (criterion in now and now[criterion].answer)
        and not is_changed(now.get(criterion), before.get(criterion))
    }


REVIEW_COLUMNS = (
    *(
        "batch",
        "case",
        "candidate",
        "setting",
        "sample",
        "physician",
        "checker",
        "round",
        "criterion",
        "review_request",
    ),
    *("outcome", "outcome_after", "changed", "answer"),
)
REVIEW_TEXT = ("batch", "case", "candidate", "setting", "physician", "checker", "review_request", "answer")


def review_rows(batch: Batch) -> Iterator[dict[str, Any]]:
    """Rows of the CSV: each criterion that a returned check asked to review; physicians by pseudonym.

    ``round`` is that of the check, ``outcome`` the decision then. The columns after it are empty until the annotator
    has submitted the work again.
    """
    names = dict(Physician.objects.filter(benchmark=batch.group.benchmark_id).values_list("user_id", "pseudonym"))
    marks = Amendment.objects.filter(check_row__assignment__batch=batch, check_row__result="returned", to_review=True)
    works = marks.values("check_row__assignment")
    decisions = {
        (row.assignment_id, row.criterion_id, row.round): row
        for row in Decision.objects.filter(assignment__in=works, criterion__in=marks.values("criterion"))
    }
    positions: dict[tuple[int, int], int] = {
        (rubric, criterion): position
        for rubric, criterion, position in RubricItem.objects.filter(
            rubric__in=marks.values("check_row__assignment__rubric"), criterion__in=marks.values("criterion")
        ).values_list("rubric", "criterion", "position")
    }
    unfinished = {*Assignment.OPEN, Assignment.Status.RELEASED}
    rows = marks.select_related("check_row__assignment__case", "check_row__assignment__response__candidate")
    for mark in rows.order_by("check_row__assignment", "check_row__round", "criterion"):
        check, work = mark.check_row, mark.check_row.assignment
        before = decisions.get((work.pk, mark.criterion_id, check.round))
        after = decisions.get((work.pk, mark.criterion_id, check.round + 1))
        submitted = after is not None and (work.round > check.round + 1 or work.status not in unfinished)
        row = {
            "batch": batch.title,
            "case": work.case.key,
            "candidate": work.response.candidate.name,
            "setting": work.response.setting,
            "sample": work.response.sample,
            "physician": names.get(work.annotator_id, ""),
            "checker": names.get(check.checker_id, ""),
            "round": check.round,
            "criterion": positions.get((work.rubric_id, mark.criterion_id)),
            "review_request": mark.reason,
            "outcome": before.outcome if before else "",
        }
        if submitted and after is not None:
            row |= {"outcome_after": after.outcome, "changed": is_changed(after, before), "answer": after.answer}
        yield row
