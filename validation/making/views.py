"""Pages of runs that make pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.models import Benchmark
from scoring.models import PipelineStep
from scoring.pipelines.forms import BudgetForm
from scoring.pipelines.pages import RunPages, problems_of, steps_csv
from scoring.pipelines.selectors import STATUSES, step_progress
from validation import access
from validation.making import selectors, services
from validation.making.building import size_of
from validation.making.forms import MakingForm
from validation.models import MakingRun, PairGroup

NEW = "validation/making/new.html"
CSV_COLUMNS = (
    *("case", "number", "status", "error_kind", "error", "kind", "find", "replace", "why", "pair"),
    *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
)
CSV_TEXT = CSV_COLUMNS[:10]


def _page_words(run: MakingRun) -> dict[str, Any]:
    group = PairGroup.objects.filter(benchmark=run.benchmark_id, public_id=run.terms.get("group_id", "")).first()
    return {
        "budget_form": BudgetForm(),
        "settings": [(name, json.dumps(value)) for name, value in run.terms.get("settings", {}).items()],
        "group": group,
    }


PAGES = RunPages(
    name="making",
    model=MakingRun,
    results=pgettext_lazy("number of", "Pairs"),
    runs_on=selectors.runs_on,
    progress_of=step_progress,
    page_words=_page_words,
    app="validation",
    defer=("config",),
    resume_run=services.resume_run,
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def making_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``from`` fills in the settings of another run."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        return _form_page(request, benchmark, MakingForm(benchmark=benchmark, initial=_initial(request, slug)))
    form = MakingForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        values = form.cleaned_data
        try:
            run = services.create_run(
                benchmark=benchmark,
                group=values["group"],
                judgements_due=values["judgements"],
                frame=form.frame(),
                candidate=values["candidate"],
                config=form.config(),
                budget=form.chosen_budget,
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("validation:making-run", slug, run.public_id)
    return _form_page(request, benchmark, form, status)


def _form_page(request: SignedInRequest, benchmark: Benchmark, form: MakingForm, status: int = 200) -> HttpResponse:
    return render(request, NEW, {**PAGES.form_context(benchmark), "form": form}, status=status)


def _initial(request: SignedInRequest, slug: str) -> dict[str, Any]:
    if earlier := request.GET.get("from"):
        run = access.get_making_run(request.user, slug, earlier)
        frame = {**run.frame, "draw_seed": run.frame.get("seed"), "cases": run.frame.get("cases") or None}
        terms = {"group": run.group_name, "candidate": run.terms.get("references", ""), "budget": run.budget}
        return {**{name: value for name, value in run.config.items() if name != "cases"}, **frame, **terms}
    return {}


@require_POST
@signed_in
def making_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """The requests that the form would make now, and what they cost at most; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = MakingForm(request.POST, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and form.built is not None:
        size, budget = size_of(form.built), form.chosen_budget
        cost = size.stage.cost_at_most
        context |= {
            "size": size,
            "built": form.built,
            "budget": budget,
            "may_pass_budget": budget is not None and cost is not None and cost > budget,
        }
    else:
        context["problems"] = problems_of(form)
    return render(request, "validation/making/_size.html", context)


@require_safe
@signed_in
def making_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each pair that the run asks for."""
    run = PAGES.get(request.user, slug, public_id)
    return steps_csv(run, _csv_rows(run), CSV_COLUMNS, text_columns=CSV_TEXT, what="pairs")


def _csv_rows(run: MakingRun) -> Iterator[tuple[object, ...]]:
    steps = run.steps.order_by("pk").values_list(
        *("case__key", "key", "state", "error_kind", "error", "output", "near_miss_pair__key"),
        *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
    )
    for case, number, state, error_kind, error, output, pair, *counts, finished_at in steps.iterator(500):
        own: dict[str, Any] = output or {}
        yield (
            *(case, number, STATUSES[PipelineStep.State(state)], error_kind, error),
            *(own.get(name, "") for name in ("kind", "find", "replace", "why")),
            pair or "",
            *counts,
            None if finished_at is None else finished_at.isoformat(timespec="seconds"),
        )
