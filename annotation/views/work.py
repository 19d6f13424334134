"""Views of "My work": what waits by due date, why nothing does, and what was submitted."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation import access, navigation
from annotation.selectors.reviews import handed_in
from annotation.selectors.workload import workload
from annotation.todo import task_of, todo_rows
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.todo import seconds_of, todos_of
from rubrics.models import Benchmark


@require_safe
@signed_in
def work(request: SignedInRequest) -> HttpResponse:
    """The physician's work in all benchmarks."""
    return _page(request, None)


@require_safe
@signed_in
def work_in(request: SignedInRequest, slug: str) -> HttpResponse:
    """The physician's work in one benchmark, or what they submitted before their work there ended."""
    return _page(request, access.get_benchmark_of_work(request.user, slug))


def _page(request: SignedInRequest, benchmark: Benchmark | None) -> HttpResponse:
    load = workload(request.user, benchmark)
    shown, lines = handed_in(request.user, benchmark, page=request.GET.get("page"))
    # What other apps have for this person comes last: it has no due date.
    others = todos_of(request.user, without=navigation.todos)
    rows = todo_rows(load)
    rows += [(todo, None) for todo in others if benchmark is None or todo.slug == benchmark.slug]
    listed = {part.batch.pk for _todo, part in rows if part is not None}
    batches = [row.batch for row in load.batches]
    batches += [*(row.batch for row in load.labels), *(row.batch for row in load.writing)]
    among = {batch.group.benchmark.title for batch in batches} | {*load.checks_in, *load.adjudications_in}
    context = {
        "load": load,
        "rows": rows,
        "seconds": seconds_of(todo for todo, _part in rows),
        "other_batches": [work for work in load.current if work.batch.pk not in listed],
        "other_cases": [(work, task_of(work)) for work in (*load.labels, *load.writing) if work.batch.pk not in listed],
        "benchmark": benchmark or access.only_benchmark(request.user),
        "within": benchmark,
        "several": len(among) > 1,
        "page_obj": shown,
        "handed_in": lines,
    }
    return render(request, "annotation/work/work.html", context)
