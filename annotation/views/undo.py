"""Endpoints of the button *Undo* after submitting, accepting or finishing; each returns the page to go back to,
which then says so."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation import access, services
from annotation.views.checks import release_opened_by
from annotation.views.refusals import refusal
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in


@require_POST
@signed_in
def submit(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Undo the submission of a graded response; 409 with a ``detail`` if that is no longer possible."""
    assignment = access.get_own_assignment(request.user, public_id)
    try:
        services.undo_submit(assignment=assignment, annotator=request.user, at=timezone.now())
    except DomainError as refused:
        return refusal(refused)
    messages.success(request, _("Submission undone."))
    return JsonResponse({"url": reverse("annotation:grade", args=[public_id])})


@require_POST
@signed_in
def accept(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Undo the acceptance of a check; 409 with a ``detail`` if that is no longer possible."""
    assignment = access.get_own_check(request.user, public_id)
    try:
        services.undo_accept(assignment=assignment, checker=request.user, at=timezone.now())
    except DomainError as refused:
        return refusal(refused)
    release_opened_by(request, assignment)
    messages.success(request, _("Acceptance undone."))
    return JsonResponse({"url": reverse("annotation:check", args=[public_id])})


@require_POST
@signed_in
def finish(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Undo the end of an adjudication; 409 with a ``detail`` if that is no longer possible."""
    adjudication = access.get_own_adjudication(request.user, public_id)
    try:
        services.undo_finish(adjudication=adjudication, adjudicator=request.user, at=timezone.now())
    except DomainError as refused:
        return refusal(refused)
    messages.success(request, _("The adjudication is open again."))
    return JsonResponse({"url": reverse("annotation:adjudication", args=[public_id])})
