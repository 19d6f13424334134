"""Downloads of rubrics as tables: of one case, of the benchmark, and the evidence of each criterion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access
from rubrics.editor import editing
from rubrics.models import Benchmark, RubricItem
from rubrics.tables import CASE, COLUMNS, csv_of, rows_of_items, xlsx_of
from rubrics.tables.columns import joined
from rubrics.views.benchmarks import csv_response

TRACED = ("position", "criterion", "points", "source", "element", "expectation")
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def table_response(
    name: str, kind: str, columns: Sequence[str], rows: Iterator[tuple[object, ...]]
) -> HttpResponseBase:
    """The table as CSV or XLSX; 404 for any other kind."""
    if kind == "csv":
        return csv_response(f"{name}.csv", csv_of(columns, rows))
    if kind != "xlsx":
        raise Http404
    response = HttpResponse(xlsx_of(columns, rows), content_type=XLSX)
    response["Content-Disposition"] = f'attachment; filename="{name}.xlsx"'
    return response


@require_safe
@signed_in
def rubric_table(request: SignedInRequest, slug: str, public_id: str, kind: str) -> HttpResponseBase:
    """The current rubric of a case: the draft, else the published one."""
    case = access.get_case_to_write(request.user, slug, public_id)
    _rubric, items = editing.current_rubric(case)
    return table_response(f"{slug}-{public_id}-rubric", kind, COLUMNS, rows_of_items(items))


@require_safe
@signed_in
def rubrics_table(request: SignedInRequest, slug: str, kind: str) -> HttpResponseBase:
    """All published rubrics of the benchmark, in the columns in which they can be imported again."""
    benchmark = access.get_written_benchmark(request.user, slug)
    return table_response(f"{slug}-rubrics", kind, (CASE, *COLUMNS), _published(benchmark))


def _published(benchmark: Benchmark) -> Iterator[tuple[object, ...]]:
    items = (
        RubricItem.objects.filter(
            rubric__case__benchmark=benchmark,
            rubric__case__excluded_at=None,
            rubric__status="published",
            rubric__track="gold",
        )
        .order_by("rubric__case_id", "position")
        .values_list(
            *("rubric__case__key", "position", "criterion__text", "points", "tags"),
            *("source_note", "case_element", "expectation", "bank_item"),
        )
    )
    for key, position, text, points, tags, *rest in items.iterator(chunk_size=2000):
        yield (key, position, text, points, joined(tags), *rest)


@require_safe
@signed_in
def traceability(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """For each criterion of a case: its source, the element of the case, and what it checks; gaps stay visible."""
    case = access.get_case_to_write(request.user, slug, public_id)
    rubric, items = editing.current_rubric(case)
    gaps = {
        name: sum(not getattr(item, name).strip() for item in items) for name in ("source", "element", "expectation")
    }
    return render(
        request,
        "rubrics/editor/traceability.html",
        {"benchmark": case.benchmark, "case": case, "rubric": rubric, "items": items, "gaps": gaps},
    )


@require_safe
@signed_in
def traceability_table(request: SignedInRequest, slug: str, public_id: str, kind: str) -> HttpResponseBase:
    """The traceability of a case as a file."""
    case = access.get_case_to_write(request.user, slug, public_id)
    _rubric, items = editing.current_rubric(case)
    rows = (
        (place, item.text, item.points or None, item.source, item.element, item.expectation)
        for place, item in enumerate(items, start=1)
    )
    return table_response(f"{slug}-{public_id}-traceability", kind, TRACED, rows)


@require_safe
@signed_in
def benchmark_traceability(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """What the criteria of all published rubrics rest on."""
    benchmark = access.get_written_benchmark(request.user, slug)
    rows = (
        (key, position, text, points, source, element, expectation)
        for key, position, text, points, _tags, source, element, expectation, _bank in _published(benchmark)
    )
    return csv_response(f"{slug}-traceability.csv", csv_of((CASE, *TRACED), rows))
