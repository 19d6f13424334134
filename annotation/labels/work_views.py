"""Views of a case with label questions for physicians: read, answer, submit, go to the next."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.identity import opaque_name
from annotation import access, payload
from annotation.acuity.earlier_votes import earlier_votes
from annotation.labels import selectors, services
from annotation.labels.forms import answer_of
from annotation.models import Batch, LabelAnswer, LabelTask
from annotation.selectors import reading_pages
from annotation.selectors.languages_read import languages_read
from annotation.services.attention import record_attention
from annotation.views.refusals import somebody_else
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.language_tags import can_read
from consilium.core.languages import language_name
from consilium.core.versioning import StaleSave, saved_body, stale_body

PAGE = "annotation/labels/labelling.html"
CERTAINTY_KEYS = (("A", 25), ("S", 50), ("D", 75), ("F", 100))


@require_safe
@never_cache
@signed_in
def label(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The conversation on the left, the questions on the right."""
    task = access.get_readable_label_task(request.user, public_id)
    return render(request, PAGE, _context(request, task))


@require_POST
@never_cache
@signed_in
def answer(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Save ``{"who", "answer"}``. 409 where it was saved elsewhere since the page was loaded."""
    task = access.get_own_label_work(request.user, public_id)
    try:
        body = payload.body_of(request, required={"who", "answer"})
        if body["who"] != opaque_name(request.user):
            return somebody_else()
        change = answer_of(body["answer"])
        saved = services.save_answer(task=task, annotator=request.user, change=change, at=timezone.now())
    except StaleSave as stale:
        row = stale.current
        result = stale_body(change.question, stale, version=row.version, current=_stored(row))
        return JsonResponse(result, status=stale.status_code)
    except DomainError as refused:
        return _refusal(refused)
    return JsonResponse(saved_body(change.question, version=saved.version, current=_stored(saved)))


@require_POST
@never_cache
@signed_in
def submit(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Hand in, and give the next case. Without JSON, as a plain form: hand in and go to the next page."""
    task = access.get_own_label_task(request.user, public_id)
    as_json = request.content_type == "application/json"
    try:
        if as_json and payload.body_of(request, required={"who"})["who"] != opaque_name(request.user):
            return somebody_else()
        services.submit_labels(task=task, annotator=request.user, at=timezone.now())
    except DomainError as refused:
        if as_json:
            return _refusal(refused)
        task.refresh_from_db(fields=["status"])
        return render(request, PAGE, _context(request, task) | {"refused": refused}, status=refused.status_code)
    following = services.next_label_task(annotator=request.user, after=task)
    if following is None or not as_json:  # else the script of the page says so
        messages.success(request, _("%(heading)s is submitted.") % {"heading": _heading(task)})
    if not as_json:
        if following is None:
            return HttpResponseRedirect(reverse("annotation:work"))
        return HttpResponseRedirect(reverse("annotation:label", args=[following.public_id]))
    next_: dict[str, Any] | None = None
    if following is not None:
        context = _context(request, access.get_own_label_task(request.user, following.public_id))
        next_ = {
            "url": reverse("annotation:label", args=[following.public_id]),
            "html": render_to_string(f"{PAGE}#sheet", context, request=request),
        }
    return JsonResponse({"next": next_, "work": reverse("annotation:work")})


@require_POST
@never_cache
@signed_in
def time(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Add ``{"seconds"}`` to the time spent at a case; its last minute is reported after submission."""
    task = access.get_own_label_work(request.user, public_id)
    try:
        seconds = payload.reported_seconds(request)
    except DomainError as refused:
        return _refusal(refused)
    record_attention(user=request.user, label_task=task, seconds=seconds, at=timezone.now())
    return HttpResponse(status=204)


def _refusal(refused: DomainError) -> JsonResponse:
    body: dict[str, Any] = {"reason": "refused", "detail": str(refused)}
    if isinstance(refused, services.Unlabelled):
        body["missing"] = refused.questions
    return JsonResponse(body, status=refused.status_code)


def _stored(saved: LabelAnswer) -> dict[str, Any]:
    return {
        "value": saved.value,
        "upper": saved.upper,
        "reason": saved.reason,
        "certainty": saved.certainty,
        "note": saved.note,
        "escalation": saved.escalation,
        "evidence": saved.evidence,
        "codes": saved.codes,
        "version": saved.version,
        "client_id": str(saved.client_id or ""),
        "at": timezone.localtime(saved.updated_at).strftime("%H:%M:%S"),
    }


def _unread_language(task: LabelTask) -> str:
    """The language of a case that its physician does not read, by name; empty where they do."""
    language, user = task.case.language, task.annotator_id
    return "" if can_read(languages_read([user])[user], language) else language_name(language)


def _heading(task: LabelTask) -> str:
    place = selectors.place_of(task)
    heading = _("Response %(position)s of %(total)s") if task.response_id else _("Case %(position)s of %(total)s")
    return heading % {"position": place.position, "total": place.total}


def _context(request: SignedInRequest, task: LabelTask) -> dict[str, Any]:
    lines = selectors.question_lines(task)
    writable = task.status in LabelTask.OPEN and task.batch.status == Batch.Status.OPEN
    following = services.next_label_task(annotator=request.user, after=task) if writable else None
    return {
        "task": task,
        "batch": task.batch,
        "benchmark": task.batch.group.benchmark,
        "reading": reading_pages.reading_of(task.case, task.response.text if task.response else ""),
        "lines": lines,
        "votes": any(line.levels for line in lines),
        "certain": any(line.acuity for line in lines),
        "coded": any(line.coded for line in lines),
        "last_key": max((len(line.options) for line in lines if not line.coded), default=1),
        "certainty_keys": CERTAINTY_KEYS,
        "done": sum(line.answered for line in lines),
        "heading": _heading(task),
        "writable": writable,
        "later": following.public_id if following else "",
        "unread_language": _unread_language(task) if writable else "",
        "earlier": earlier_votes(task),
        "saved_at": max((line.saved_at for line in lines if line.saved_at), default=None),
        "who": opaque_name(request.user),
    }
