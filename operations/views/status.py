"""The page that says how the server is, and its tables as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest
from operations.access import operators_only
from operations.checks import PARTS, database, disk, versions
from operations.checks.check import State
from operations.selectors import overview
from operations.selectors.background_work import open_work
from operations.services import inspection
from rubrics.views.benchmarks import csv_response


def _context() -> dict[str, Any]:
    at = timezone.now()
    parts = inspection.inspect(checks=PARTS, at=at)
    figures = {part.name: part.figures for part in parts}
    answers = next(part.state for part in parts if part.name == database.CHECK.name) is not State.FAILED
    return {
        "parts": parts,
        "state": str(inspection.state_of(parts)),
        "processes": overview.processes() if answers else [],
        "web_started_at": overview.WEB_STARTED_AT,
        "work": open_work(at=at) if answers else [],
        "database_bytes": figures["database"].get("size_bytes"),
        "free_bytes": {name: figures["disk"].get(f"{name.lower()}_free_bytes") for name in disk.folders()},
        "versions": versions.versions() if answers else {},
        "seen_at": at,
    }


@require_safe
@never_cache
@operators_only
def status(request: SignedInRequest) -> HttpResponse:
    """The parts of the server, its processes and its background work; htmx asks for them again every 10 s."""
    template = "operations/_state.html" if request.htmx else "operations/status.html"
    return render(request, template, _context())


@require_safe
@never_cache
@operators_only
def table_csv(request: HttpRequest, table: str) -> StreamingHttpResponse:
    """One of the page's tables as a file."""
    at = timezone.now()
    shape: overview.Table
    rows: Sequence[Any]
    if table == "parts":
        shape, rows = overview.PARTS_TABLE, inspection.inspect(checks=PARTS, at=at)
    elif table == "processes":
        shape, rows = overview.PROCESSES_TABLE, overview.processes()
    elif table == "work":
        shape, rows = overview.WORK_TABLE, open_work(at=at)
    else:
        raise Http404
    lines = stream_csv(shape.columns, shape.rows(rows), text_columns=shape.text_columns)
    return csv_response(f"server-{table}.csv", lines)
