"""Views of contributions and their files, for admins: work, acknowledgement, payment, credentials as counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from annotation.contributions.acknowledgement import acknowledgement_of
from annotation.contributions.counted_work import ITEMS, ROLES, Contributor, Period, contributors, totals
from annotation.contributions.credentials import MIN_CELL, Table, credential_tables
from annotation.contributions.forms import PeriodForm, RatesForm
from annotation.contributions.payment import COLUMNS, TEXT, payment_rows, pseudonyms_of
from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark
from rubrics.models import Benchmark

PER_PAGE = 25
WORK_COLUMNS = ("name", "email", "role", "items", "timed_items", "seconds", "median_seconds", "hours", "first", "last")


def _period(request: SignedInRequest) -> tuple[PeriodForm, Period]:
    form = PeriodForm(request.GET)
    return form, form.period() if form.is_valid() else Period()


@require_safe
@signed_in
def contributions(request: SignedInRequest, slug: str) -> HttpResponse:
    """All of it on one page."""
    return _page(request, get_administered_benchmark(request.user, slug))


def _page(request: SignedInRequest, benchmark: Benchmark, rates: RatesForm | None = None) -> HttpResponse:
    form, period = _period(request)
    if rates is not None and "since" in rates.cleaned_data and "until" in rates.cleaned_data:
        period = rates.period()
        form = PeriodForm({"since": period.since, "until": period.until})
        form.is_valid()
    people = contributors(benchmark, period)
    page = Paginator(people, PER_PAGE).get_page(request.GET.get("page"))
    by_role = totals(people)
    number, tables = credential_tables(benchmark)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "form": form,
        "period": period,
        "page_obj": page,
        "people": [(person, [(ROLES[work.role], ITEMS[work.role], work) for work in person.rows]) for person in page],
        "number": len(people),
        "by_role": [(ITEMS[role], items) for role, items in by_role.items()],
        "thanks": acknowledgement_of(people),
        "rates": rates or RatesForm(initial={"since": period.since, "until": period.until}),
        "roles": list(by_role),
        "tables": tables,
        "physicians": number,
        "fewest": MIN_CELL,
    }
    return render(
        request, "annotation/contributions/contributions.html", context, status=422 if rates is not None else 200
    )


def _csv(slug: str, name: str, pieces: Iterable[str]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-{name}.csv"'
    return response


@require_safe
@signed_in
def contributions_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """A row for each physician and role of the period."""
    benchmark = get_administered_benchmark(request.user, slug)
    _form, period = _period(request)
    rows = _work_rows(contributors(benchmark, period))
    return _csv(slug, "contributions", stream_csv(WORK_COLUMNS, rows, text_columns=("name", "email", "role")))


def _work_rows(people: Iterable[Contributor]) -> Iterator[tuple[object, ...]]:
    for person in people:
        for work in person.rows:
            hours = None if work.hours is None else f"{work.hours:.2f}"
            first, last = (moment.isoformat(timespec="seconds") for moment in (work.first, work.last))
            figures = (work.items, work.timed, work.seconds, work.median, hours, first, last)
            yield (person.name, person.email, work.role, *figures)


@require_safe
@signed_in
def acknowledgement(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The names of those who want to be named, a line each, as text or (``format=csv``) as CSV; others as a number."""
    benchmark = get_administered_benchmark(request.user, slug)
    _form, period = _period(request)
    thanks = acknowledgement_of(contributors(benchmark, period))
    if request.GET.get("format") == "csv":
        return _csv(
            slug, "acknowledgement", stream_csv(("name",), ((n,) for n in thanks.names), text_columns=("name",))
        )
    lines = [*thanks.names, *([thanks.sentence] if thanks.sentence else [])]
    response = HttpResponse("".join(f"{line}\n" for line in lines), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-acknowledgement.txt"'
    return response


@require_POST
@signed_in
def payment_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """What each physician is owed by the rates of the form. Those without a pseudonym get one, hence a POST."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = RatesForm(request.POST)
    if not form.is_valid():
        return _page(request, benchmark, form)
    people = contributors(benchmark, form.period())
    pseudonyms = pseudonyms_of(benchmark=benchmark, users=[person.user for person in people])
    pieces = stream_csv(COLUMNS, payment_rows(people, pseudonyms, form.rates()), text_columns=TEXT)
    return _csv(slug, "payment", pieces)


@require_safe
@signed_in
def credentials_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The counts of the page."""
    benchmark = get_administered_benchmark(request.user, slug)
    _number, tables = credential_tables(benchmark)
    columns = ("credential", "value", "physicians")
    return _csv(slug, "credentials", stream_csv(columns, _credential_rows(tables), text_columns=columns[:2]))


def _credential_rows(tables: Iterable[Table]) -> Iterator[tuple[object, ...]]:
    for table in tables:
        for value, number in table.cells:
            yield (table.name, value, number)
