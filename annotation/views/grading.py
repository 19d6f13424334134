"""Views of grading: the page, the prefetched next page, handing in and skipping; `annotation.views.saving` saves."""

from __future__ import annotations

from math import ceil
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation import access, payload, services
from annotation.models import Assignment, Batch, Decision, Skip
from annotation.qualification.services import may_be_undone, where_it_ends
from annotation.regrading.earlier import decided_earlier
from annotation.selectors import reading_pages
from annotation.services import slots
from annotation.views.checks import BUTTONS
from annotation.views.refusals import refusal, unsent
from consilium.core.clock import clock
from consilium.core.errors import Conflict, DomainError
from consilium.core.htmx import SignedInRequest, signed_in

PAGE = "annotation/grading/grading.html"


@require_safe
@never_cache
@signed_in
def grade(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Conversation and response on the left, criteria on the right."""
    assignment, ended = access.get_readable_assignment(request.user, public_id)
    return render(request, PAGE, _context(request, assignment) | {"ended": ended})


@require_safe
@never_cache
@signed_in
def upcoming(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The response after this one, which the page prefetches; 204 if there is none."""
    assignment = access.get_own_work(request.user, public_id)
    following = services.next_open(annotator=request.user, after=assignment)
    return JsonResponse(_sheet(request, following.public_id)) if following else HttpResponse(status=204)


@require_POST
@never_cache
@signed_in
def submit(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Save the decisions that the page had not sent yet, hand the work in, and return the next response.

    ``{"decisions", "have"}``: ``have`` names the response that the page has prefetched. Where criteria lack something,
    the refusal has the stored decisions, since some may have been made on another device. Without JSON, for a plain
    form: hand in and redirect to the next page.
    """
    if request.content_type != "application/json":
        return _submit_form(request, public_id)
    assignment = access.get_own_work(request.user, public_id)
    results: list[dict[str, Any]] = []
    try:
        body = payload.body_of(request, required={"decisions", "have"})
        changes, at = payload.changes_of(body["decisions"]), timezone.now()
        if changes:
            save_results = services.save_each_decision(
                assignment=assignment, annotator=request.user, changes=changes, at=at
            )
            results = [payload.serialize_decision(result) for result in save_results]
        if any(result["status"] != "saved" for result in results):
            raise Conflict(_("Not submitted yet: some changes were not saved."))
        services.submit(assignment=assignment, annotator=request.user, at=at)
    except services.Unanswered as refused:
        return refusal(refused, results=results, stored=_stored_decisions(assignment))
    except DomainError as refused:
        return refusal(unsent(refused), results=results)
    return JsonResponse({"results": results} | _onwards(request, assignment, body["have"]))


@require_POST
@never_cache
@signed_in
def skip(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Pass over a response, ``{"reason", "note", "have"}``, and return the next response."""
    assignment = access.get_own_work(request.user, public_id)
    try:
        body = payload.body_of(request, required={"reason", "note", "have"})
        reason, note = body["reason"], body["note"]
        if not isinstance(reason, str) or not isinstance(note, str):
            raise payload.Malformed(_("The request does not match the page. Reload the page."))
        slots.skip(assignment=assignment, annotator=request.user, reason=reason, note=note, at=timezone.now())
    except DomainError as refused:
        return refusal(refused)
    return JsonResponse(_onwards(request, assignment, body["have"]))


def _stored_decisions(assignment: Assignment) -> dict[str, dict[str, Any]]:
    """The decisions of the current round by criterion, as the page takes them up."""
    rows = Decision.objects.filter(assignment=assignment, round=assignment.round)
    return {str(row.criterion_id): payload.serialize_stored(row) for row in rows}


def _onwards(request: SignedInRequest, assignment: Assignment, have: Any) -> dict[str, Any]:
    """The next response for the page; only its id if the page has prefetched it."""
    following = services.next_open(annotator=request.user, after=assignment, at=timezone.now())
    answer: dict[str, Any] = {"next": None, "work": where_it_ends(assignment)}
    if not may_be_undone(assignment):
        answer["undo"] = False
    if following is not None:
        known = following.public_id == have
        answer["next"] = {"id": following.public_id} if known else _sheet(request, following.public_id)
    return answer


def _submit_form(request: SignedInRequest, public_id: str) -> HttpResponse:
    assignment = access.get_own_assignment(request.user, public_id)
    try:
        services.submit(assignment=assignment, annotator=request.user, at=timezone.now())
    except DomainError as refused:
        assignment.refresh_from_db(fields=["status", "round"])
        context = _context(request, assignment) | {"refused": refused}
        return render(request, PAGE, context, status=refused.status_code)
    following = services.next_open(annotator=request.user, after=assignment, at=timezone.now())
    return HttpResponseRedirect(
        reverse("annotation:grade", args=[following.public_id]) if following else where_it_ends(assignment)
    )


def _sheet(request: SignedInRequest, public_id: str) -> dict[str, Any]:
    """A response that the page can swap in: the "sheet" part of its own page, with its id, URL and state."""
    context = _context(request, access.get_own_assignment(request.user, public_id))
    return {
        "id": public_id,
        "url": reverse("annotation:grade", args=[public_id]),
        "writable": context["writable"],
        "html": render_to_string(f"{PAGE}#sheet", context, request=request),
    }


def _context(request: SignedInRequest, assignment: Assignment) -> dict[str, Any]:
    rows = reading_pages.grading_rows(assignment)
    returned = assignment.status == Assignment.Status.RETURNED
    now = timezone.now()
    undo_until = services.undo_submit_until(assignment, now)
    if undo_until is not None and not may_be_undone(assignment):
        undo_until = None
    return {
        "assignment": assignment,
        "batch": assignment.batch,
        "benchmark": assignment.batch.group.benchmark,
        "reading": reading_pages.reading_of(assignment.case, assignment.response.text),
        "rows": rows,
        "earlier": decided_earlier(assignment),
        "done": sum(bool(row.outcome) for row in rows),
        "flagged": sum(row.flagged for row in rows),
        "place": reading_pages.queue_place(assignment),
        "returned": reading_pages.last_return(assignment),
        "to_review": sum(bool(row.review_request or row.amended) for row in rows) if returned else 0,
        "writable": assignment.status in Assignment.OPEN and assignment.batch.status == Batch.Status.OPEN,
        "saved_at": reading_pages.last_save(rows),
        "skip_reasons": Skip.Reason.choices,
        "outcomes": BUTTONS,
        "undo_until": clock(undo_until) if undo_until else "",
        "undo_seconds": ceil((undo_until - now).total_seconds()) if undo_until else 0,
    }
