"""Named slices: the list with its form, a preview, the cases of one as CSV, retiring one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agreement import access
from agreement.models import NamedSlice
from agreement.reports.tables import Table
from agreement.scoreboard import subsets
from agreement.scoreboard.case_sets import counted_slices
from agreement.scoreboard.filtered import filter_in_words, match
from agreement.scoreboard.forms import FilterForm, SubsetForm
from agreement.selectors.rater_choices import display_name, rater_names
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.models import Benchmark, Case

PAGE = "agreement/subsets/subsets.html"
CASE_COLUMNS = ("case", "difficulty", "register", "language", "tags")


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def slices(request: SignedInRequest, slug: str) -> HttpResponse:
    """The named slices of a benchmark, and the form for another: from scores, or with ``rule=filter`` by a filter."""
    benchmark = get_benchmark(request.user, slug)
    form = _form(request, benchmark)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                named_slice = _save(request, benchmark, form)
            except DomainError as error:
                _refuse(form, error)
                status = error.status_code
            else:
                messages.success(
                    request,
                    _("“%(title)s” has been saved. Scores computed from now on include this slice.")
                    % {"title": named_slice.title},
                )
                return redirect("agreement:slices", slug)
    context = {"benchmark": benchmark, "form": form, "rows": _rows(benchmark)}
    return render(request, PAGE, context | {"by_filter": isinstance(form, FilterForm)}, status=status)


def _form(request: SignedInRequest, benchmark: Benchmark) -> SubsetForm | FilterForm:
    posted = request.POST if request.method == "POST" else None
    if (posted or request.GET).get("rule") == NamedSlice.Rule.FILTER:
        return FilterForm(benchmark, posted, initial=FilterForm.initial_of(request.GET))
    return SubsetForm(benchmark, posted)


def _save(request: SignedInRequest, benchmark: Benchmark, form: SubsetForm | FilterForm) -> NamedSlice:
    naming = {name: form.cleaned_data[name] for name in ("title", "slug")}
    if isinstance(form, FilterForm):
        return subsets.save_filter(
            benchmark=benchmark, filter=form.filter, **naming, by=request.user, at=timezone.now()
        )
    return subsets.draw_up_slice(benchmark=benchmark, **naming, **form.drawing, by=request.user, at=timezone.now())


def _refuse(form: SubsetForm | FilterForm, error: DomainError) -> None:
    """Show the error beside its field, or above the form."""
    name = error.field.removeprefix("filter.")
    form.add_error(name if name in form.fields else None, str(error))


def _rows(benchmark: Benchmark) -> list[dict[str, Any]]:
    """The slices, those on offer first."""
    shown = sorted(
        counted_slices(benchmark).select_related("created_by"),
        key=lambda named_slice: named_slice.retired_at is not None,
    )
    raters = [str(named_slice.parameters.get("rater", "")) for named_slice in shown]
    runs = rater_names(benchmark, raters)
    return [
        {
            "slice": named_slice,
            "n_cases": named_slice.n_cases,
            "rater": display_name(str(named_slice.parameters.get("rater", "")), runs),
            "candidates": named_slice.parameters.get("candidates", []),
            "filter": filter_in_words(named_slice.parameters.get("filter", {})),
        }
        for named_slice in shown
    ]


@require_safe
@signed_in
def slices_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """The cases that the form would select now; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    by_filter = request.GET.get("rule") == NamedSlice.Rule.FILTER
    form = FilterForm(benchmark, request.GET) if by_filter else SubsetForm(benchmark, request.GET)
    form.is_valid()
    context: dict[str, Any] = {"benchmark": benchmark}
    wrong = [str(error) for name, errors in form.errors.items() if name not in ("title", "slug") for error in errors]
    if wrong:
        context["problems"] = wrong
    else:
        try:
            if isinstance(form, FilterForm):
                context["matching"] = match(benchmark=benchmark, filter=form.filter)
            else:
                context["drawn"] = subsets.draw(benchmark=benchmark, **form.drawing)
        except DomainError as refused:
            context["problems"] = [str(refused)]
    return render(request, f"{PAGE}#preview", context)


def case_table(named: NamedSlice) -> Table:
    """The cases of a slice, by key."""
    cases = Case.objects.filter(pk__in=named.case_ids).order_by("key")
    columns = ("key", "difficulty", "register", "language", "tags", "label_tags")
    rows = [
        [key, difficulty, register, language, " ".join(dict.fromkeys([*tags, *label_tags]))]
        for key, difficulty, register, language, tags, label_tags in cases.values_list(*columns)
    ]
    return Table(CASE_COLUMNS, rows, CASE_COLUMNS)


@require_safe
@signed_in
def slice_csv(request: SignedInRequest, slug: str, name: str) -> HttpResponseBase:
    """The cases of a slice as CSV."""
    named = access.get_slice(request.user, slug, name)
    response = StreamingHttpResponse(case_table(named).csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{named.slug}.csv"'
    return response


@require_POST
@signed_in
def slice_retire(request: SignedInRequest, slug: str, name: str) -> HttpResponse:
    """Offer a slice no longer."""
    named = access.get_slice(request.user, slug, name)
    try:
        subsets.retire_slice(named=named, at=timezone.now())
    except DomainError as error:
        messages.error(request, str(error))
    else:
        messages.info(
            request, _("“%(title)s” has been retired. Reports that use it remain unchanged.") % {"title": named.title}
        )
    return redirect("agreement:slices", slug)
