"""An annotator's earlier decisions on the same response, shown collapsed beside the new criteria."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Assignment, Decision
from annotation.selectors.reading_pages import CriterionLine, criterion_lines


@dataclass(frozen=True, slots=True)
class EarlierLine:
    """A criterion that is unchanged since an earlier version, and this annotator's outcome for it (empty: none)."""

    line: CriterionLine
    outcome: str
    note: str


def decided_earlier(assignment: Assignment) -> list[EarlierLine]:
    """The other criteria of the rubric, if only some are asked about, with this annotator's own decisions alone."""
    if assignment.criteria is None:
        return []
    decisions_by_criterion = {
        criterion: (outcome or "", note)
        for criterion, outcome, note in Decision.objects.filter(
            assignment__response=assignment.response_id,
            assignment__annotator=assignment.annotator_id,
            assignment__submitted_at__isnull=False,
        )
        .exclude(assignment=assignment.pk)
        .exclude(assignment__status=Assignment.Status.RELEASED)
        .order_by("assignment__submitted_at", "round")
        .values_list("criterion_id", "outcome", "note")
    }
    lines = criterion_lines(assignment.rubric_id, None, assignment.case.language)
    return [
        EarlierLine(line, *decisions_by_criterion.get(line.id, ("", "")))
        for line in lines
        if line.id not in set(assignment.criteria)
    ]
