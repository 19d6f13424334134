"""What the pages of every kind of run share: changing a run, the part that polls, and the file of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from scoring.models import PipelineRun

RunT = TypeVar("RunT", bound=PipelineRun)


def changed(
    fetch: Callable[[], RunT],
    change: Callable[[RunT], None],
    refused: Callable[[RunT, DomainError], HttpResponse],
    *,
    view: str,
    slug: str,
) -> HttpResponse:
    """Change a run and go back to its page, the route ``view``; where the change is refused, the page that says so."""
    run = fetch()
    try:
        change(run)
    except DomainError as error:
        return refused(fetch(), error)
    return redirect(view, slug, run.public_id)


def progress_part(request: HttpRequest, run: PipelineRun, template: str, context: dict[str, Any]) -> HttpResponse:
    """The part that polls while the run is live. When the status changes, the page is loaded again."""
    response = render(request, template, context)
    if run.status not in PipelineRun.LIVE or request.GET.get("status", run.status) != run.status:
        response["HX-Refresh"] = "true"
    return response


def steps_csv(
    run: PipelineRun,
    rows: Iterable[tuple[object, ...]],
    columns: tuple[str, ...],
    *,
    text_columns: tuple[str, ...],
    what: str,
) -> StreamingHttpResponse:
    """The file of a run's steps, named after the benchmark, ``what`` it holds, and the candidate."""
    candidate = slugify(run.candidate.name) if run.candidate else ""
    pieces = stream_csv(columns, rows, text_columns=text_columns)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    name = f"{run.benchmark.slug}-{what}-{candidate or 'candidate'}-{run.public_id}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
