"""The pages and files of the security log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.browsers import browser_in_words
from accounts.models import SecurityEvent
from consilium.core.htmx import SignedInRequest, signed_in
from operations import keyset
from operations.access import operators_only
from operations.security_log import selectors
from operations.security_log.files import BENCHMARK_COLUMNS, COLUMNS, csv_response, jsonl_response
from operations.security_log.forms import BenchmarkFilters, LogFilters, OwnFilters
from operations.security_log.services import record_export
from operations.security_log.words import sentence
from rubrics.access import get_administered_benchmark

PAGE_SIZE = 50
FILES = {"csv": csv_response, "jsonl": jsonl_response}


@dataclass(frozen=True, slots=True)
class Line:
    """A line as the page shows it."""

    event: SecurityEvent
    text: str
    browser: str


@require_safe
@never_cache
@operators_only
def security_log(request: SignedInRequest) -> HttpResponse:
    """Every line of the log, for operators."""
    return _page(request, "operations/security_log/log.html", LogFilters(request.GET), selectors.whole_log(), {})


@require_safe
@never_cache
@operators_only
def security_log_file(request: SignedInRequest, form: str) -> HttpResponseBase:
    """The lines that the filters leave, as a file; the download is itself in the log."""
    filters = LogFilters(request.GET)
    if not filters.is_valid():
        return security_log(request)
    return _file(request, form, "security-log", filters, selectors.whole_log(), COLUMNS)


@require_safe
@never_cache
@signed_in
def records(request: SignedInRequest, slug: str) -> HttpResponse:
    """The lines that belong to a benchmark, for its admins."""
    benchmark = get_administered_benchmark(request.user, slug)
    rows = selectors.log_of_benchmark(benchmark)
    return _page(
        request, "operations/security_log/records.html", BenchmarkFilters(request.GET), rows, {"benchmark": benchmark}
    )


@require_safe
@never_cache
@signed_in
def records_file(request: SignedInRequest, slug: str, form: str) -> HttpResponseBase:
    """The same as a file."""
    benchmark = get_administered_benchmark(request.user, slug)
    filters = BenchmarkFilters(request.GET)
    if not filters.is_valid():
        return records(request, slug)
    rows = selectors.log_of_benchmark(benchmark)
    return _file(request, form, f"{slug}-security-log", filters, rows, BENCHMARK_COLUMNS, scope=slug)


@require_safe
@never_cache
@signed_in
def activity(request: SignedInRequest) -> HttpResponse:
    """What happened to the reader's own account in the last 90 days."""
    rows = selectors.log_of_person(request.user, timezone.now())
    return _page(
        request, "operations/security_log/activity.html", OwnFilters(request.GET), rows, {"days": selectors.OWN_DAYS}
    )


@require_safe
@never_cache
@signed_in
def activity_file(request: SignedInRequest, form: str) -> HttpResponseBase:
    """The same as a file; whoever takes their own lines leaves none."""
    filters = OwnFilters(request.GET)
    if not filters.is_valid():
        return activity(request)
    rows = selectors.filter_events(selectors.log_of_person(request.user, timezone.now()), filters.cleaned_data)
    return FILES[form]("account-activity", keyset.all_rows(rows), COLUMNS)


def _browser(event: SecurityEvent) -> str:
    """The browser in words; empty for a line that no request wrote."""
    return browser_in_words(event.browser) if event.browser else ""


def _page(
    request: HttpRequest,
    template: str,
    filters: forms.Form,
    rows: QuerySet[SecurityEvent],
    context: dict[str, Any],
) -> HttpResponse:
    rows = selectors.filter_events(rows, filters.cleaned_data) if filters.is_valid() else rows.none()
    place = keyset.place_of(request.GET.get("before", ""))
    page = keyset.page_before(rows, place, size=PAGE_SIZE)
    query = request.GET.copy()
    query.pop("before", None)
    context |= {
        "lines": [Line(event, sentence(event), _browser(event)) for event in page.rows],
        "older": page.older,
        "is_first_page": place is None,
        "filters": filters,
        "is_filtered": any(query.get(name) for name in filters.fields),
        "query": query.urlencode(),
    }
    return render(request, template, context, status=200 if filters.is_valid() else 422)


def _file(
    request: SignedInRequest,
    form: str,
    name: str,
    filters: forms.Form,
    rows: QuerySet[SecurityEvent],
    columns: tuple[str, ...],
    *,
    scope: str = "",
) -> HttpResponseBase:
    at = timezone.now()
    record_export(
        what="security_log", file_format=form, filters=filters, scope=scope, by=request.user, at=at, request=request
    )
    return FILES[form](
        name, keyset.all_rows(selectors.filter_events(rows, filters.cleaned_data).filter(at__lt=at)), columns
    )
