"""Views of documents and passages, for everybody who may read them, and of what staff change about a document."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from documents import access, citing, selectors, services
from documents.editions.newer import latest_edition, newer_place
from documents.forms import DescribedForm, DocumentFilters, details_of, licence_of
from documents.models import Collection, Document, Passage
from documents.page_images import page_image
from documents.services.described import DETAILS, LICENCE
from rubrics.views.benchmarks import csv_response

PER_PAGE = 25
PASSAGES_PER_PAGE = 40
# Formats that a browser would run or draw are saved to disk as plain bytes.
DOWNLOADED_AS = {"application/pdf": "application/pdf", "text/plain": "text/plain; charset=utf-8"}
ENDINGS = {"application/pdf": "pdf", "text/html": "html", "text/markdown": "md", "text/plain": "txt"}
PDF = "application/pdf"


@require_safe
@signed_in
def documents(request: SignedInRequest, slug: str) -> HttpResponse:
    """The documents, filtered by the URL's parameters."""
    benchmark = access.get_read_benchmark(request.user, slug)
    form, today = DocumentFilters(request.GET, benchmark=benchmark), timezone.localdate()
    chosen = form.cleaned_data if form.is_valid() else {}
    rows = selectors.listed(benchmark)
    rows = selectors.narrowed(rows, chosen, today) if form.is_valid() else rows.none()
    manages = access.may_manage_documents(request.user, benchmark)
    page = Paginator(rows.order_by("title", "key", "-edition"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "form": form,
        "page_obj": page,
        "rows": [(document, _marks(document)) for document in page],
        "narrowed": any(chosen.values()) or not form.is_valid(),
        "manages": manages,
        "collections": list(Collection.objects.filter(benchmark=benchmark).order_by("name")) if manages else [],
        "any": page.paginator.count or selectors.listed(benchmark).exists(),
    }
    return render(request, "documents/documents/documents.html", context)


def _marks(document: Document) -> list[tuple[str, Any]]:
    return [(mark, selectors.STATE_MARKS[mark]) for mark in selectors.marks_of(document, timezone.localdate())]


@require_safe
@signed_in
def documents_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The documents of the list, all pages of it, without their texts."""
    benchmark = access.get_read_benchmark(request.user, slug)
    form, today = DocumentFilters(request.GET, benchmark=benchmark), timezone.localdate()
    rows = selectors.listed(benchmark)
    rows = selectors.narrowed(rows, form.cleaned_data, today) if form.is_valid() else rows.none()
    table = selectors.csv_rows(rows.order_by("title", "key", "-edition"), today)
    pieces = stream_csv(selectors.CSV_COLUMNS, table, text_columns=selectors.CSV_TEXT)
    return csv_response(f"{slug}-documents.csv", pieces)


@require_safe
@signed_in
def document(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """A document: what is known of it, its editions, and its passages."""
    document = access.get_document(request.user, slug, public_id)
    return render(request, "documents/documents/document.html", _context(request, document))


def _context(request: SignedInRequest, document: Document) -> dict[str, Any]:
    benchmark = document.collection.benchmark
    editions = selectors.editions_of(document)
    passages = Passage.objects.filter(document=document).order_by("ordinal")
    manages = access.may_manage_documents(request.user, benchmark)
    return {
        "benchmark": benchmark,
        "document": document,
        "marks": _marks(document),
        "editions": editions,
        "latest": editions[0],
        "page_obj": Paginator(passages, PASSAGES_PER_PAGE).get_page(request.GET.get("page")),
        "manages": manages,
        "may_download": bool(document.file) and (manages or document.may_redistribute),
        "is_pdf": document.media_type == PDF,
    }


@require_safe
@signed_in
def passages_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The passages of a document; locators alone where it may not be quoted."""
    document = access.get_document(request.user, slug, public_id)
    pieces = stream_csv(
        selectors.PASSAGE_CSV_COLUMNS,
        selectors.passage_csv_rows(document),
        text_columns=selectors.PASSAGE_CSV_TEXT,
    )
    return csv_response(f"{slug}-passages-{public_id}.csv", pieces)


@require_safe
@signed_in
def document_file(request: SignedInRequest, slug: str, public_id: str) -> FileResponse:
    """The original file: for staff, and for everybody else where it may be passed on."""
    document = access.get_document(request.user, slug, public_id)
    if not document.may_redistribute and not access.may_manage_documents(request.user, document.collection.benchmark):
        raise Http404
    if not document.file:
        raise Http404
    try:
        file = document.file.open("rb")
    except FileNotFoundError:
        raise Http404 from None
    name = f"{document.key.replace('/', '-')}.{ENDINGS.get(document.media_type, 'bin')}"
    content_type = DOWNLOADED_AS.get(document.media_type, "application/octet-stream")
    return FileResponse(file, as_attachment=True, filename=name, content_type=content_type)


@require_safe
@signed_in
def document_page(request: SignedInRequest, slug: str, public_id: str, number: int) -> HttpResponse:
    """A page of a PDF as a picture. It never changes, so browsers keep it."""
    document = access.get_document(request.user, slug, public_id)
    picture = page_image(document, number)
    if picture is None:
        raise Http404
    response = HttpResponse(picture, content_type="image/png")
    response["Cache-Control"] = "private, max-age=86400, immutable"
    return response


@require_safe
@signed_in
def passage(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """A passage with its surroundings; ``?start=&end=`` are words in it to be marked."""
    passage = access.get_passage(request.user, slug, public_id)
    before, after = selectors.neighbours(passage)
    mark = place_in_address(request, passage)
    edition = latest_edition(passage.document)
    place = newer_place(passage, *(mark or (0, len(passage.text))), edition) if edition is not None else None
    context = {
        "benchmark": passage.document.collection.benchmark,
        "passage": passage,
        "document": passage.document,
        "marks": _marks(passage.document),
        "before": before,
        "after": after,
        "latest": edition,
        "newer_place": citing.citation_json(*place) if place is not None else None,
        "parts": _parts(passage, mark),
        "marks_nothing": mark is None and ("start" in request.GET or "end" in request.GET),
        "is_pdf": passage.document.media_type == PDF and passage.page_from is not None,
    }
    return render(request, "documents/documents/passage.html", context)


def place_in_address(request: SignedInRequest, passage: Passage) -> tuple[int, int] | None:
    """The place in the passage's text that the address names; None where it names none."""
    texts = request.GET.get("start", ""), request.GET.get("end", "")
    if not all(text.isascii() and text.isdecimal() and len(text) <= 9 for text in texts):
        return None
    start, end = map(int, texts)
    return (start, end) if start < end <= len(passage.text) else None


def _parts(passage: Passage, mark: tuple[int, int] | None) -> tuple[str, str, str]:
    """The text before the marked words, the marked words, and the text after them."""
    if mark is None:
        return passage.text, "", ""
    start, end = mark
    return passage.text[:start], passage.text[start:end], passage.text[end:]


# What staff change ------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def document_edit(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Change what is said of a document, and what its licence allows."""
    document = access.get_managed_document(request.user, slug, public_id)
    status = 200
    if request.method == "POST":
        form = DescribedForm(request.POST)
        status = 422
        if form.is_valid():
            try:
                services.describe_document(document=document, details=details_of(form), licence=licence_of(form))
            except DomainError as error:
                form.add_error(None, str(error))
                status = error.status_code
            else:
                messages.success(request, _("Saved."))
                return redirect("documents:document", slug, public_id)
    else:
        form = DescribedForm(initial={name: getattr(document, name) for name in (*DETAILS, *LICENCE)})
    context = {"benchmark": document.collection.benchmark, "document": document, "form": form}
    return render(request, "documents/documents/edit.html", context, status=status)


@require_POST
@signed_in
def document_retire(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Take a document out of searches."""
    document = access.get_managed_document(request.user, slug, public_id)
    services.retire(document=document, at=timezone.now())
    messages.success(request, _("This document is retired: it is excluded from searches and its citations are marked."))
    return redirect("documents:document", slug, public_id)


@require_POST
@signed_in
def document_restore(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Bring a retired document back into searches."""
    document = access.get_managed_document(request.user, slug, public_id)
    services.restore(document=document)
    messages.success(request, _("This document is in use again."))
    return redirect("documents:document", slug, public_id)
