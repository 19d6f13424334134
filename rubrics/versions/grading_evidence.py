"""Evidence for requests to reword a criterion: the reason, and the response that showed the fault.

It is shown beside the criterion while that is written and reviewed. It never says whose response it is, and is hidden
from everybody who still grades for the benchmark (`access.may_see_grading_evidence`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from accounts.models import User
from rubrics.access import may_see_grading_evidence
from rubrics.models import Benchmark, Case, Criterion, RevisionRequest

MAX_PASSAGES = 6


@dataclass(slots=True)
class RewordingEvidence:
    """One request to reword a criterion; ``passages`` are what graders marked in the response."""

    request: RevisionRequest
    passages: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """Why it is at fault."""
        return self.request.reason

    @property
    def response(self) -> str:
        """The text of the response, empty where the fault was found without one."""
        return self.request.response.text if self.request.response else ""


def evidence_for(user: User, case: Case) -> dict[int, list[RewordingEvidence]]:
    """Criterion → open requests to reword it, the latest first; empty for whoever may not read them.

    At most four queries, and one where there are none.
    """
    requests = RevisionRequest.objects.filter(rubric__case=case, status=RevisionRequest.Status.OPEN)
    requests = requests.exclude(criterion=None)
    if not requests.exists() or not may_see_grading_evidence(user, case.benchmark):
        return {}
    rows = list(requests.select_related("response").order_by("-created_at", "-pk"))
    criteria = {row.criterion_id for row in rows if row.criterion_id}
    marked = _passages(criteria, {row.response_id for row in rows if row.response_id})
    evidence: dict[int, list[RewordingEvidence]] = {}
    for row in rows:
        assert row.criterion_id is not None
        passages = marked.get((row.criterion_id, row.response_id or 0), [])
        evidence.setdefault(row.criterion_id, []).append(RewordingEvidence(row, passages[:MAX_PASSAGES]))
    return evidence


def requests_for_the_whole(user: User, case: Case) -> list[RevisionRequest]:
    """Open requests about the rubric as a whole, the latest first; none for whoever may not read them."""
    rows = RevisionRequest.objects.filter(rubric__case=case, criterion=None, status=RevisionRequest.Status.OPEN)
    requests = list(rows.order_by("-created_at", "-pk"))
    return requests if requests and may_see_grading_evidence(user, case.benchmark) else []


def _passages(criteria: Iterable[int], responses: Iterable[int]) -> dict[tuple[int, int], list[str]]:
    """(criterion, response) → quotes, read by the names of relations, since their app is a layer above this one."""
    criterion_ids = list(criteria)
    if not criterion_ids:
        return {}
    rows = Criterion.objects.filter(
        pk__in=criterion_ids,
        decisions__assignment__response__in=list(responses),
        decisions__assignment__purpose="work",
        decisions__assignment__submitted_at__isnull=False,
    ).values_list("pk", "decisions__assignment__response", "decisions__evidence")
    passages: dict[tuple[int, int], list[str]] = {}
    for criterion, response, evidence in rows:
        quotes = passages.setdefault((criterion, response), [])
        quotes += [entry["quote"] for entry in evidence or [] if entry.get("quote") and entry["quote"] not in quotes]
    return passages


def open_requests(benchmark: Benchmark, criteria: Iterable[int]) -> set[int]:
    """Which of the criteria somebody asked to reword."""
    rows = RevisionRequest.objects.filter(
        rubric__case__benchmark=benchmark, criterion__in=list(criteria), status=RevisionRequest.Status.OPEN
    )
    return {criterion for criterion in rows.values_list("criterion", flat=True) if criterion is not None}
