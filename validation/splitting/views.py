"""Pages of runs that split criteria, for those who run the benchmark."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.models import Benchmark
from scoring.models import PipelineRun
from scoring.pipelines.forms import BudgetForm
from scoring.pipelines.pages import RunPages, problems_of, steps_csv
from scoring.pipelines.selectors import step_progress
from validation import access
from validation.models import SplittingRun
from validation.sets.storing import SetName
from validation.splitting import selectors, services
from validation.splitting.building import size_of
from validation.splitting.forms import FreezeForm, SplittingForm

NEW = "validation/splitting/new.html"


def _page_words(run: SplittingRun) -> dict[str, Any]:
    has_ended = run.status not in PipelineRun.LIVE
    cases = selectors.points_of_run(run) if has_ended else []
    return {
        "budget_form": BudgetForm(),
        "settings": [(name, json.dumps(value)) for name, value in run.terms.get("settings", {}).items()],
        "cases": cases,
        "point_counts": selectors.counts_of_points(cases),
        "sets": selectors.sets_of(run),
        "freeze_form": FreezeForm() if has_ended and not run.replay else None,
    }


PAGES = RunPages(
    name="splitting",
    model=SplittingRun,
    results=gettext_lazy("Cases"),
    runs_on=selectors.runs_on,
    progress_of=step_progress,
    page_words=_page_words,
    app="validation",
    defer=("config",),
    hidden=access.hidden_splitting_runs,
    resume_run=services.resume_run,
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def splitting_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``from`` fills in the settings of another run, ``set`` the set."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        return _form_page(
            request, benchmark, SplittingForm(user=request.user, benchmark=benchmark, initial=_initial(request, slug))
        )
    form = SplittingForm(request.POST, user=request.user, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            run = services.create_run(
                benchmark=benchmark,
                gold=form.gold_set,
                config=form.config(),
                budget=form.chosen_budget,
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("validation:splitting-run", slug, run.public_id)
    return _form_page(request, benchmark, form, status)


def _form_page(request: SignedInRequest, benchmark: Benchmark, form: SplittingForm, status: int = 200) -> HttpResponse:
    context = {"benchmark": benchmark, "form": form, "total": len(form.known), "routes": PAGES.routes}
    return render(request, NEW, context, status=status)


def _initial(request: SignedInRequest, slug: str) -> dict[str, Any]:
    if earlier := request.GET.get("from"):
        run = access.get_splitting_run(request.user, slug, earlier)
        return {**run.config, "gold": run.terms.get("gold_id", ""), "budget": run.budget}
    return {"gold": request.GET.get("set", "")}


@require_POST
@signed_in
def splitting_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """The requests that the form would make now, and what they cost at most; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = SplittingForm(request.POST, user=request.user, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and form.built is not None:
        size, budget = size_of(form.built), form.chosen_budget
        cost = size.stage.cost_at_most
        may_pass = budget is not None and cost is not None and cost > budget
        context |= {"size": size, "built": form.built, "budget": budget, "may_pass_budget": may_pass}
    else:
        context["problems"] = problems_of(form)
    return render(request, "validation/splitting/_size.html", context)


@require_POST
@signed_in
def splitting_freeze(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Make a rubric set of the points as they are now, and go to it."""
    run = PAGES.get(request.user, slug, public_id)
    form = FreezeForm(request.POST)
    if not form.is_valid():
        return PAGES.page(request, run, DomainError("; ".join(problems_of(form))))
    name = SetName(form.cleaned_data["name"], form.cleaned_data["description"])
    try:
        rubric_set = services.freeze(run=run, name=name, by=request.user, at=timezone.now())
    except DomainError as error:
        return PAGES.page(request, run, error)
    return redirect("validation:rubric-set", slug, rubric_set.public_id)


@require_safe
@signed_in
def splitting_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each point as it is now."""
    run = PAGES.get(request.user, slug, public_id)
    rows = selectors.point_rows(selectors.points_of_run(run))
    return steps_csv(run, rows, selectors.COLUMNS, text_columns=selectors.TEXT_COLUMNS, what="points")
