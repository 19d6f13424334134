"""Pages of rubric sets, for those who run the benchmark: list, new set, set, comparison of two."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.generic import generic_criteria
from rubrics.models import Benchmark, ImportJob
from rubrics.services import create_import
from rubrics.tables import csv_of
from validation.access import get_rubric_set
from validation.models import RubricSet
from validation.sets import comparison, selectors, services
from validation.sets.forms import FrameForm, PairForm, RubricSetForm, SourceChoice
from validation.sets.frames import steps_of
from validation.sets.storing import SetName

SHOWN_KEYS = 20  # of cases that one of two sets lacks


@require_safe
@signed_in
def rubric_sets(request: SignedInRequest, slug: str) -> HttpResponse:
    """The sets of a benchmark."""
    benchmark = get_benchmark(request.user, slug)
    sets = selectors.rubric_sets(request.user, benchmark)
    return render(request, "validation/sets/sets.html", {"benchmark": benchmark, "sets": sets})


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_set(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose where the criteria come from and which cases the set holds; a POST makes it, or starts the import."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        source = request.GET.get("source", "")
        initial = {
            "source": source if source in SourceChoice.values else SourceChoice.TRACK,
            "run": request.GET.get("run", ""),
        }
        return _form_page(request, benchmark, RubricSetForm(initial=initial, benchmark=benchmark))
    form = RubricSetForm(request.POST, request.FILES, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            return _make(request, benchmark, form)
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
    return _form_page(request, benchmark, form, status)


def _make(request: SignedInRequest, benchmark: Benchmark, form: RubricSetForm) -> HttpResponse:
    """Make the set of a valid form and go to it, or to the import of its file."""
    values = form.cleaned_data
    if values["source"] == SourceChoice.FILE:
        file = values["file"]
        job = create_import(
            benchmark=benchmark,
            kind=ImportJob.Kind.RUBRIC_SET,
            file=file,
            file_name=file.name or "",
            options=form.options(),
            by=request.user,
        )
        return redirect("rubrics:import", benchmark.slug, job.public_id)
    rubric_set = services.make_set(
        benchmark=benchmark,
        name=SetName(values["name"], values["description"]),
        track=form.track_to_copy(),
        run=form.run_to_copy(),
        frame=form.frame(),
        by=request.user,
        at=timezone.now(),
    )
    return redirect("validation:rubric-set", benchmark.slug, rubric_set.public_id)


def _form_page(request: SignedInRequest, benchmark: Benchmark, form: RubricSetForm, status: int = 200) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "form": form,
        "generic": [("en", generic_criteria("en")), ("zh-hans", generic_criteria("zh"))],
    }
    return render(request, "validation/sets/new.html", context, status=status)


@require_safe
@signed_in
def frame(request: SignedInRequest, slug: str) -> HttpResponse:
    """The preview of a new set: how many cases each condition of its frame leaves."""
    benchmark = get_benchmark(request.user, slug)
    form = FrameForm(request.GET, benchmark=benchmark)
    context: dict[str, object] = {"benchmark": benchmark}
    if form.is_valid():
        funnel = selectors.funnel(benchmark, form.frame(), track=form.track_to_copy(), run=form.run_to_copy())
        context |= {
            "steps": funnel.steps,
            "n_cases": len(funnel.cases),
            "of_file": form.cleaned_data["source"] == SourceChoice.FILE,
        }
    else:
        context["problems"] = [message for messages in form.errors.values() for message in messages]
    return render(request, "validation/sets/_funnel.html", context)


@require_safe
@signed_in
def rubric_set(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """A set: where it comes from, its frame, what was mended, and its criteria by case."""
    row = get_rubric_set(request.user, slug, public_id)
    page, cases = selectors.page_of_cases(row, request.GET.get("page"))
    context = {
        "benchmark": row.benchmark,
        "set": row,
        "steps": steps_of(row.frame),
        "mends": selectors.mend_counts(row) if row.mend_count else [],
        "n_criteria": selectors.criterion_count(row) if row.source_id else 0,
        "page_obj": page,
        "cases": cases,
        "n_sets": RubricSet.objects.finished().filter(benchmark=row.benchmark_id).count(),
    }
    return render(request, "validation/sets/set.html", context)


def _file(name: str, pieces: Iterator[str], content_type: str = "text/csv") -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
@signed_in
def items_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The criteria of a set as a table."""
    row = get_rubric_set(request.user, slug, public_id)
    return _file(f"{slug}-rubric-set-{public_id}.csv", csv_of(selectors.ITEM_COLUMNS, selectors.item_rows(row)))


