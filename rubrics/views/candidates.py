"""Views of candidates and their responses."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.versioning import StaleSave
from rubrics import access, services
from rubrics.forms import AttributesForm
from rubrics.models import Candidate, Case
from rubrics.selectors import lists
from rubrics.selectors.attributes import (
    attributes_of,
    candidates_with_attributes,
    changed_attributes,
    labelled_attributes,
    shown_attributes,
)
from rubrics.services.attribute_values import FIELDS, digest_of
from rubrics.tables.attribute_table import COLUMNS, TEXT_COLUMNS, cells_of, shown_value
from rubrics.views.benchmarks import csv_response

PER_PAGE = 50


@require_safe
@signed_in
def candidates(request: SignedInRequest, slug: str) -> HttpResponse:
    """The candidates, how many cases each answered, and how many responses name their author."""
    benchmark = access.get_benchmark(request.user, slug)
    return render(
        request,
        "rubrics/candidates/candidates.html",
        {
            "benchmark": benchmark,
            "candidates": lists.listed_candidates(benchmark).order_by("kind", "name"),
            "case_total": Case.objects.filter(benchmark=benchmark).count(),
        },
    )


@require_safe
@signed_in
def candidate(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """A candidate's responses."""
    candidate = access.get_candidate(request.user, slug, public_id)
    only_flagged = request.GET.get("flagged") == "1"
    rows = lists.listed_responses(candidate)
    if only_flagged:
        rows = rows.filter(metadata__has_key="self_identification")
    sort = request.GET.get("sort", "")
    ordered = lists.in_order(rows, sort, lists.RESPONSE_ORDERS, "sample")
    return render(
        request,
        "rubrics/candidates/candidate.html",
        {
            "benchmark": candidate.benchmark,
            "candidate": candidate,
            "page_obj": Paginator(ordered, PER_PAGE).get_page(request.GET.get("page")),
            "sort": sort if sort.removeprefix("-") in lists.RESPONSE_ORDERS else "case",
            "only_flagged": only_flagged,
            "counts": lists.listed_candidates(candidate.benchmark).get(pk=candidate.pk),
            "attributes": labelled_attributes(candidate),
        },
    )


@require_safe
@signed_in
def attributes(request: SignedInRequest, slug: str) -> HttpResponse:
    """The attributes of all candidates."""
    benchmark = access.get_benchmark(request.user, slug)
    rows = [(each, shown_attributes(each)) for each in candidates_with_attributes(benchmark)]
    return render(request, "rubrics/candidates/attributes.html", {"benchmark": benchmark, "rows": rows})


@require_safe
@signed_in
def attributes_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The same as a file, which can be imported again."""
    benchmark = access.get_benchmark(request.user, slug)
    rows = (cells_of(each.name, attributes_of(each)) for each in candidates_with_attributes(benchmark))
    return csv_response(f"{slug}-candidates.csv", stream_csv(COLUMNS, rows, text_columns=TEXT_COLUMNS))


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def edit_attributes(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The attributes of one candidate, to change them."""
    candidate = access.get_candidate(request.user, slug, public_id)
    context: dict[str, Any] = {"benchmark": candidate.benchmark, "candidate": candidate}
    if request.method != "POST":
        context |= {"form": AttributesForm(initial=_initial(candidate)), "seen": digest_of(attributes_of(candidate))}
        return render(request, "rubrics/candidates/edit_attributes.html", context)
    form, seen = AttributesForm(request.POST), request.POST.get("seen", "")
    context |= {"form": form, "seen": seen}
    if not form.is_valid():
        return render(request, "rubrics/candidates/edit_attributes.html", context, status=422)
    try:
        changed = services.set_attributes(
            candidate=candidate, values=form.values(), seen=seen, by=request.user, at=timezone.now()
        )
    except StaleSave as stale:
        # What was typed stays in the form, and is saved if it is sent again.
        context |= {"seen": digest_of(stale.current), "stale": stale}
        context["stored"] = changed_attributes(form.values(), stale.current)
        return render(request, "rubrics/candidates/edit_attributes.html", context, status=stale.status_code)
    if changed:
        messages.success(request, _("The attributes were saved."))
    return redirect("rubrics:candidate", slug, public_id)


def _initial(candidate: Candidate) -> dict[str, Any]:
    values = attributes_of(candidate)
    known = {name: getattr(values, name) for name in FIELDS}
    return {name: None if value is None else shown_value(value) for name, value in known.items()}
