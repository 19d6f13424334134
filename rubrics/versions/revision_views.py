"""Views of criteria reported at fault, and of the answers to the requests."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.limits import MAX_REVISION_ANSWER_LENGTH
from rubrics import access
from rubrics.models import Benchmark, RevisionRequest
from rubrics.services.revisions import dismiss_revisions, take_up_revisions
from rubrics.versions.revisions import CSV_COLUMNS, CSV_TEXT, csv_rows, faulty_criteria, state_counts
from rubrics.views.benchmarks import csv_response

PER_PAGE = 25
ALL = "all"


@require_safe
@signed_in
def revisions(request: SignedInRequest, slug: str) -> HttpResponse:
    """Open requests first of all; the others by their state."""
    return _page(request, access.get_benchmark(request.user, slug))


def _page(
    request: SignedInRequest, benchmark: Benchmark, refused: DomainError | None = None, answer: str = ""
) -> HttpResponse:
    state = _state(request)
    page, lines = faulty_criteria(
        benchmark, "" if state == ALL else state, page=request.GET.get("page"), per_page=PER_PAGE
    )
    counts = state_counts(benchmark)
    context = {
        "benchmark": benchmark,
        "state": state,
        "states": [(value, label, counts[value]) for value, label in RevisionRequest.Status.choices],
        "total": counts[ALL],
        "page_obj": page,
        "lines": lines,
        "administers": access.is_admin(request.user, benchmark),
        "refused": refused,
        "answer": answer,
        "answered": set(request.POST.getlist("request")),
    }
    return render(request, "rubrics/revisions/revisions.html", context, status=refused.status_code if refused else 200)


def _state(request: SignedInRequest) -> str:
    state = request.GET.get("state", RevisionRequest.Status.OPEN)
    return state if state in (*RevisionRequest.Status.values, ALL) else RevisionRequest.Status.OPEN


@require_safe
@signed_in
def revisions_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The requests of the list, all pages of it, as a file."""
    benchmark = access.get_benchmark(request.user, slug)
    state = _state(request)
    rows = csv_rows(benchmark, "" if state == ALL else state)
    return csv_response(f"{slug}-revisions.csv", stream_csv(CSV_COLUMNS, rows, text_columns=CSV_TEXT))


@require_POST
@signed_in
def open_revision(request: SignedInRequest, slug: str) -> HttpResponse:
    """Begin a new version of the rubric that answers the requests, and go to where it is written."""
    benchmark = access.get_written_benchmark(request.user, slug)
    try:
        rubric = take_up_revisions(
            benchmark=benchmark,
            requests=[value.replace("\x00", "") for value in request.POST.getlist("request")],
            by=request.user,
            at=timezone.now(),
        )
    except DomainError as refused:
        if not Benchmark.objects.run_by(request.user).filter(pk=benchmark.pk).exists():
            messages.error(request, str(refused))
            return redirect("rubrics:write", slug)
        return _page(request, benchmark, refused)
    return redirect("rubrics:write-rubric", slug, rubric.case.public_id)


@require_POST
@signed_in
def dismiss(request: SignedInRequest, slug: str) -> HttpResponse:
    """Leave a criterion as it is, with the reason."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    answer = request.POST.get("answer", "").replace("\x00", "")[:MAX_REVISION_ANSWER_LENGTH]
    try:
        row = dismiss_revisions(
            benchmark=benchmark,
            requests=[value.replace("\x00", "") for value in request.POST.getlist("request")],
            answer=answer,
            by=request.user,
            at=timezone.now(),
        )
    except DomainError as refused:
        return _page(request, benchmark, refused, answer)
    if row.criterion is None:
        messages.success(request, _("The rubric stays as it is."))
    else:
        messages.success(request, _("“%(text)s” stays as it is.") % {"text": row.criterion.text[:80]})
    return redirect("rubrics:revisions", slug)
