"""Work that came back from a check: what its checker asked to review, and what the annotator changed since."""

from __future__ import annotations

from annotation.models import Amendment, Assignment, Decision, Outcome

TO_REVIEW = "review"  # what a checker chooses in place of an outcome, so that the annotator reviews the criterion
CHECK_CHOICES = [*Outcome.choices, (TO_REVIEW, TO_REVIEW)]
REVIEWED_FIELDS = ("outcome", "borderline", "note", "evidence")


def asked_before(assignment: Assignment, number: int) -> dict[int, str]:
    """Criterion (id) → the line with which the check of the round before ``number`` asked to review it."""
    if number == 1:
        return {}
    rows = Amendment.objects.filter(
        check_row__assignment=assignment, check_row__round=number - 1, check_row__result="returned", to_review=True
    )
    return dict(rows.values_list("criterion_id", "reason"))


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
    asked = asked_before(assignment, assignment.round)
    if not asked:
        return set()
    before = decisions_before(assignment, assignment.round)
    rows = Decision.objects.filter(assignment=assignment, round=assignment.round, criterion__in=asked)
    now = {row.criterion_id: row for row in rows}
    return {
        criterion
        for criterion in asked
        if not (criterion in now and now[criterion].answer)
        and not is_changed(now.get(criterion), before.get(criterion))
    }
