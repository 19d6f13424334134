"""Endpoints that save decisions and time, with few queries each, and the answers to what cannot be saved.

Views of grading, labels and writing share these answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation import access, payload, services
from annotation.services.attention import record_attention
from consilium.core.active_time import check_reported_seconds
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in


@require_POST
@signed_in
def decisions(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Save ``{"decisions": […]}``: of each decision, whether it is saved, stale or refused.

    409 with a ``detail`` where none can be saved now; 404 also where somebody else than the annotator is signed in to
    this browser by now.
    """
    assignment = access.get_own_work(request.user, public_id)
    try:
        body = payload.body_of(request, required={"decisions"})
        changes = payload.changes_of(body["decisions"])
        results = services.record_decisions(
            assignment=assignment, annotator=request.user, changes=changes, at=timezone.now()
        )
    except DomainError as refused:
        return refusal(refused)
    return JsonResponse({"results": [payload.serialize_decision(result) for result in results]})


def somebody_else() -> HttpResponse:
    """The error where the browser kept this work for another account than the one now signed in.

    For labels and written responses, whose pages send the name of the author along; decisions get 404 instead.
    """
    return JsonResponse({"reason": "somebody-else"}, status=409)


def refusal(refused: DomainError, results: Sequence[dict[str, Any]] = ()) -> HttpResponse:
    """A `DomainError` as the page wants it; ``results``: what became of decisions before it."""
    body: dict[str, Any] = {"detail": str(refused), "results": list(results)}
    if isinstance(refused, services.Unanswered):
        body["missing"] = refused.criteria
    return JsonResponse(body, status=refused.status_code)


@require_POST
@signed_in
def time(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Add ``{"seconds"}`` to the time that the reader spent at a response: grading, checking or adjudicating it."""
    assignment, adjudication = access.get_work_in_hand(request.user, public_id)
    try:
        seconds = seconds_of(request)
    except DomainError as refused:
        return refusal(refused)
    record_attention(
        user=request.user, assignment=assignment, adjudication=adjudication, seconds=seconds, at=timezone.now()
    )
    return HttpResponse(status=204)


def seconds_of(request: SignedInRequest) -> int:
    """The ``{"seconds"}`` of a report of time; a `DomainError` (400) where no page would send that."""
    return check_reported_seconds(payload.body_of(request, required={"seconds"})["seconds"])
