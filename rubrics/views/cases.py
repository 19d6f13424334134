"""Views of cases: the list, its file, and one case with its rubric and responses."""

from __future__ import annotations

from django.db.models import Prefetch
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.languages import language_choices
from rubrics import access, cited, origins
from rubrics.editor.citation import citations_of
from rubrics.forms import CaseFilters
from rubrics.models import Case, Response, Rubric, RubricItem
from rubrics.selectors import lists
from rubrics.selectors.conversation import turns_of
from rubrics.selectors.exclusion import record_of
from rubrics.views.benchmarks import csv_response

PER_PAGE = 25
MAX_RESPONSES = 200
CSV_COLUMNS = (
    "key",
    "difficulty",
    "register",
    "language",
    "language_detected",
    "tags",
    "criteria",
    "responses",
    "excluded",
)
CSV_TEXT = ("key", "language", "tags", "excluded")


@require_safe
@signed_in
def cases(request: SignedInRequest, slug: str) -> HttpResponse:
    """The cases, filtered and sorted by the URL's parameters."""
    benchmark = access.get_benchmark(request.user, slug)
    form = CaseFilters(request.GET, benchmark=benchmark)
    chosen = form.cleaned_data if form.is_valid() else {}
    sort = request.GET.get("sort", "")
    rows = lists.narrowed(lists.sortable(benchmark, sort), chosen) if form.is_valid() else Case.objects.none()
    ordered = lists.in_order(rows, sort, lists.CASE_ORDERS, "key")
    total = None if any(chosen.values()) or not form.is_valid() else form.variety.total
    pages = lists.CasePages(ordered, PER_PAGE, shown=lists.SHOWN, total=total)
    page = pages.get_page(request.GET.get("page"))
    narrowed = any(chosen.values()) or not form.is_valid()
    return render(
        request,
        "rubrics/cases/cases.html",
        {
            "benchmark": benchmark,
            "form": form,
            "page_obj": page,
            "sort": sort if sort.removeprefix("-") in lists.CASE_ORDERS else "key",
            "columns": _columns(),
            "narrowed": narrowed,
            # Only where there is no other case, since there a reader looks for them.
            "n_stubs": 0
            if narrowed or page.object_list
            else Case.with_stubs.filter(benchmark=benchmark, is_stub=True).count(),
        },
    )


def _columns() -> list[tuple[str, str, bool]]:
    """Columns that can be sorted by: name, heading, whether it is a number."""
    return [
        ("difficulty", _("Difficulty"), False),
        ("register", _("Register"), False),
        ("language", _("Language"), False),
        ("criteria", _("Criteria"), True),
        ("responses", _("Responses"), True),
    ]


@require_safe
@signed_in
def cases_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The cases of the list, all pages of it, as a file."""
    benchmark = access.get_benchmark(request.user, slug)
    form = CaseFilters(request.GET, benchmark=benchmark)
    rows = lists.listed_cases(benchmark)
    rows = lists.narrowed(rows, form.cleaned_data) if form.is_valid() else rows.none()
    ordered = lists.in_order(rows, request.GET.get("sort", ""), lists.CASE_ORDERS, "key")
    table = (
        (
            *(case.key, case.difficulty, case.register, case.language, str(case.language_detected).lower()),
            "; ".join(case.all_tags),
            *(case.criterion_count, case.response_count, case.exclusion_reason or None),
        )
        for case in ordered.iterator(chunk_size=500)
    )
    return csv_response(f"{slug}-cases.csv", stream_csv(CSV_COLUMNS, table, text_columns=CSV_TEXT))


@require_safe
@signed_in
def case(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """A case as a conversation, its rubric, and what candidates answered; ``response`` names one that is open."""
    case = access.get_case(request.user, slug, public_id)
    items_with_texts = Prefetch("items", RubricItem.objects.select_related("criterion").order_by("position"))
    rubrics = list(case.rubrics.prefetch_related(items_with_texts).order_by("track", "-version"))
    current = next((each for each in rubrics if each.status == Rubric.Status.PUBLISHED and each.track == "gold"), None)
    answers = Response.objects.filter(case=case).select_related("candidate")
    responses = list(answers.order_by("candidate__kind", "candidate__name", "sample", "pk")[: MAX_RESPONSES + 1])
    opened = request.GET.get("response", "")
    shown = responses[:MAX_RESPONSES]
    if opened and all(response.public_id != opened for response in shown):
        shown = [*answers.filter(public_id=opened), *shown]
    items = list(current.items.all()) if current else []
    citations = cited.describe_lists(case.benchmark, [citations_of(item.citations) for item in items])
    return render(
        request,
        "rubrics/cases/case.html",
        {
            "benchmark": case.benchmark,
            "case": case,
            "turns": turns_of(case),
            "errata": case.errata.order_by("pk"),
            "rubric": current,
            "items": [
                {"item": item, "citations": shown, "origin": origin}
                for item, shown, origin in zip(items, citations, origins.origins_of(case.benchmark, items), strict=True)
            ],
            "positive_points": sum(item.points for item in items if item.points > 0),
            "other_rubrics": [each for each in rubrics if each is not current],
            "responses": shown,
            "opened": opened,
            "more_responses": len(responses) > MAX_RESPONSES,
            "exclusions": record_of(case),
            "languages": language_choices(case.language),
            "administers": access.is_admin(request.user, case.benchmark),
        },
    )
