"""Views with which staff have responses coded: how far it has come, a new batch, rulings, and the file."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.codes import selectors
from annotation.codes.batches import code_question, make_coding_batch, plan_coding
from annotation.codes.forms import AskForRulingsForm, CodingBatchForm
from annotation.codes.rulings import request_code_rulings
from annotation.services import new_seed
from annotation.services.previews import AlreadyCreated
from annotation.views.previews import checked_fields, errors_in_words, to_existing_batch
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark, get_benchmark, get_code_book, is_admin
from rubrics.models import Benchmark, CodeBook
from rubrics.views.benchmarks import csv_response

PAGE, NEW = "annotation/codes/coding.html", "annotation/codes/new_batch.html"


@require_safe
@signed_in
def coding(request: SignedInRequest, slug: str) -> HttpResponse:
    """How far the coding by a version of the code book has come; ``?version=`` shows another than `shown_book`."""
    benchmark = get_benchmark(request.user, slug)
    return _page(request, benchmark)


def _page(request: SignedInRequest, benchmark: Benchmark, status: int = 200, **more: Any) -> HttpResponse:
    books = selectors.books_of(benchmark)
    chosen = request.GET.get("version", "")
    book = next((book for book in books if str(book.version) == chosen), None)
    if chosen and book is None:
        raise Http404
    book = book or selectors.shown_book(benchmark, books)
    context = {
        "benchmark": benchmark,
        "books": books,
        "book": book,
        "newest": books[0] if books else None,
        "state": selectors.state_of(book) if book else None,
        "administers": is_admin(request.user, benchmark),
        "form": AskForRulingsForm(benchmark=benchmark),
    }
    return render(request, PAGE, context | more, status=status)


@require_POST
@signed_in
def ask_for_rulings(request: SignedInRequest, slug: str, version: int) -> HttpResponse:
    """Give the responses whose codes differ to adjudicators."""
    benchmark = get_administered_benchmark(request.user, slug)
    question = code_question(get_code_book(request.user, slug, version))
    if question is None:
        raise Http404
    form = AskForRulingsForm(request.POST, benchmark=benchmark)
    if not form.is_valid():
        return _page(request, benchmark, 422, form=form)
    try:
        number = request_code_rulings(
            group=form.cleaned_data["group"], question=question, seed=new_seed(), by=request.user, at=timezone.now()
        )
    except DomainError as refused:
        form.add_error(None, str(refused))
        return _page(request, benchmark, refused.status_code, form=form)
    text = ngettext(
        "%(n)d response was given to the adjudicators.", "%(n)d responses were given to the adjudicators.", number
    )
    messages.success(request, text % {"n": number})
    return redirect("annotation:coding", slug)


@require_safe
@signed_in
def codings_csv(request: SignedInRequest, slug: str, version: int) -> StreamingHttpResponse:
    """All codes that physicians gave, under their pseudonyms, and the rulings."""
    book = get_code_book(request.user, slug, version)
    pieces = stream_csv(selectors.CODING_COLUMNS, selectors.coding_rows(book), text_columns=selectors.CODING_TEXT)
    return csv_response(f"{slug}-codes-{version}-given.csv", pieces)


def _newest(benchmark: Benchmark) -> CodeBook:
    book = CodeBook.objects.filter(benchmark=benchmark).order_by("-version").first()
    if book is None:
        raise Http404
    return book


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def batch_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """The form, and giving the responses out."""
    benchmark = get_administered_benchmark(request.user, slug)
    book = _newest(benchmark)
    if request.method != "POST":
        return _new_page(request, book, CodingBatchForm(benchmark=benchmark, initial={"seed": new_seed()}))
    form = CodingBatchForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            batch = make_coding_batch(
                group=form.cleaned_data["group"],
                book=book,
                terms=form.terms(),
                by=request.user,
                at=timezone.now(),
                digest=form.cleaned_data["digest"],
            )
        except AlreadyCreated as repeated:
            return to_existing_batch(request, slug, repeated)
        except DomainError as refused:
            form.add_error(None, str(refused))
            status = refused.status_code
        else:
            messages.success(request, _("The responses have been assigned; the physicians can now see them."))
            return redirect("annotation:batch", slug, batch.public_id)
    return _new_page(request, book, form, status)


def _new_page(request: SignedInRequest, book: CodeBook, form: CodingBatchForm, status: int = 200) -> HttpResponse:
    context = {"benchmark": book.benchmark, "book": book, "form": form, "groups": book.benchmark.groups.count()}
    return render(request, NEW, context, status=status)


@require_safe
@signed_in
def batch_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """Who would get how many responses by the form; nothing is written."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = CodingBatchForm(request.GET, benchmark=benchmark)
    form.fields["title"].required = False
    context: dict[str, Any] = {"benchmark": benchmark, "checked_fields": checked_fields(form)}
    if form.is_valid():
        try:
            context["plan"] = plan_coding(group=form.cleaned_data["group"], book=_newest(benchmark), terms=form.terms())
        except DomainError as refused:
            context["refused"] = refused
    else:
        context["invalid"] = errors_in_words(form)
    return render(request, f"{NEW}#preview", context)
