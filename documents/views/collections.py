"""Views of collections: their documents, and imports into them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus
from documents import access, search, selectors, services
from documents.forms import CollectionForm, ImportDocumentsForm, collection_terms_of
from documents.models import Collection, Document
from documents.services.terms import KEPT_DETAILS
from rubrics.access import get_benchmark

IMPORTS_SHOWN = 10


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def collections(request: SignedInRequest, slug: str) -> HttpResponse:
    """The collections of a benchmark, and a form for a new one."""
    benchmark = get_benchmark(request.user, slug)
    status = 200
    form = CollectionForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                collection = services.create_collection(
                    benchmark=benchmark, terms=collection_terms_of(form), by=request.user, at=timezone.now()
                )
            except DomainError as error:
                form.add_error("name", str(error))
                status = error.status_code
            else:
                return redirect("documents:collection", slug, collection.public_id)
    rows = selectors.collections_of(benchmark)
    context = {"benchmark": benchmark, "form": form, "collections": rows}
    return render(request, "documents/collections/collections.html", context, status=status)


@require_safe
@signed_in
def collection(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """A collection: how many documents it has, its index, and the imports into it."""
    collection = access.get_managed_collection(request.user, slug, public_id)
    counted = selectors.collections_of(collection.benchmark).get(pk=collection.pk)
    newest = counted.generations.first()
    context = {
        "benchmark": collection.benchmark,
        "collection": counted,
        "index_error": newest.error if newest and newest.status == JobStatus.FAILED else "",
        "imports": selectors.imports_into(collection)[:IMPORTS_SHOWN],
        "generation": counted.generation,
        "building": counted.generations.filter(status__in=["pending", "running"]).first(),
    }
    return render(request, "documents/collections/collection.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def collection_edit(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Rename or describe a collection."""
    collection = access.get_managed_collection(request.user, slug, public_id)
    status = 200
    if request.method == "POST":
        form = CollectionForm(request.POST)
        status = 422
        if form.is_valid():
            try:
                services.change_collection(collection=collection, terms=collection_terms_of(form))
            except DomainError as error:
                form.add_error("name", str(error))
                status = error.status_code
            else:
                messages.success(request, _("Saved."))
                return redirect("documents:collection", slug, public_id)
    else:
        form = CollectionForm(initial={"name": collection.name, "description": collection.description})
    context = {"benchmark": collection.benchmark, "collection": collection, "form": form}
    return render(request, "documents/collections/edit.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def collection_import(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Import files or addresses into a collection; ``?edition_of=`` is a document whose details begin the form."""
    collection = access.get_managed_collection(request.user, slug, public_id)
    status = 200
    if request.method == "POST":
        form = ImportDocumentsForm(request.POST, request.FILES)
        status = 422
        if form.is_valid():
            try:
                jobs = services.upload_documents(
                    collection=collection, uploads=form.uploads(), options=form.options(), by=request.user
                )
            except DomainError as error:
                form.add_error(None, str(error))
                status = error.status_code
            else:
                if len(jobs) == 1:
                    return redirect("rubrics:import", slug, jobs[0].public_id)
                return redirect("documents:collection", slug, public_id)
        form.ask_for_files_again()
    else:
        form = ImportDocumentsForm(initial=_details_of_edition(request, slug, collection))
    context = {"benchmark": collection.benchmark, "collection": collection, "form": form}
    return render(request, "documents/collections/import.html", context, status=status)


def _details_of_edition(request: SignedInRequest, slug: str, collection: Collection) -> dict[str, object]:
    """What is known of the document of which a new edition is to be imported; its licence has to be stated anew."""
    public_id = request.GET.get("edition_of", "").replace("\x00", "")
    if not public_id:
        return {}
    document: Document = access.get_managed_document(request.user, slug, public_id)
    if document.collection_id != collection.pk:
        return {}
    return {name: getattr(document, name) for name in ("key", *KEPT_DETAILS)}


@require_POST
@signed_in
def collection_rebuild(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Build the index of a collection anew."""
    collection = access.get_managed_collection(request.user, slug, public_id)
    search.rebuild(collection=collection, by=request.user, at=timezone.now())
    messages.success(request, _("The index is being rebuilt. Searches use the current index until then."))
    return redirect("documents:collection", slug, public_id)
