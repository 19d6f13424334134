"""Determines who may not write to a case, and why.

An unaided response must come from somebody who has read no answer to the case, no criterion of its rubric and no
reference answer. In addition, nobody answers the same case twice for one candidate.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from django.db.models import Q

from annotation.models import (
    Adjudication,
    Assignment,
    Check,
    CodeRuling,
    Involvement,
    LabelTask,
    WritingTask,
)
from annotation.selectors.code_rulings import readers_of_rulings
from annotation.selectors.languages_read import unreadable_pairs
from rubrics.models import AuditItem, AuthoringTime, Candidate, Case, RubricContributor, RubricReview

Pair = tuple[int, int]  # case, user


class ExclusionReason(StrEnum):
    """Why somebody may not write to a case."""

    READ = "read"  # was given an answer to it: to grade, check, rule on, read or code, or as a reference
    AUTHORED = "authored"  # wrote the case, or wrote, reviewed or audited its rubric, or had them open to do so
    WROTE = "wrote"  # has written a response to it, or has an open task to do so
    LANGUAGE = "language"  # does not read its language, by their profile


def excluded_writers(
    *,
    mode: str,
    candidate: Candidate | None,
    cases: Collection[int],
    people: Collection[int],
    match_languages: bool = False,
) -> dict[ExclusionReason, set[Pair]]:
    """Reason → (case, user) pairs that a batch in this ``mode`` must leave out, each under its first reason.

    In aided mode, only a second response for the same candidate is excluded: the writer sees other answers anyway.
    """
    pairs_by_bar: dict[ExclusionReason, set[Pair]] = {reason: set() for reason in ExclusionReason}
    tasks = WritingTask.objects.filter(case__in=cases, writer__in=people).exclude(status=WritingTask.Status.RELEASED)
    if mode == "unaided":
        pairs_by_bar[ExclusionReason.READ] = _given_an_answer(cases, people)
        pairs_by_bar[ExclusionReason.AUTHORED] = _wrote_the_rubric(cases, people) - pairs_by_bar[ExclusionReason.READ]
    else:
        tasks = tasks.filter(batch__writing_terms__candidate=candidate)
    pairs_by_bar[ExclusionReason.WROTE] = (
        set(tasks.values_list("case_id", "writer_id"))
        - pairs_by_bar[ExclusionReason.READ]
        - pairs_by_bar[ExclusionReason.AUTHORED]
    )
    if match_languages:
        pairs_by_bar[ExclusionReason.LANGUAGE] = unreadable_pairs(cases, people).difference(*pairs_by_bar.values())
    return pairs_by_bar


def _given_an_answer(cases: Collection[int], people: Collection[int]) -> set[Pair]:
    """(case, user) pairs with work on any response to the case, present or past, opened or not, or an aided task."""
    parts = Involvement.objects.filter(response__case__in=cases, user__in=people)
    work = Assignment.objects.filter(case__in=cases, annotator__in=people)
    shown = WritingTask.objects.filter(case__in=cases, writer__in=people, batch__writing_terms__mode="aided")
    labelled = LabelTask.objects.filter(case__in=cases, annotator__in=people, response__isnull=False)
    return {
        *parts.values_list("response__case_id", "user_id"),
        *work.values_list("case_id", "annotator_id"),
        *shown.values_list("case_id", "writer_id"),
        *labelled.values_list("case_id", "annotator_id"),
        *_may_rule_on_codes(cases, people),
    }


def _may_rule_on_codes(cases: Collection[int], people: Collection[int]) -> set[Pair]:
    """(case, user) pairs with a ruling on the codes of a response, or with one that their group was asked for."""
    rulings = CodeRuling.objects.filter(response__case__in=cases)
    case_by_response = dict(rulings.values_list("response_id", "response__case_id"))
    return {(case_by_response[pk], user) for pk, user in readers_of_rulings(rulings) if user in people}


def _wrote_the_rubric(cases: Collection[int], people: Collection[int]) -> set[Pair]:
    return {
        *Case.objects.filter(pk__in=cases, created_by__in=people).values_list("pk", "created_by_id"),
        *RubricContributor.objects.filter(rubric__case__in=cases, user__in=people).values_list(
            "rubric__case_id", "user_id"
        ),
        *RubricReview.objects.filter(rubric__case__in=cases, reviewer__in=people).values_list(
            "rubric__case_id", "reviewer_id"
        ),
        # Browsers report time spent in the editor or the review of a case; these pages show the rubric.
        *AuthoringTime.objects.filter(case__in=cases, user__in=people).values_list("case_id", "user_id"),
        *AuditItem.objects.filter(case__in=cases, auditor__in=people).values_list("case_id", "auditor_id"),
    }


def has_read_an_answer(task: WritingTask) -> bool:
    """Whether the writer of ``task`` has opened an answer to the case by now, or contributed to its rubric.

    Work that was given to them but never opened does not count, since it cannot have influenced their text.
    """
    case, user = task.case_id, task.writer_id
    untouched = (Assignment.Status.NOT_STARTED, Assignment.Status.RELEASED)
    opened = Q(started_at__isnull=False) | Q(attention__user=user) | ~Q(status__in=untouched)
    return (
        Assignment.objects.filter(opened, case=case, annotator=user).exists()
        or Assignment.objects.filter(case=case, checker=user).exists()
        or Check.objects.filter(assignment__case=case, checker=user).exists()
        or Adjudication.objects.filter(response__case=case, adjudicator=user).exists()
        or _opened_to_label(case, user)
        or CodeRuling.objects.filter(Q(adjudicator=user) | Q(attention__user=user), response__case=case).exists()
        or _saw_references(case, user)
        or bool(_wrote_the_rubric([case], [user]))
    )


def _opened_to_label(case: int, user: int) -> bool:
    """Whether the user has opened a response to the case that they were given to read or to code."""
    opened = Q(started_at__isnull=False) | Q(attention__user=user)
    return LabelTask.objects.filter(opened, case=case, annotator=user, response__isnull=False).exists()


def _saw_references(case: int, user: int) -> bool:
    opened = Q(started_at__isnull=False) | Q(reported_at__isnull=False)
    return WritingTask.objects.filter(opened, case=case, writer=user, batch__writing_terms__mode="aided").exists()


def pledged_to_write(people: Collection[int], cases: Collection[int]) -> set[Pair]:
    """(case, user) pairs with an open unaided task; reading an answer to the case first would invalidate it."""
    rows = WritingTask.objects.filter(
        writer__in=people, case__in=cases, status__in=WritingTask.OPEN, batch__writing_terms__mode="unaided"
    )
    return set(rows.exclude(batch__status="closed").values_list("case_id", "writer_id"))
