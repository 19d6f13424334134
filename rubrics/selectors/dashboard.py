"""Data of the authors' dashboard: what waits for an author, and all cases with the state of their rubrics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery

from accounts.models import User
from accounts.unread_cases import unread_by
from consilium.core.compiled_queries import CompiledQuery
from rubrics import access
from rubrics.models import Benchmark, Case, RevisionRequest, Rubric, RubricContributor, RubricReview

Status = Rubric.Status
MAX_ROWS_READ = 500
MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Waiting:
    """How much waits for an author in one benchmark."""

    returned: int = 0
    drafts: int = 0
    reviews: int = 0
    returned_case: str = ""  # the public id of one of the returned
    draft_case: str = ""  # of one of the drafts
    has_rubric: bool = True  # whether a rubric of ``draft_case`` is being written

    @property
    def any(self) -> bool:
        """Whether there is anything."""
        return bool(self.returned or self.drafts or self.reviews)


def open_rubrics(user: User) -> QuerySet[Rubric]:
    """Rubrics in draft or in review, of cases that count.

    ``wrote``: ``user`` wrote on it; ``last_outcome``, ``last_review``: outcome and time of its last review; ``seen``:
    ``user`` has reviewed its current text.
    """
    reviews = RubricReview.objects.filter(rubric=OuterRef("pk"))
    return Rubric.objects.filter(
        case__excluded_at=None,
        track="gold",
        status__in=[Status.DRAFT, Status.IN_REVIEW],
        draft__isnull=False,
    ).annotate(
        wrote=Exists(RubricContributor.objects.filter(rubric=OuterRef("pk"), user=user.pk)),
        last_outcome=Subquery(reviews.order_by("-created_at", "-pk").values("outcome")[:1]),
        last_review=Subquery(reviews.order_by("-created_at", "-pk").values("created_at")[:1]),
        seen=Exists(reviews.filter(reviewer=user.pk, digest=OuterRef("draft__digest"))),
    )


def returned_to(user: User) -> Q:
    """Of `open_rubrics`: those that a reviewer sent back to ``user``."""
    return Q(status=Status.DRAFT, last_outcome=RubricReview.Outcome.RETURNED) & _mine(user)


def drafts_of(user: User) -> Q:
    """Of `open_rubrics`: those that ``user`` is writing and that were not sent back."""
    back = Q(last_outcome=RubricReview.Outcome.RETURNED)
    return Q(status=Status.DRAFT) & ~(back & Q(last_outcome__isnull=False)) & _mine(user)


def to_review_by(user: User) -> Q:
    """Of `open_rubrics`: those that ``user`` may approve or return: they did not write on them, and read the case."""
    unread = unread_by(user.pk, "case")
    return Q(status=Status.IN_REVIEW, wrote=False, seen=False) & ~Q(draft__saved_by=user.pk) & ~unread


def _mine(user: User) -> Q:
    return Q(wrote=True) | Q(created_by=user.pk)


@dataclass(frozen=True, slots=True)
class OpenRubric:
    """A rubric in draft or in review as the authors' dashboard shows it."""

    key: str
    public_id: str
    version: int
    at: datetime  # of the return, or of the last change
    person: str  # who saved it last


@dataclass(frozen=True, slots=True)
class Rewording:
    """A criterion that somebody asked to reword; without one, a rubric to revise as a whole, with the reason."""

    key: str
    public_id: str
    text: str | None
    criterion: int | None
    n_requests: int  # requests
    reason: str


def rubrics_waiting(user: User, benchmark: int) -> dict[str, list[OpenRubric]]:
    """``returned``, ``drafts`` and ``reviews``, each at most `MAX_SHOWN`: the latest, and of reviews the oldest first.

    One query reads all three; they are separated here as `returned_to`, `drafts_of` and `to_review_by` do. The first
    two together are the rubrics that ``user`` is writing.
    """
    rows = _open_to.rows(user=user.pk, benchmark=benchmark)
    waiting: dict[str, list[OpenRubric]] = {"returned": [], "drafts": [], "reviews": []}
    for status, outcome, reviewed_at, key, public_id, version, saved_at, name, email in rows:
        back = outcome == RubricReview.Outcome.RETURNED
        place = "reviews" if status == Status.IN_REVIEW else "returned" if back else "drafts"
        at = reviewed_at if place == "returned" else saved_at
        waiting[place].append(OpenRubric(key, public_id, version, at, name or email or ""))
    waiting["reviews"].reverse()
    return {name: rubrics[:MAX_SHOWN] for name, rubrics in waiting.items()}


