"""Views for adjudicators: the responses whose codes differ, and ruling on one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import access, payload
from annotation.codes.rulings import rule_on_codes
from annotation.codes.selectors import marks_of
from annotation.labels.selectors import CODE_LETTERS
from annotation.models import CodeRuling
from annotation.selectors import reading_pages
from annotation.services.attention import record_attention
from annotation.views.refusals import refusal
from consilium.core.errors import Conflict, DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.codes.code import NONE_OF_THESE

LIST, PAGE = "annotation/codes/rulings.html", "annotation/codes/ruling.html"


@require_safe
@signed_in
def rulings(request: SignedInRequest) -> HttpResponse:
    """The responses that wait for a ruling on their codes, in all benchmarks."""
    show = "done" if request.GET.get("show") == "done" else ""
    waiting, done = (
        list(rows.select_related("group__benchmark"))
        for rows in (access.open_code_rulings(request.user), access.own_code_rulings(request.user))
    )
    context = {
        "benchmark": access.only_benchmark(request.user),
        "waiting": waiting,
        "done": done,
        "show": show,
        "rows": done if show else waiting,
        "waiting_ids": _waiting_ids(request),
    }
    return render(request, LIST, context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def ruling(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The response, what coders marked without their names, and the ruling; POST rules and goes on to the next."""
    is_post = request.method == "POST"
    row = access.get_code_ruling(request.user, public_id, ruled_by_others=is_post)
    if not is_post:
        return render(request, PAGE, _context(request, row))
    sent, note = request.POST.getlist("codes"), request.POST.get("note", "").replace("\r\n", "\n").strip()
    try:
        rule_on_codes(ruling=row, adjudicator=request.user, codes=sent, note=note, at=timezone.now())
    except Conflict as refused:
        messages.error(request, str(refused))
        return redirect("annotation:code-rulings")
    except DomainError as refused:
        context = _context(request, row) | {"refused": refused, "chosen": sent, "note": note}
        return render(request, PAGE, context, status=refused.status_code)
    waiting = list(access.open_code_rulings(request.user).filter(group__benchmark=row.group.benchmark))
    if not waiting:
        messages.success(request, _("Your ruling is saved."))
        return redirect("annotation:code-rulings")
    left = ngettext("Your ruling is saved. %(n)s left.", "Your ruling is saved. %(n)s left.", len(waiting))
    messages.success(request, left % {"n": len(waiting)})
    return redirect("annotation:code-ruling", waiting[0].public_id)


@require_POST
@never_cache
@signed_in
def time(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Add ``{"seconds"}`` to the time spent at a response; its last minute is reported after the ruling."""
    row = access.get_code_ruling(request.user, public_id)
    try:
        seconds = payload.reported_seconds(request)
    except DomainError as refused:
        return refusal(refused)
    record_attention(user=request.user, code_ruling=row, seconds=seconds, at=timezone.now())
    return HttpResponse(status=204)


def _waiting_ids(request: SignedInRequest) -> list[str]:
    """The rulings of which the browser keeps what was entered: also those that cannot be opened for a while."""
    return list(access.unruled_code_rulings(request.user).values_list("public_id", flat=True))


def _context(request: SignedInRequest, row: CodeRuling) -> dict[str, Any]:
    marks, n_coders, notes = marks_of(row, "123456789" + CODE_LETTERS)
    is_ruled = row.ruled_at is not None
    return {
        "ruling": row,
        "benchmark": row.group.benchmark,
        "reading": reading_pages.reading_of(row.response.case, row.response.text),
        "marks": marks,
        "marked": [mark for mark in marks if mark.n_coders],
        "n_coders": n_coders,
        "notes": notes,
        "chosen": (row.codes or [NONE_OF_THESE]) if is_ruled else [],
        "note": row.note,
        "none_of_these": NONE_OF_THESE,
        "writable": not is_ruled,
        "waiting_ids": _waiting_ids(request),
    }
