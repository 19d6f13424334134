"""Views of candidates and their responses."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access
from rubrics.models import Case
from rubrics.selectors import lists

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
        },
    )
