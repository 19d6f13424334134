"""Views of the authors' dashboard: what waits for the reader, and all cases with the state of their rubrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access
from rubrics.forms import DashboardFilters
from rubrics.models import Benchmark, Case
from rubrics.selectors import dashboard, lists
from rubrics.views.benchmarks import csv_response
from rubrics.waiting import waiting_for

PER_PAGE = 25
CSV_COLUMNS = (
    *("key", "published_version", "criteria", "open_version", "open_status", "open_criteria", "excluded"),
    *("difficulty", "register", "language", "tags"),
)
CSV_TEXT = ("key", "language", "tags")


@require_safe
@signed_in
def dashboard_page(request: SignedInRequest, slug: str) -> HttpResponse:
    """What waits for the author, and the cases; the page shows no candidate."""
    benchmark = access.get_written_benchmark(request.user, slug)
    form = DashboardFilters(request.GET, benchmark=benchmark)
    chosen = form.cleaned_data if form.is_valid() else {}
    rows = _narrowed(request, Case.objects.filter(benchmark=benchmark), form).order_by("key")
    total = None if any(chosen.values()) or not form.is_valid() else form.variety.total
    pages = lists.CasePages(rows, PER_PAGE, shown=lists.SHOWN_TO_AUTHORS, total=total)
    page = pages.get_page(request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "form": form,
        "page_obj": page,
        "narrowed": any(chosen.values()) or not form.is_valid(),
        "may_review": access.is_author(request.user, benchmark),
        **_waiting(request, benchmark),
    }
    return render(request, "rubrics/writing/writing.html", context)


def _narrowed(request: SignedInRequest, cases: QuerySet[Case], form: DashboardFilters) -> QuerySet[Case]:
    if not form.is_valid():
        return cases.none()
    rows = lists.narrowed(cases, form.cleaned_data)
    return lists.of_author(rows, request.user) if form.cleaned_data.get("mine") else rows


def _waiting(request: SignedInRequest, benchmark: Benchmark) -> dict[str, Any]:
    """Lists of what waits, none of them long; four queries, and those of other apps."""
    waiting: dict[str, Any] = {
        **dashboard.rubrics_waiting(request.user, benchmark.pk),
        "begun": dashboard.cases_begun(request.user, benchmark.pk),
        "rewordings": dashboard.rewordings(request.user, benchmark),
        "others": waiting_for(request.user, benchmark),
    }
    return {**waiting, "waits": any(waiting.values())}


def _cells(rows: QuerySet[Case]) -> Iterator[tuple[Any, ...]]:
    """The cells of one line of the file; last the tags of the case, then those that physicians agree on."""
    columns = (
        *("key", "published_version", "criterion_count", "open_version", "open_status", "open_count", "excluded"),
        *("difficulty", "register", "language", "tags", "label_tags"),
    )
    return rows.annotate(excluded=Q(excluded_at__isnull=False)).values_list(*columns).iterator(chunk_size=500)


@require_safe
@signed_in
def dashboard_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The cases of the dashboard, all pages of it, as a file."""
    benchmark = access.get_written_benchmark(request.user, slug)
    listed = lists.with_rubric_states(lists.listed_cases(benchmark))
    rows = _narrowed(request, listed, DashboardFilters(request.GET, benchmark=benchmark)).order_by("key")
    table = ((*row[:-2], "; ".join(dict.fromkeys([*row[-2], *row[-1]]))) for row in _cells(rows))
    return csv_response(f"{slug}-writing.csv", stream_csv(CSV_COLUMNS, table, text_columns=CSV_TEXT))
