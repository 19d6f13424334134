"""Criteria reported at fault, each with all its requests, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, QuerySet

from consilium.core.compiled_queries import CompiledQuery
from rubrics.models import Benchmark, Criterion, RevisionRequest, Rubric, RubricItem
from rubrics.versions.selectors import TRACK

Status = RevisionRequest.Status


@dataclass(frozen=True, slots=True)
class FaultyCriterion:
    """A criterion of a rubric, and the requests to reword it, the latest first.

    ``criterion`` is None where the requests are about the rubric as a whole.
    """

    rubric: Rubric
    criterion: Criterion | None
    number: int  # in the rubric
    points: int
    decisions: int  # that would have to be made again if it were reworded
    requests: list[RevisionRequest]
    draft: Rubric | None = None  # a later version of the rubric that is being written, whatever it answers

    @property
    def taken_up_in(self) -> Rubric | None:
        """The version that was begun to answer the open requests, if there is one."""
        return next((row.taken_up_in for row in self.open if row.taken_up_in is not None), None)

    @property
    def begins_a_version(self) -> bool:
        """Whether taking up the requests begins a new version of the rubric: none is being written."""
        taken_up = self.taken_up_in
        return self.draft is None and (taken_up is None or taken_up.status != Rubric.Status.DRAFT)

    @property
    def was_ruled(self) -> bool:
        """Whether an adjudicator ruled it faulty at a response, rather than an audit or a later edition."""
        return any(row.response_id is not None for row in self.open)

    @property
    def open(self) -> list[RevisionRequest]:
        """The requests that wait for an answer."""
        return [row for row in self.requests if row.status == Status.OPEN]


def requests_of(benchmark: Benchmark, status: str = "") -> QuerySet[RevisionRequest]:
    """Requests of a benchmark, or only those in a given state."""
    rows = RevisionRequest.objects.filter(rubric__case__benchmark=benchmark)
    return rows.filter(status=status) if status in Status.values else rows


def open_requests(benchmark: Benchmark) -> int:
    """How many criteria wait for an answer."""
    return _open_criteria.count(benchmark=benchmark.pk)


_open_criteria = CompiledQuery(
    lambda benchmark: (
        RevisionRequest.objects.filter(rubric__case__benchmark=benchmark, status=Status.OPEN)
        .order_by()
        .values_list("rubric", "criterion")
        .distinct()
    )
)


def state_counts(benchmark: Benchmark) -> dict[str, int]:
    """State → how many criteria have a request in it; ``all``: how many have any."""
    pairs = requests_of(benchmark).order_by().values_list("status", "rubric", "criterion").distinct()
    counts = dict.fromkeys(Status.values, 0)
    every = set()
    for status, rubric, criterion in pairs:
        counts[status] += 1
        every.add((rubric, criterion))
    return counts | {"all": len(every)}


def faulty_criteria(
    benchmark: Benchmark, status: str, *, page: Any, per_page: int
) -> tuple[Page[Any], list[FaultyCriterion]]:
    """A page of criteria with a request in that state (any, where empty), those requested most often first."""
    pairs = (
        requests_of(benchmark, status)
        .order_by()
        .values("rubric", "criterion")
        .annotate(n_requests=Count("pk"), latest=Max("created_at"))
        .order_by("-n_requests", "-latest", "criterion")
    )
    shown = Paginator(pairs, per_page).get_page(page)
    keys: list[tuple[int, int | None]] = [(row["rubric"], row["criterion"]) for row in shown.object_list]
    ids = {rubric for rubric, _criterion in keys}, {criterion for _rubric, criterion in keys if criterion is not None}
    requests: dict[tuple[int, int | None], list[RevisionRequest]] = {}
    rows = RevisionRequest.objects.filter(
        Q(criterion__in=ids[1]) | Q(criterion=None), rubric__in=ids[0]
    ).select_related("response__candidate", "closed_by", "taken_up_in", "rubric__case")
    for row in rows.order_by("-created_at", "-pk"):
        requests.setdefault((row.rubric_id, row.criterion_id), []).append(row)
    items: dict[tuple[int, int | None], RubricItem] = {
        (item.rubric_id, item.criterion_id): item
        for item in RubricItem.objects.filter(rubric__in=ids[0], criterion__in=ids[1]).select_related(
            "rubric__case", "criterion"
        )
    }
    decisions = decision_counts(ids[1])
    cases = {row.rubric.case_id for own in requests.values() for row in own}
    written = Rubric.objects.filter(case__in=cases, track=TRACK, status=Rubric.Status.DRAFT)
    drafts = {draft.case_id: draft for draft in written}
    lines = []
    for key in keys:
        if key in items:
            item = items[key]
            n_decided = decisions.get(item.criterion_id, 0)
            draft = drafts.get(item.rubric.case_id)
            lines.append(
                FaultyCriterion(
                    item.rubric, item.criterion, item.position, item.points, n_decided, requests[key], draft
                )
            )
        elif key[1] is None:
            rubric = requests[key][0].rubric
            lines.append(FaultyCriterion(rubric, None, 0, 0, 0, requests[key], drafts.get(rubric.case_id)))
    return shown, lines


def decision_counts(criteria: Sequence[int] | set[int]) -> dict[int, int]:
    """Criterion → how many pairs of response and annotator it was decided for.

    The app of decisions is a layer above this one, so the query names the relation and imports nothing.
    """
    work = Q(decisions__outcome__isnull=False, decisions__assignment__purpose="work") & ~Q(
        decisions__assignment__status="released"
    )
    rows = Criterion.objects.filter(pk__in=criteria).annotate(
        n_decided=Count("decisions__assignment", filter=work, distinct=True)
    )
    return dict(rows.values_list("pk", "n_decided"))


CSV_COLUMNS = (
    "case",
    "number",
    "criterion",
    "decisions",
    "candidate",
    "sample",
    "state",
    "reason",
    "requested",
    "answer",
)
CSV_TEXT = ("case", "criterion", "candidate", "reason", "answer")


def csv_rows(benchmark: Benchmark, status: str) -> Iterator[Sequence[object]]:
    """One line for each request."""
    rows = list(
        requests_of(benchmark, status)
        .select_related("rubric__case", "criterion", "response__candidate")
        .order_by("rubric__case__key", "criterion", "created_at", "pk")
    )
    criteria = {row.criterion_id for row in rows if row.criterion_id is not None}
    decisions = decision_counts(criteria)
    numbers = {
        (rubric, criterion): position
        for rubric, criterion, position in RubricItem.objects.filter(
            criterion__in=criteria, rubric__in={row.rubric_id for row in rows}
        ).values_list("rubric_id", "criterion_id", "position")
    }
    for row in rows:
        yield (
            row.rubric.case.key,
            numbers.get((row.rubric_id, row.criterion_id or 0)),
            row.criterion.text if row.criterion else None,
            decisions.get(row.criterion_id or 0, 0),
            row.response.candidate.name if row.response else None,
            row.response.sample if row.response else None,
            row.status,
            row.reason,
            row.created_at.isoformat(),
            row.answer or None,
        )
