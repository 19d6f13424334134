"""Downloads of rubrics as tables: of one case, of the benchmark, and the evidence of each criterion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import F
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access, cited, origins
from rubrics.cited import ShownCitation
from rubrics.editor import editing
from rubrics.editor.citation import citations_of
from rubrics.imports.bulk import chunks
from rubrics.models import Benchmark, RubricItem
from rubrics.origins import ShownOrigin
from rubrics.tables import CASE, COLUMNS, csv_of, rows_of_items, xlsx_of
from rubrics.tables.columns import joined
from rubrics.views.benchmarks import csv_response

TRACED = (
    *("position", "criterion", "points", "source", "element", "expectation", "locator", "quote"),
    *("document", "publisher", "version", "page", "licence", "published", "marks", "in_latest_edition"),
    *("origin", "suggestion", "recipe", "recipe_version", "distance", "endpoint_kind"),
)
N_OF_ORIGIN = 6  # of these columns
CHUNK = 500  # criteria whose citations are read together
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
    """The current rubric of a case: the draft, else the published one; ``bank`` is empty where origins are hidden."""
    case = access.get_case_to_write(request.user, slug, public_id)
    rubric, items = editing.current_rubric(case)
    if rubric is not None:
        items = origins.shown_items(request.user, rubric, items)
    rows = rows_of_items(items, cited.locators_of(case.benchmark, items))
    return table_response(f"{slug}-{public_id}-rubric", kind, COLUMNS, rows)


@require_safe
@signed_in
def rubrics_table(request: SignedInRequest, slug: str, kind: str) -> HttpResponseBase:
    """All published rubrics of the benchmark, in the columns in which they can be imported again."""
    benchmark = access.get_written_benchmark(request.user, slug)
    return table_response(f"{slug}-rubrics", kind, (CASE, *COLUMNS), _published(benchmark))


def _published(benchmark: Benchmark) -> Iterator[tuple[object, ...]]:
    for key, item, citations, _origin in _published_items(benchmark):
        texts = (item.source_note, item.case_element, item.expectation, item.bank_item)
        locators = joined([shown.locator for shown in citations])
        yield (key, item.position, item.criterion.text, item.points, joined(item.tags), *texts, locators)


def _published_items(benchmark: Benchmark) -> Iterator[tuple[str, RubricItem, list[ShownCitation], ShownOrigin]]:
    """The key of the case, the item, its citations, and where it comes from, of all published rubrics."""
    rows = (
        RubricItem.objects.filter(
            rubric__case__benchmark=benchmark,
            rubric__case__excluded_at=None,
            rubric__status="published",
            rubric__track="gold",
        )
        .annotate(key=F("rubric__case__key"))
        .select_related("criterion")
        .order_by("rubric__case_id", "position")
    )
    for items in chunks(rows.iterator(chunk_size=CHUNK), CHUNK):
        lists = cited.describe_lists(benchmark, [citations_of(item.citations) for item in items])
        comes_from = origins.origins_of(benchmark, items)
        for item, citations, origin in zip(items, lists, comes_from, strict=True):
            yield item.key, item, citations, origin


@require_safe
@signed_in
def traceability(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """For each criterion of a case: its source, citations, the element of the case, and what it checks.

    Gaps stay visible.
    """
    case = access.get_case_to_write(request.user, slug, public_id)
    rubric, items = editing.current_rubric(case)
    gaps = {
        name: sum(not getattr(item, name).strip() for item in items) for name in ("source", "element", "expectation")
    }
    gaps["citation"] = sum(not item.citations for item in items)
    lists = cited.describe_lists(case.benchmark, [item.citations for item in items])
    comes_from = origins.origins_of(case.benchmark, items)
    newer = cited.compare(case.benchmark, (shown for citations in lists for shown in citations))
    rows = [
        {"item": item, "citations": [(shown, newer.get(shown.citation)) for shown in citations], "origin": origin}
        for item, citations, origin in zip(items, lists, comes_from, strict=True)
    ]
    dated = sum(any(shown.marks for shown in citations) for citations in lists)
    return render(
        request,
        "rubrics/editor/traceability.html",
        {
            "benchmark": case.benchmark,
            "case": case,
            "rubric": rubric,
            "rows": rows,
            "gaps": gaps,
            "dated": dated,
            "hidden": origins.is_hidden_from(request.user, rubric),
        },
    )


@require_safe
@signed_in
def traceability_table(request: SignedInRequest, slug: str, public_id: str, kind: str) -> HttpResponseBase:
    """The traceability of a case as a file."""
    case = access.get_case_to_write(request.user, slug, public_id)
    rubric, items = editing.current_rubric(case)
    lists = cited.describe_lists(case.benchmark, [item.citations for item in items])
    comes_from: Sequence[ShownOrigin | None] = origins.origins_of(case.benchmark, items)
    if origins.is_hidden_from(request.user, rubric):
        comes_from = [None] * len(items)
    rows = (
        row
        for place, (item, citations, origin) in enumerate(zip(items, lists, comes_from, strict=True), start=1)
        for row in _traced(
            (place, item.text, item.points or None, item.source, item.element, item.expectation), citations, origin
        )
    )
    return table_response(f"{slug}-{public_id}-traceability", kind, TRACED, rows)


@require_safe
@signed_in
def benchmark_traceability(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """What the criteria of all published rubrics rest on."""
    benchmark = access.get_written_benchmark(request.user, slug)
    rows = (
        row
        for key, item, citations, origin in _published_items(benchmark)
        for row in _traced(
            (
                *(key, item.position, item.criterion.text, item.points),
                *(item.source_note, item.case_element, item.expectation),
            ),
            citations,
            origin,
        )
    )
    return csv_response(f"{slug}-traceability.csv", csv_of((CASE, *TRACED), rows))


def _traced(
    criterion: tuple[object, ...], citations: Sequence[ShownCitation], origin: ShownOrigin | None
) -> Iterator[tuple[object, ...]]:
    """A row for each citation of a criterion; one without them where it cites nothing.

    ``origin`` is None where the reader must not see it.
    """
    for shown in citations:
        yield (
            *criterion,
            *(shown.locator, shown.exported_words, shown.document, shown.publisher, shown.version, shown.page),
            *(shown.licence, shown.published_on.isoformat() if shown.published_on else "", "; ".join(shown.marks)),
            shown.later.locator or "absent" if shown.later else "",
            *_origin_cells(origin),
        )
    if not citations:
        yield (*criterion, *[""] * (len(TRACED) - 6 - N_OF_ORIGIN), *_origin_cells(origin))


def _origin_cells(origin: ShownOrigin | None) -> tuple[object, ...]:
    """The last `N_OF_ORIGIN` columns of `TRACED`."""
    if origin is None:
        return ("",) * N_OF_ORIGIN
    if origin.suggestion is None:
        return str(origin.origin), origin.public_id, "", "", "", ""
    own = origin.suggestion
    kind = "rules" if own.by_rules else "model"
    distance = "" if own.distance is None else own.distance
    return str(origin.origin), own.public_id, own.recipe, own.recipe_version, distance, kind
