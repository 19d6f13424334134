"""Views for adjudicators: the ambiguous cases that wait for a ruling, and ruling on one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import access, payload
from annotation.acuity.earlier_votes import rounds_of
from annotation.acuity.ruling_selectors import level_words, ruling_lists
from annotation.acuity.rulings import STAYS_AMBIGUOUS, RulingInput, give_ruling
from annotation.models import AcuityRuling, RulingRequest
from annotation.selectors import reading_pages
from annotation.services.attention import record_attention
from annotation.views.refusals import refusal
from consilium.core.errors import Conflict, DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.models import Benchmark

LIST, PAGE = "annotation/acuity/rulings.html", "annotation/acuity/ruling.html"
REASON_KEYS = "ASDFG"


@require_safe
@signed_in
def rulings(request: SignedInRequest) -> HttpResponse:
    """The cases that wait for a ruling in all benchmarks."""
    return _list(request, None)


@require_safe
@signed_in
def rulings_in(request: SignedInRequest, slug: str) -> HttpResponse:
    """The cases that wait for a ruling in one benchmark."""
    return _list(request, access.get_member_benchmark(request.user, slug))


def _list(request: SignedInRequest, benchmark: Benchmark | None) -> HttpResponse:
    lists = ruling_lists(request.user, benchmark)
    show = "done" if request.GET.get("show") == "done" else ""
    context = {
        "benchmark": benchmark or access.only_benchmark(request.user),
        "lists": lists,
        "show": show,
        "rows": lists.done if show else lists.waiting,
    }
    return render(request, LIST, context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def ruling(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The case, its votes and notes without names, and the ruling; POST rules and goes on to the next case."""
    is_post = request.method == "POST"
    row = access.get_ruling_request(request.user, public_id, ruled_by_others=is_post)
    if not is_post:
        return render(request, PAGE, _context(request, row))
    ruling_input = RulingInput(
        level=request.POST.get("level", ""),
        upper=request.POST.get("upper", ""),
        reason=request.POST.get("reason", ""),
        note=request.POST.get("note", "").replace("\r\n", "\n").strip(),
    )
    try:
        give_ruling(request=row, adjudicator=request.user, ruling=ruling_input, at=timezone.now())
    except Conflict as refused:
        messages.error(request, str(refused))
        return redirect("annotation:rulings")
    except DomainError as refused:
        context = _context(request, row) | {"refused": refused, "sent": ruling_input}
        return render(request, PAGE, context, status=refused.status_code)
    following = access.open_ruling_requests(request.user).filter(group__benchmark=row.group.benchmark).first()
    if following is None:
        messages.success(request, _("Your ruling is saved."))
        return redirect("annotation:rulings")
    return redirect("annotation:ruling", following.public_id)


@require_POST
@never_cache
@signed_in
def time(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Add ``{"seconds"}`` to the time spent at a case; its last minute is reported after the ruling."""
    row = access.get_ruling_request(request.user, public_id)
    try:
        seconds = payload.reported_seconds(request)
    except DomainError as refused:
        return refusal(refused)
    record_attention(user=request.user, ruling_request=row, seconds=seconds, at=timezone.now())
    return HttpResponse(status=204)


def _context(request: SignedInRequest, row: RulingRequest) -> dict[str, Any]:
    rulings = AcuityRuling.objects.filter(question=row.question, case=row.case_id, adjudicator=request.user)
    given = rulings.first()
    choices = row.question.choices
    return {
        "request_row": row,
        "benchmark": row.group.benchmark,
        "question": row.question,
        "reading": reading_pages.reading_of(row.case, ""),
        "has_text": not row.case.is_stub,
        "rounds": rounds_of(row.question, row.case_id),
        "levels": [
            (str(key), choice, choices[key]["value"] if key < len(choices) else "")
            for key, choice in enumerate(choices, start=1)
        ],
        "reasons": [
            (REASON_KEYS[place], value, label) for place, (value, label) in enumerate(AcuityRuling.Reason.choices)
        ],
        "stays_ambiguous": STAYS_AMBIGUOUS,
        "given": given,
        "given_level": level_words(row.question, given.low, given.high) if given else "",
        "writable": given is None,
    }
