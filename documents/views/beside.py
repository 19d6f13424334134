"""The panel beside the rubric editor: the search for passages to cite."""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from documents import access
from documents.citing import citation_json
from documents.editions.newer import latest_edition, newer_place
from documents.models import Document
from documents.search.forms import SearchForm
from documents.views.documents import place_in_address


@require_safe
@signed_in
def panel(request: SignedInRequest, slug: str) -> HttpResponse:
    """The search form; its results are fetched from ``documents:find``."""
    benchmark = access.get_read_benchmark(request.user, slug)
    documents = Document.objects.in_use().filter(collection__benchmark=benchmark)
    form = SearchForm(benchmark=benchmark)
    context = {
        "benchmark": benchmark,
        "languages": list(form.fields["language"].choices),  # type: ignore[attr-defined]
        "has_documents": documents.exists(),
    }
    return render(request, "documents/beside/panel.html", context)


@require_safe
@signed_in
def newer(request: SignedInRequest, slug: str, public_id: str) -> JsonResponse:
    """``{"citation": …}``: the words of a passage (``?start=&end=``, or all) in the latest edition of its document.

    The citation is as `rubrics.cited.ShownCitation` shows it; null where the edition does not contain the words.
    """
    passage = access.get_passage(request.user, slug, public_id)
    start, end = place_in_address(request, passage) or (0, len(passage.text))
    edition = latest_edition(passage.document)
    place = newer_place(passage, start, end, edition) if edition is not None else None
    return JsonResponse({"citation": citation_json(*place) if place is not None else None})
