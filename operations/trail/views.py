"""The pages and files of the trail of changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone, translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.services.security_log import record
from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from operations.access import operators_only
from operations.security_log.files import download
from operations.trail import words
from operations.trail.forms import TrailFilters
from operations.trail.selectors import (
    Change,
    Trail,
    TrailPlace,
    all_changes,
    changes_before,
    narrowed,
    place_of,
    trail_of_benchmark,
    trail_of_server,
    without_the_largest,
)
from rubrics.access import get_administered_benchmark
from rubrics.models import Benchmark

PAGE_SIZE = 50
COLUMNS = ("at", "subject", "kind", "object", "action", "by", "by_email", "changes")


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
        shown = narrowed(trail, filters.cleaned_data)
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
    used = sorted(field for field in filters.fields if filters.cleaned_data.get(field))
    at = timezone.now()
    values: dict[str, Any] = {"what": "trail", "format": "csv", "filters": used}
    record("log_exported", at=at, by=request.user, scope=scope, request=request, **values)
    rows = _csv_rows(narrowed(trail, filters.cleaned_data), at)
    return download(f"{name}.csv", "text/csv; charset=utf-8", stream_csv(COLUMNS, rows, text_columns=COLUMNS))


def _csv_rows(trail: Trail, at: datetime) -> Iterator[dict[str, Any]]:
    for shown in all_changes(trail, at=at):
        # Files are in English and UTC, whoever takes them; the reader's language ends with the request.
        with translation.override("en"), timezone.override(None):
            rows = [csv_row(change) for change in shown]
        yield from rows


def csv_row(change: Change) -> dict[str, Any]:
    """A change with all `COLUMNS`: ``changes`` is an object of JSON, field → before and after."""
    fields = {name: [_plain(old), _plain(new)] for name, old, new in change.fields}
    return {
        "at": change.event.pgh_created_at.isoformat(),
        "subject": change.kind.subject,
        "kind": words.kind_in_words(change.kind),
        "object": " · ".join(part.text for part in words.object_parts(change)),
        "action": "created" if change.is_new else "changed",
        "by": words.actor(change),
        "by_email": change.user.email if change.user else "",
        "changes": json.dumps(fields, ensure_ascii=False),
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | list | dict):
        return value
    return value.isoformat() if isinstance(value, datetime) else str(value)