@require_safe
@signed_in
def items_jsonl(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The criteria of a set as JSONL, which makes the same set again."""
    row = get_rubric_set(request.user, slug, public_id)
    return _file(f"{slug}-rubric-set-{public_id}.jsonl", selectors.jsonl_lines(row), "application/jsonl")


@require_safe
@signed_in
def points_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The points of a split set with their criteria; 404 for another set."""
    row = get_rubric_set(request.user, slug, public_id)
    if row.source_id is None:
        raise Http404
    pieces = stream_csv(selectors.POINT_COLUMNS, selectors.point_rows(row), text_columns=selectors.POINT_TEXT)
    return _file(f"{slug}-rubric-set-{public_id}-points.csv", pieces)


@require_safe
@signed_in
def mends_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """What was mended in the file of a set."""
    row = get_rubric_set(request.user, slug, public_id)
    pieces = stream_csv(selectors.MEND_COLUMNS, selectors.mend_rows(row), text_columns=selectors.MEND_TEXT)
    return _file(f"{slug}-rubric-set-{public_id}-mends.csv", pieces)


# Two sets --------------------------------------------------------------------------------------------------------


def _pair(request: SignedInRequest, slug: str, first: str, second: str) -> tuple[RubricSet, RubricSet]:
    return get_rubric_set(request.user, slug, first), get_rubric_set(request.user, slug, second)


@require_safe
@signed_in
def compare(request: SignedInRequest, slug: str) -> HttpResponse:
    """Two sets beside each other; without two sets in the address, the form that chooses them."""
    benchmark = get_benchmark(request.user, slug)
    sets = list(selectors.rubric_sets(request.user, benchmark)[:2])
    context: dict[str, object] = {"benchmark": benchmark, "enough": len(sets) == 2}
    if "first" in request.GET and "second" in request.GET:
        first, second = _pair(request, slug, *(request.GET[name].replace("\x00", "") for name in ("first", "second")))
        context["form"] = PairForm(
            {"first": first.public_id, "second": second.public_id}, user=request.user, benchmark=benchmark
        )
        if first != second:
            result = comparison.compare(first, second)
            context |= {
                "first": first,
                "second": second,
                "comparison": result,
                "alone": [
                    (row, keys[:SHOWN_KEYS], len(keys)) for row, keys in zip((first, second), result.alone, strict=True)
                ],
            }
    elif sets:
        first_id = request.GET.get("first", sets[-1].public_id)
        other = next((row for row in sets if row.public_id != first_id), sets[0])
        initial = {"first": first_id, "second": other.public_id}
        context["form"] = PairForm(initial=initial, user=request.user, benchmark=benchmark)
    return render(request, "validation/sets/compare.html", context)


@require_safe
@signed_in
def compare_csv(request: SignedInRequest, slug: str, first: str, second: str) -> StreamingHttpResponse:
    """The measures of two sets."""
    rows = comparison.compare(*_pair(request, slug, first, second)).csv_rows()
    pieces = stream_csv(comparison.COLUMNS, rows, text_columns=comparison.TEXT_COLUMNS)
    return _file(f"{slug}-rubric-sets-compared.csv", pieces)


@require_safe
@signed_in
def compare_cases_csv(request: SignedInRequest, slug: str, first: str, second: str) -> StreamingHttpResponse:
    """A row for each case of either set."""
    rows = comparison.compare(*_pair(request, slug, first, second)).cases
    pieces = stream_csv(comparison.CASE_COLUMNS, rows, text_columns=comparison.CASE_TEXT)
    return _file(f"{slug}-rubric-sets-cases.csv", pieces)
