"""The panel beside the rubric editor: the search for passages to cite."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from documents import access
from documents.models import Document
from documents.search.forms import SearchForm


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
