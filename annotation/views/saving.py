"""Endpoints of the grading page that save decisions and time, with few queries each."""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation import access, payload, services
from annotation.services.attention import record_attention
from annotation.views.refusals import refusal, unsent
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in


@require_POST
@signed_in
def decisions(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Save ``{"decisions": […]}``; the response states for each decision whether it is saved, stale or refused.

    409 with a ``detail`` if none can be saved now; 404 also if somebody other than the annotator is now signed in to
    this browser.
    """
    assignment = access.get_own_work(request.user, public_id)
    try:
        body = payload.body_of(request, required={"decisions"})
        changes = payload.changes_of(body["decisions"])
        results = services.save_each_decision(
            assignment=assignment, annotator=request.user, changes=changes, at=timezone.now()
        )
    except DomainError as refused:
        return refusal(unsent(refused))
    return JsonResponse({"results": [payload.serialize_decision(result) for result in results]})


@require_POST
@signed_in
def time(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Add ``{"seconds"}`` to the time that the reader spent at a response: grading, checking or adjudicating it."""
    assignment, adjudication = access.get_work_in_hand(request.user, public_id)
    try:
        seconds = payload.reported_seconds(request)
    except DomainError as refused:
        return refusal(refused)
    record_attention(
        user=request.user, assignment=assignment, adjudication=adjudication, seconds=seconds, at=timezone.now()
    )
    return HttpResponse(status=204)
