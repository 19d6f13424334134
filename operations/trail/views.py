"""The pages and files of the trail of changes."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from operations.access import operators_only
from operations.security_log.services import record_export
from operations.trail import words
from operations.trail.files import csv_response
from operations.trail.forms import TrailFilters
from operations.trail.selectors import (
    Change,
    Trail,
    TrailPlace,
    all_changes,
    changes_before,
    narrow_trail,
    place_of,
    trail_of_benchmark,
    trail_of_server,
    without_the_largest,
)
from rubrics.access import get_administered_benchmark
from rubrics.models import Benchmark

PAGE_SIZE = 50


@require_safe
@never_cache
@signed_in
def changes(request: SignedInRequest, slug: str) -> HttpResponse:
    """What was changed in a benchmark, for its admins."""
    benchmark = get_administered_benchmark(request.user, slug)
    trail = trail_of_benchmark(benchmark, request.user)
    return _page(request, "operations/trail/changes.html", trail, benchmark=benchmark)


@require_safe
@never_cache
@signed_in
def changes_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The same as a file."""
    benchmark = get_administered_benchmark(request.user, slug)
    trail = trail_of_benchmark(benchmark, request.user)
    filters = TrailFilters(request.GET, kinds=trail.kinds)
    return _file(request, f"{slug}-changes", trail, filters, slug) if filters.is_valid() else changes(request, slug)


@require_safe
@never_cache
@operators_only
def server_changes(request: SignedInRequest) -> HttpResponse:
    """Accounts, invitations and new benchmarks, for operators; nothing of what is in a benchmark."""
    return _page(request, "operations/trail/server_changes.html", trail_of_server())


@require_safe
@never_cache
@operators_only
def server_changes_csv(request: SignedInRequest) -> HttpResponseBase:
    """The same as a file."""
    trail = trail_of_server()
    filters = TrailFilters(request.GET, kinds=trail.kinds)
    return _file(request, "server-changes", trail, filters, "") if filters.is_valid() else server_changes(request)


def _page(request: SignedInRequest, template: str, trail: Trail, benchmark: Benchmark | None = None) -> HttpResponse:
    filters = TrailFilters(request.GET, kinds=trail.kinds)
    place = place_of(request.GET.get("before", ""))
    rows: list[Change] = []
    older: TrailPlace | None = None
    leaves_out = False
    if filters.is_valid():
        shown = narrow_trail(trail, filters.cleaned_data)
        if not filters.cleaned_data["subject"]:
            shown = without_the_largest(shown)
            leaves_out = shown.kinds != trail.kinds
        rows, older = changes_before(shown, place, size=PAGE_SIZE, at=timezone.now())
    query = request.GET.copy()
    query.pop("before", None)
    context = {
        "benchmark": benchmark,
        "changes": [_row(change, benchmark.slug if benchmark else "") for change in rows],
        "leaves_out": leaves_out,
        "older": str(older or ""),
        "is_first_page": place is None,
        "filters": filters,
        "is_filtered": any(query.get(name) for name in filters.fields),
        "query": query.urlencode(),
    }
    return render(request, template, context, status=200 if filters.is_valid() else 422)


def _row(change: Change, slug: str) -> dict[str, Any]:
    return {
        "at": change.event.pgh_created_at,
        "by": words.actor(change),
        "kind": words.kind_in_words(change.kind),
        "is_new": change.is_new,
        "parts": words.object_parts(change, slug),
        "fields": words.changed_fields(change),
    }


def _file(request: SignedInRequest, name: str, trail: Trail, filters: TrailFilters, scope: str) -> HttpResponseBase:
    at = timezone.now()
    record_export(
        what="trail", file_format="csv", filters=filters, scope=scope, by=request.user, at=at, request=request
    )
    return csv_response(name, all_changes(narrow_trail(trail, filters.cleaned_data), at=at))
