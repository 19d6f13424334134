"""Views of the code book: read, adopt the starter, change a code, import and export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError, FaultsRefused, ImportRefused
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.i18n import translate
from rubrics import access
from rubrics.codes import reading, selectors, services
from rubrics.codes.code import Code
from rubrics.codes.forms import CodeForm, CodesFileForm, initial_of
from rubrics.codes.starter import starter
from rubrics.models import Benchmark, CodeBook
from rubrics.views.benchmarks import csv_response

PAGE, FORM = "rubrics/codes/codes.html", "rubrics/codes/code.html"


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def codes(request: SignedInRequest, slug: str) -> HttpResponse:
    """The newest code book; a POST replaces its codes by those of a file."""
    if request.method != "POST":
        return _page(request, access.get_benchmark(request.user, slug), CodesFileForm())
    benchmark = access.get_administered_benchmark(request.user, slug)
    form = CodesFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, benchmark, form, status=422)
    try:
        book = services.import_codes(
            benchmark=benchmark,
            file=form.cleaned_data["file"],
            by=request.user,
            at=timezone.now(),
            note=form.cleaned_data["note"],
            seen=form.cleaned_data["seen"],
        )
    except ImportRefused as refused:
        return _page(request, benchmark, form, status=refused.status_code, refused=refused)
    except DomainError as error:
        form.add_error(None, str(error))
        return _page(request, benchmark, form, status=error.status_code)
    messages.success(request, _("Saved as version %(version)d.") % {"version": book.version})
    return redirect("rubrics:codes", slug)


def _page(
    request: SignedInRequest, benchmark: Benchmark, form: CodesFileForm, status: int = 200, **more: Any
) -> HttpResponse:
    book = services.newest_book(benchmark)
    form.initial["seen"] = book.digest if book else ""
    context = {
        "benchmark": benchmark,
        "book": book,
        "lines": selectors.lines_of(book) if book else [],
        "history": selectors.history_of(benchmark),
        "form": form,
        "administers": access.is_admin(request.user, benchmark),
        "n_starter": len(starter()),
    }
    return render(request, PAGE, {**context, **more}, status=status)


@require_safe
@signed_in
def version(request: SignedInRequest, slug: str, version: int) -> HttpResponse:
    """An earlier version, to read."""
    book = access.get_code_book(request.user, slug, version)
    context = {"benchmark": book.benchmark, "book": book, "lines": selectors.lines_of(book), "earlier": True}
    return render(request, PAGE, context)


@require_safe
@signed_in
def export(request: SignedInRequest, slug: str, version: int, ending: str) -> StreamingHttpResponse:
    """A version as a file that can be imported again."""
    book = access.get_code_book(request.user, slug, version)
    name = f"{slug}-codes-{version}"
    if ending == "csv":
        return csv_response(f"{name}.csv", reading.as_csv(book.entries))
    if ending != "jsonl":
        raise Http404
    response = StreamingHttpResponse(reading.as_jsonl(book.entries), content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.jsonl"'
    return response


@require_POST
@signed_in
def adopt(request: SignedInRequest, slug: str) -> HttpResponse:
    """Make the starter the code book."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    try:
        services.adopt_starter(benchmark=benchmark, by=request.user, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("The starter is now your code book. Change it as you like."))
    return redirect("rubrics:codes", slug)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def code(request: SignedInRequest, slug: str, key: str = "") -> HttpResponse:
    """A new code, or a change of the one with ``key``."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    book = services.newest_book(benchmark)
    own = next((code for code in book.entries if code.key == key), None) if book else None
    if key and own is None:
        raise Http404
    context = {"benchmark": benchmark, "book": book, "code": own}
    if request.method != "POST":
        initial = (initial_of(own) if own else {}) | {"seen": book.digest if book else ""}
        return render(request, FORM, {**context, "form": CodeForm(initial=initial)})
    form = CodeForm(request.POST)
    if not form.is_valid():
        return render(request, FORM, {**context, "form": form}, status=422)
    entries: Sequence[Code] = services.carried(book) if book else []
    changed = form.code(_was(book, own))
    codes = services.with_code(entries, changed, instead_of=key)
    place = codes.index(changed) + 1
    try:
        saved = services.save_codes(
            benchmark=benchmark,
            codes=codes,
            by=request.user,
            at=timezone.now(),
            note=form.cleaned_data["note"],
            seen=form.cleaned_data["seen"],
        )
    except FaultsRefused as refused:
        for fault in refused.errors:
            named = fault.field if fault.line == place and fault.field in form.fields else None
            form.add_error(named, translate(fault.message))
        return render(request, FORM, {**context, "form": form}, status=refused.status_code)
    except DomainError as error:
        form.add_error(None, str(error))
        return render(request, FORM, {**context, "form": form}, status=error.status_code)
    messages.success(request, _("Saved as version %(version)d.") % {"version": saved.version})
    return redirect("rubrics:codes", slug)


def _was(book: CodeBook | None, own: Code | None) -> tuple[str, ...]:
    """What a changed code continues: in a version that is not used yet, what it did; in the next, itself."""
    if own is None or book is None:
        return ()
    return own.was if book.used_at is None else (own.key,)


@require_POST
@signed_in
def remove(request: SignedInRequest, slug: str, key: str) -> HttpResponse:
    """Take a code out of the newest version; of a used one, out of the next."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    book = services.newest_book(benchmark)
    if book is None or key not in {code.key for code in book.entries}:
        raise Http404
    try:
        saved = services.save_codes(
            benchmark=benchmark,
            codes=services.without_code(services.carried(book), key),
            by=request.user,
            at=timezone.now(),
            seen=request.POST.get("seen", ""),
        )
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("Saved as version %(version)d.") % {"version": saved.version})
    return redirect("rubrics:codes", slug)
