"""Views of a case's rubric versions: the history, and the comparison of two."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access, cited, origins
from rubrics.consequences import consequences
from rubrics.models import Benchmark, Case, Rubric
from rubrics.origins import ShownSuggestion
from rubrics.versions import selectors
from rubrics.versions.diff import Diff, Kind
from rubrics.versions.review_views import editor_address
from rubrics.views.benchmarks import csv_response


@require_safe
@signed_in
def history(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Every version with who wrote and who approved it."""
    case = access.get_case_to_write(request.user, slug, public_id)
    rows = selectors.history(case)
    for row in rows:
        if origins.is_hidden_from(request.user, row.rubric):
            row.origins.clear()
    current = next((row for row in rows if row.rubric.status == Rubric.Status.PUBLISHED), None)
    runs = Benchmark.objects.run_by(request.user).filter(pk=case.benchmark_id).exists()
    context = {
        "benchmark": case.benchmark,
        "case": case,
        "versions": rows,
        "editor": editor_address(case),
        "runs": runs,
        "consequences": consequences(case, current.rubric) if current is not None and runs else [],
    }
    return render(request, "rubrics/versions/history.html", context)


@require_safe
@signed_in
def diff(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Two versions side by side; by default the newest and the one before it."""
    case = access.get_case_to_write(request.user, slug, public_id)
    before, after, every = _chosen(request, case)
    difference = selectors.difference(before, after)
    only = request.GET.get("show") == "changes"
    runs = Benchmark.objects.run_by(request.user).filter(pk=case.benchmark_id).exists()
    counts = after.status in (Rubric.Status.PUBLISHED, Rubric.Status.SUPERSEDED)
    context = {
        "benchmark": case.benchmark,
        "case": case,
        "before": before,
        "after": after,
        "every": every,
        "diff": difference,
        "cited": cited.describe(case.benchmark, difference.citations),
        "suggested": _suggested(request, case, difference, before, after),
        "lines": [
            {"line": line, "word": selectors.kind_words()[line.kind]}
            for line in (difference.differing if only else difference.lines)
        ],
        "only": only,
        "kinds": Kind,
        "runs": runs,
        "consequences": consequences(case, after) if counts and runs else [],
    }
    return render(request, "rubrics/versions/diff.html", context)


def _suggested(
    request: SignedInRequest, case: Case, difference: Diff, *rubrics: Rubric | None
) -> Mapping[str, ShownSuggestion] | None:
    """The suggestions that criteria began as; None where the reader must not see them."""
    if any(origins.is_hidden_from(request.user, rubric) for rubric in rubrics):
        return None
    return origins.describe(case.benchmark, difference.suggestions)


@require_safe
@signed_in
def diff_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The comparison as a file."""
    case = access.get_case_to_write(request.user, slug, public_id)
    before, after, _every = _chosen(request, case)
    rows = selectors.csv_rows(selectors.difference(before, after))
    name = f"{case.public_id}-v{before.version if before else 0}-v{after.version}.csv"
    return csv_response(name, stream_csv(selectors.CSV_COLUMNS, rows, text_columns=selectors.CSV_TEXT))


def _chosen(request: SignedInRequest, case: Case) -> tuple[Rubric | None, Rubric, list[Rubric]]:
    """The two versions that the address names (``from``, ``to``), and all versions; 404 where one does not exist."""
    every = list(selectors.versions_of(case))
    if not every:
        raise Http404
    by_number = {rubric.version: rubric for rubric in every}
    after = by_number.get(_number(request.GET.get("to"), every[0].version))
    if after is None:
        raise Http404
    earlier = [rubric for rubric in every if rubric.version < after.version]
    default = earlier[0].version if earlier else 0
    number = _number(request.GET.get("from"), default)
    if number and number not in by_number:
        raise Http404
    return by_number.get(number), after, every


def _number(value: str | None, default: int) -> int:
    if value is None or value == "":
        return default
    if not value.isascii() or not value.isdigit() or len(value) > 9:
        raise Http404
    return int(value)
