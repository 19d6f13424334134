"""Views of excluded cases: the list with the reasons, excluding one, and including it again."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access
from rubrics.models import Benchmark, Case
from rubrics.selectors import exclusion
from rubrics.services.exclusion import exclude_case, restore_case
from rubrics.views.benchmarks import csv_response

PER_PAGE = 50


@require_safe
@signed_in
def excluded_cases(request: SignedInRequest, slug: str) -> HttpResponse:
    """The excluded cases, the latest first."""
    benchmark = access.get_benchmark(request.user, slug)
    page = Paginator(exclusion.excluded_cases(benchmark), PER_PAGE).get_page(request.GET.get("page"))
    context = {"benchmark": benchmark, "page_obj": page, "administers": access.is_admin(request.user, benchmark)}
    return render(request, "rubrics/cases/excluded.html", context)


@require_safe
@signed_in
def excluded_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The list as a file."""
    benchmark = access.get_benchmark(request.user, slug)
    table = stream_csv(exclusion.CSV_COLUMNS, exclusion.csv_rows(benchmark), text_columns=exclusion.CSV_TEXT)
    return csv_response(f"{slug}-excluded.csv", table)


@require_POST
@signed_in
def exclude(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Leave a case out, by the decision of an admin."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    case = access.get_case(request.user, slug, public_id)
    try:
        exclude_case(
            case=case, kind=Case.Exclusion.DECISION, reason=_reason(request), by=request.user, at=timezone.now()
        )
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("“%(case)s” is now excluded. It stays on record.") % {"case": case.key})
    return _back(benchmark, case)


@require_POST
@signed_in
def restore(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Let an excluded case count again."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    case = access.get_case(request.user, slug, public_id)
    try:
        restore_case(case=case, reason=_reason(request), by=request.user, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("“%(case)s” is no longer excluded.") % {"case": case.key})
    if request.POST.get("back") == "excluded":
        return redirect("rubrics:excluded", slug)
    return _back(benchmark, case)


def _reason(request: SignedInRequest) -> str:
    return request.POST.get("reason", "").replace("\x00", "")


def _back(benchmark: Benchmark, case: Case) -> HttpResponse:
    return redirect("rubrics:case", benchmark.slug, case.public_id)
