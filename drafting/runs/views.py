"""Pages of runs of drafting, for those who run the benchmark; and a case of a run, for its authors as well."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.i18n import translate
from drafting import access
from drafting.models import DraftingRun
from drafting.recipes.selectors import newest_recipes
from drafting.runs import selectors, services
from drafting.runs.building import Built, size_of
from drafting.runs.forms import DraftingForm
from drafting.runs.tables import TABLES
from drafting.stage_words import stage_title
from rubrics.access import get_benchmark
from rubrics.models import Benchmark, Case
from rubrics.selectors.conversation import turns_of
from scoring.models import PipelineRun
from scoring.pipelines.forms import BudgetForm
from scoring.pipelines.pages import RunPages, problems_of
from scoring.pipelines.selectors import counts_by_stage, step_progress

NEW = "drafting/runs/new.html"


def _page_words(run: DraftingRun) -> dict[str, Any]:
    words: dict[str, Any] = {"budget_form": BudgetForm(), "stages": _stages(run)}
    words["recipe"] = selectors.recipe_here(run)
    if run.status not in PipelineRun.LIVE:
        drafted, written = selectors.compound_shares(run)
        words |= {"summary": selectors.summary_of(run), "drafted": drafted, "written": written}
        words["tables"] = [(name, f"{name}.csv") for name in TABLES]
    return words


def _stages(run: DraftingRun) -> list[tuple[str, dict[str, int]]]:
    """The stages that the run has, with the number of steps in each state."""
    return [
        (stage_title(stage), {str(state): number for state, number in counts.items()})
        for stage, counts in counts_by_stage(run).items()
        if counts
    ]


PAGES = RunPages(
    name="drafting",
    model=DraftingRun,
    results=gettext_lazy("Steps"),
    runs_on=selectors.runs_on,
    progress_of=step_progress,
    page_words=_page_words,
    app="drafting",
    folder="runs",
    resume_run=services.resume_run,
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def drafting_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``from`` takes recipe and cases of another run, ``recipe`` names a recipe."""
    benchmark = get_benchmark(request.user, slug)
    recipes = list(newest_recipes(benchmark))
    if request.method != "POST":
        form = DraftingForm(benchmark=benchmark, recipes=recipes, initial=_initial(request, slug))
        return _form_page(request, benchmark, form, bool(recipes))
    form = DraftingForm(request.POST, benchmark=benchmark, recipes=recipes)
    status = 422
    if form.is_valid():
        try:
            run = services.create_run(
                benchmark=benchmark,
                recipe=form.cleaned_data["recipe"],
                frame=form.frame(),
                cases=form.chosen,
                budget=form.chosen_budget,
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.add_error(None, translate(error.args[0]))
            status = error.status_code
        else:
            return redirect("drafting:drafting-run", slug, run.public_id)
    return _form_page(request, benchmark, form, bool(recipes), status)


def _form_page(
    request: SignedInRequest, benchmark: Benchmark, form: DraftingForm, has_recipe: bool, status: int = 200
) -> HttpResponse:
    total = Case.objects.filter(benchmark=benchmark).included().count() if has_recipe else 0
    context = {"benchmark": benchmark, "form": form, "total": total, "routes": PAGES.routes, "has_recipe": has_recipe}
    return render(request, NEW, context, status=status)


def _initial(request: SignedInRequest, slug: str) -> dict[str, Any]:
    earlier = request.GET.get("from")
    if not earlier:
        return {"recipe": request.GET.get("recipe", ""), "keys": request.GET.get("case", "")}
    run = access.get_drafting_run(request.user, slug, earlier)
    newest = newest_recipes(run.benchmark).filter(name=run.recipe_name).first()
    frame = {**run.frame, "draw_seed": run.frame.get("seed"), "cases": run.frame.get("cases") or None}
    if not run.frame:  # its cases were named
        frame["keys"] = "\n".join(selectors.case_keys(run))
    return {**frame, "recipe": newest.public_id if newest else "", "budget": run.budget}


@require_POST
@signed_in
def drafting_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """The requests that the form would make now, by stage, and what they cost at most; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = DraftingForm(request.POST, benchmark=benchmark, recipes=list(newest_recipes(benchmark)))
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and form.built is not None:
        context |= _size_words(form.built, form)
    else:
        context["problems"] = problems_of(form)
    return render(request, "drafting/runs/_size.html", context)


def _size_words(built: Built, form: DraftingForm) -> dict[str, Any]:
    size = size_of(built)
    budget, cost = form.chosen_budget, size.cost_at_most
    return {
        "size": size,
        "built": built,
        "stages": [(stage_title(stage.stage), stage) for stage in size.stages],
        "may_pass_budget": budget is not None and cost is not None and cost > budget,
    }


@require_safe
@signed_in
def drafting_cases(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The cases of a run, with what was drafted for each."""
    run = access.get_drafting_run(request.user, slug, public_id)
    page = selectors.cases_page(run, request.GET.get("page"))
    context = {"benchmark": run.benchmark, "run": run, "page": page, "page_obj": page}
    return render(request, "drafting/runs/cases.html", context)


@require_safe
@signed_in
def drafting_case(request: SignedInRequest, slug: str, public_id: str, case: str) -> HttpResponse:
    """A case of a run: what was drafted, the ledger, and each step with its request and answer."""
    run, row = access.get_drafted_case(request.user, slug, public_id, case)
    context = {
        "benchmark": row.benchmark,
        "run": run,
        "case": row,
        "turns": turns_of(row),
        "result": selectors.result_of_case(run, row),
        "steps": selectors.steps_of_case(run, row),
        "is_staff": access.may_order(request.user, row.benchmark),
    }
    return render(request, "drafting/runs/case.html", context)


@require_safe
@signed_in
def drafting_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """What was drafted, a row for each suggestion."""
    return _table(request, slug, public_id, "suggestions")


@require_safe
@signed_in
def drafting_table(request: SignedInRequest, slug: str, public_id: str, table: str) -> StreamingHttpResponse:
    """One of the tables of a run."""
    return _table(request, slug, public_id, table)


def _table(request: SignedInRequest, slug: str, public_id: str, name: str) -> StreamingHttpResponse:
    run = access.get_drafting_run(request.user, slug, public_id)
    table = TABLES.get(name)
    if table is None:
        raise Http404
    hidden = access.hidden_cases(request.user, run.benchmark)
    pieces = stream_csv(table.columns, table.rows(run, hidden), text_columns=table.texts)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{run.benchmark.slug}-{name}-{run.public_id}.csv"'
    return response
