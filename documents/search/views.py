"""The page that searches passages, and the answer that the rubric editor's panel shows."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from documents import access
from documents.models import Collection
from documents.search.finding import NotReady, search
from documents.search.forms import SearchForm
from documents.search.shown import ShownHit, as_json, shown

PER_SEARCH = 20


@require_safe
@signed_in
def search_page(request: SignedInRequest, slug: str) -> HttpResponse:
    """The search box with its filters and the best passages; htmx gets the passages alone."""
    benchmark = access.get_read_benchmark(request.user, slug)
    form = SearchForm(request.GET, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark, "form": form, "per_search": PER_SEARCH}
    if form.is_valid():
        context |= {"query": form.query, "narrowed": _is_narrowed(form)}
        context["unfiltered"] = "?" + urlencode({"q": form.query})
        try:
            context["hits"] = _shown(form)
        except NotReady as error:
            context["not_ready"] = str(error)
    # Asked by the template where there is nothing to show.
    context["any"] = Collection.objects.filter(benchmark=benchmark).exists
    context["manages"] = partial(access.may_manage_documents, request.user, benchmark)
    is_part = request.htmx and not request.htmx.history_restore_request
    response = render(request, f"documents/search/{'_results' if is_part else 'search'}.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_safe
@signed_in
def find(request: SignedInRequest, slug: str) -> JsonResponse:
    """``{"hits": […]}`` for ``?q=`` and the filters of the page: what the rubric editor's panel lists."""
    benchmark = access.get_read_benchmark(request.user, slug)
    form = SearchForm(request.GET, benchmark=benchmark)
    if not form.is_valid():
        return JsonResponse({"errors": form.errors.get_json_data()}, status=400)
    try:
        hits = _shown(form)
    except NotReady as error:
        return JsonResponse({"detail": str(error)}, status=error.status_code)
    return JsonResponse({"hits": [as_json(hit) for hit in hits]})


def _shown(form: SearchForm) -> list[ShownHit]:
    hits = search(
        collections=form.collections(), query=form.query, filters=form.filters(), limit=PER_SEARCH, at=timezone.now()
    )
    return shown(hits, form.query)


def _is_narrowed(form: SearchForm) -> bool:
    return any(value for name, value in form.cleaned_data.items() if name != "q")