def _open_to_user(user: Any, benchmark: Any) -> QuerySet[Rubric, Any]:
    return (
        open_rubrics(user)
        .filter(case__benchmark=benchmark)
        .filter(Q(status=Status.DRAFT) & _mine(user) | to_review_by(user))
        .order_by("-draft__saved_at", "-pk")
        .values_list(
            *("status", "last_outcome", "last_review", "case__key", "case__public_id", "version", "draft__saved_at"),
            *("draft__saved_by__name", "draft__saved_by__email"),
        )[:MAX_ROWS_READ]
    )


_open_to = CompiledQuery(_open_to_user)


def cases_begun(user: User, benchmark: int) -> list[Case]:
    """The latest of `cases_without_rubric`, with key and address alone."""
    return _begun.objects(user=user.pk, benchmark=benchmark)


_begun = CompiledQuery(
    lambda user, benchmark: (
        cases_without_rubric(user).filter(benchmark=benchmark).order_by("-pk").only("key", "public_id")[:MAX_SHOWN]
    )
)


def rewordings(user: User, benchmark: Benchmark) -> list[Rewording]:
    """Criteria that somebody asked to reword, most requests first; empty if ``user`` may not read the requests.

    Only of cases in a language that ``user`` reads.
    """
    rewordings = [Rewording(*row[:6]) for row in _rewordings.rows(user=user.pk, benchmark=benchmark.pk)]
    return rewordings if rewordings and access.may_see_grading_evidence(user, benchmark) else []


def _open_requests(user: Any, benchmark: Any) -> QuerySet[RevisionRequest]:
    """Open requests for criteria of cases that count, in a language that ``user`` reads; by primary keys."""
    return RevisionRequest.objects.filter(
        rubric__case__benchmark=benchmark, rubric__case__excluded_at=None, status=RevisionRequest.Status.OPEN
    ).exclude(unread_by(user, "rubric__case"))


_rewordings = CompiledQuery(
    lambda user, benchmark: (
        _open_requests(user, benchmark)
        .values_list("rubric__case__key", "rubric__case__public_id", "criterion__text", "criterion")
        .annotate(n_requests=Count("pk"), reason=Max("reason"), latest=Max("created_at"))
        .order_by("-n_requests", "-latest", "criterion")[:MAX_SHOWN]
    )
)


def criteria_to_reword(user: User, benchmark: Benchmark) -> int:
    """How many criteria `rewordings` would list without a limit."""
    if not access.may_see_grading_evidence(user, benchmark):
        return 0
    requests = _open_requests(user.pk, benchmark.pk)
    return requests.values("rubric__case", "criterion").distinct().count()


def cases_without_rubric(user: User) -> QuerySet[Case]:
    """Cases that ``user`` began and for which nobody has begun a rubric."""
    return Case.objects.included().filter(created_by=user.pk, rubrics=None)


def waiting_of(user: User, benchmarks: list[int]) -> dict[int, Waiting]:
    """Benchmark → what waits there for ``user``; two queries."""
    if not benchmarks:
        return {}
    counted = (
        open_rubrics(user)
        .filter(case__benchmark__in=benchmarks)
        .order_by()
        .values_list("case__benchmark")
        .annotate(
            returned=Count("pk", filter=returned_to(user)),
            drafts=Count("pk", filter=drafts_of(user)),
            waiting=Count("pk", filter=to_review_by(user)),
            returned_case=Min("case__public_id", filter=returned_to(user)),
            draft_case=Min("case__public_id", filter=drafts_of(user)),
        )
    )
    begun_cases = cases_without_rubric(user).filter(benchmark__in=benchmarks)
    rows = begun_cases.order_by().values_list("benchmark").annotate(number=Count("pk"), case=Min("public_id"))
    begun = {benchmark: (number, case) for benchmark, number, case in rows}
    by_benchmark = {
        key: Waiting(returned, drafts, reviews, returned_case or "", draft_case or "")
        for key, returned, drafts, reviews, returned_case, draft_case in counted
    }
    waiting = {}
    for key in benchmarks:
        mine, (number, case) = by_benchmark.get(key, Waiting()), begun.get(key, (0, ""))
        has_rubric = bool(mine.draft_case) or not case
        draft_case = mine.draft_case or case
        waiting[key] = replace(mine, drafts=mine.drafts + number, draft_case=draft_case, has_rubric=has_rubric)
    return waiting
