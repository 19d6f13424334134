"""Views of a writing task for physicians: read, write, submit, go to the next."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.identity import opaque_name
from annotation import payload
from annotation.models import Batch, WritingTask
from annotation.selectors import reading_pages
from annotation.views.refusals import somebody_else
from annotation.writing import selectors, services
from annotation.writing.forms import storable, text_of
from annotation.writing.privacy import privacy_advice
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.markdown import markdown
from consilium.core.versioning import StaleSave, saved_body, stale_body

PAGE = "annotation/writing/task.html"


def _has_read() -> str:
    return _(
        "Since this case was assigned to you, you have read an answer to it or worked on its rubric, so "
        "you no longer need to write a response. What you wrote is kept on record but not used."
    )


@require_safe
@never_cache
@signed_in
def task(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The conversation and the references on the left, the editor on the right."""
    row = selectors.get_readable_task(request.user, public_id)
    if services.release_if_read(task=row, at=timezone.now()):
        messages.warning(request, _has_read())
        return redirect("annotation:work")
    return render(request, PAGE, _context(request, row))


@require_POST
@never_cache
@signed_in
def save(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Save ``{"who", "draft"}``. 409 with ``current`` if it was saved elsewhere since the page loaded it."""
    row = selectors.get_own_task(request.user, public_id)
    try:
        body = payload.body_of(request, required={"who", "draft"})
        if body["who"] != opaque_name(request.user):
            return somebody_else()
        saved = services.save_text(task=row, writer=request.user, change=text_of(body["draft"]), at=timezone.now())
    except DomainError as refused:
        return _refusal(refused)
    return JsonResponse(saved_body(saved.public_id, version=saved.version, current=_stored(saved)))


@require_POST
@never_cache
@signed_in
def check(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Preview of ``{"text"}``, and advice on passages that may identify a person; nothing is saved."""
    selectors.get_own_task(request.user, public_id)
    try:
        text = payload.body_of(request, required={"text"})["text"]
        if not isinstance(text, str) or len(text) > 2 * services.MAX_TEXT_LENGTH:
            raise payload.Malformed(_("The request does not match the page. Reload the page."))
    except DomainError as refused:
        return _refusal(refused)
    text = storable(text)
    return JsonResponse({"html": markdown(text), "privacy": privacy_advice(text)})


@require_POST
@never_cache
@signed_in
def submit(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Hand in the draft, ``{"who", "version", "attested"}``, and return where the next case is."""
    row = selectors.get_own_task(request.user, public_id)
    try:
        body = payload.body_of(request, required={"who", "version", "attested"})
        if body["who"] != opaque_name(request.user):
            return somebody_else()
        if type(body["version"]) is not int or type(body["attested"]) is not bool:
            raise payload.Malformed(_("The request does not match the page. Reload the page."))
        at = timezone.now()
        if services.release_if_read(task=row, at=at):
            messages.warning(request, _has_read())
            return JsonResponse({"next": reverse("annotation:work")})
        services.hand_in(task=row, writer=request.user, version=body["version"], attested=body["attested"], at=at)
    except DomainError as refused:
        return _refusal(refused)
    following = services.next_task(writer=request.user, after=row)
    if following is None:
        messages.success(request, _("Submitted. That was the last case of “%(batch)s”.") % {"batch": row.batch.title})
        return JsonResponse({"next": reverse("annotation:work")})
    messages.success(request, _("Submitted. This is the next case."))
    return JsonResponse({"next": reverse("annotation:writing-task", args=[following.public_id])})


@require_POST
@never_cache
@signed_in
def time(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Add ``{"seconds"}`` to the time spent at a case; its last minute is reported after submission."""
    row = selectors.get_own_task(request.user, public_id)
    try:
        seconds = payload.reported_seconds(request)
    except DomainError as refused:
        return _refusal(refused)
    services.record_time(task=row, seconds=seconds, at=timezone.now())
    return HttpResponse(status=204)


def _refusal(refused: DomainError) -> JsonResponse:
    body: dict[str, Any] = {"reason": "refused", "detail": str(refused)}
    if isinstance(refused, StaleSave):
        row = refused.current
        body = stale_body(row.public_id, refused, version=row.version, current=_stored(row))
    return JsonResponse(body, status=refused.status_code)


def _stored(row: WritingTask) -> dict[str, Any]:
    return {
        "text": row.text,
        "reference": selectors.reference_begun_from(row),
        "version": row.version,
        "client_id": str(row.client_id or ""),
        "privacy": privacy_advice(row.text),
        "at": timezone.localtime(row.saved_at).strftime("%H:%M:%S") if row.saved_at else "",
    }


def _context(request: SignedInRequest, row: WritingTask) -> dict[str, Any]:
    terms = row.batch.writing_terms
    return {
        "task": row,
        "batch": row.batch,
        "terms": terms,
        "benchmark": row.batch.group.benchmark,
        "reading": reading_pages.reading_of(row.case, ""),
        "privacy": privacy_advice(row.text),
        "references": selectors.references_of(row),
        "begun_from": selectors.reference_begun_from(row),
        "place": selectors.place_of(row),
        "writable": row.status in WritingTask.OPEN and row.batch.status == Batch.Status.OPEN,
        "unaided": terms.mode == "unaided",
        "longest": services.MAX_TEXT_LENGTH,
        "who": opaque_name(request.user),
    }
