"""Views of "My work": next, returned, waiting, and done work."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation import access
from annotation.selectors.reviews import handed_in
from annotation.selectors.workload import workload
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.models import Benchmark


@require_safe
@signed_in
def work(request: SignedInRequest) -> HttpResponse:
    """The physician's work in all benchmarks."""
    return _page(request, None)


@require_safe
@signed_in
def work_in(request: SignedInRequest, slug: str) -> HttpResponse:
    """The physician's work in one benchmark."""
    return _page(request, access.get_member_benchmark(request.user, slug))


def _page(request: SignedInRequest, benchmark: Benchmark | None) -> HttpResponse:
    load = workload(request.user, benchmark)
    shown, lines = handed_in(request.user, benchmark, page=request.GET.get("page"))
    batches = [row.batch for row in load.batches]
    batches += [*(row.batch for row in load.labels), *(row.batch for row in load.writing)]
    among = {batch.group.benchmark_id for batch in batches}
    context = {
        "load": load,
        "benchmark": benchmark or access.only_benchmark(request.user),
        "several": len(among) > 1,
        "page_obj": shown,
        "handed_in": lines,
    }
    return render(request, "annotation/work/work.html", context)
