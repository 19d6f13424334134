"""Pages of runs of trials."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
from scoring.models import PipelineStep
from scoring.pipelines.forms import BudgetForm
from scoring.pipelines.pages import RunPages, problems_of, steps_csv
from scoring.pipelines.selectors import STATUSES, step_progress
from validation import access
from validation.coverage.building import FEW_CASES
from validation.models import PairGroup, TrialRun
from validation.trials import selectors, services
from validation.trials.building import Built, Which, size_of
from validation.trials.config import trial_config
from validation.trials.content import WITHOUT, Trial
from validation.trials.forms import TrialForm
from validation.trials.inputs import NO_RUBRIC_NAME

NEW = "validation/trials/new.html"
CSV_COLUMNS = (
    *("case", "pair", "set", "order", "trial", "status", "error_kind", "error", "total_ref", "total_cand"),
    *("stated", "decision", "met_ref", "met_cand", "tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
)
CSV_TEXT = (*CSV_COLUMNS[:4], *CSV_COLUMNS[5:8], "stated", "decision", "met_ref", "met_cand")
STAGE_WORDS = {
    "side_by_side": gettext_lazy("Side by side, by criteria"),
    "no_rubric": gettext_lazy("Side by side, without a rubric"),
}


def _page_words(run: TrialRun) -> dict[str, Any]:
    which = run.frame.get("which", "")
    return {
        "budget_form": BudgetForm(),
        "settings": [(name, json.dumps(value)) for name, value in run.terms.get("settings", {}).items()],
        "groups": run.frame.get("groups", []),
        "which": Which(which).label if which in Which.values else "",
    }


PAGES = RunPages(
    name="trial",
    model=TrialRun,
    results=gettext_lazy("Trials"),
    runs_on=selectors.runs_on,
    progress_of=step_progress,
    page_words=_page_words,
    app="validation",
    defer=("config",),
    folder="trials",
    resume_run=services.resume_run,
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def pair_run_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``from`` fills in the settings of another run, ``set`` a set to try."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        return _form_page(
            request, benchmark, TrialForm(user=request.user, benchmark=benchmark, initial=_initial(request, slug))
        )
    form = TrialForm(request.POST, user=request.user, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            run = services.create_run(
                benchmark=benchmark,
                groups=form.chosen_groups,
                which=form.cleaned_data["which"],
                sets=form.chosen_sets,
                config=form.config(),
                budget=form.chosen_budget,
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("validation:trial-run", slug, run.public_id)
    return _form_page(request, benchmark, form, status)


def _form_page(request: SignedInRequest, benchmark: Benchmark, form: TrialForm, status: int = 200) -> HttpResponse:
    context = {"benchmark": benchmark, "form": form, "total": len(form.known_groups), "routes": PAGES.routes}
    return render(request, NEW, context, status=status)


def _initial(request: SignedInRequest, slug: str) -> dict[str, Any]:
    if earlier := request.GET.get("from"):
        run = access.get_trial_run(request.user, slug, earlier)
        groups = PairGroup.objects.filter(benchmark=run.benchmark_id, name__in=run.frame.get("groups", []))
        return {
            **{name: value for name, value in run.config.items() if name != "cases"},
            "sets": [own["id"] for own in run.config["sets"]],
            "groups": list(groups.values_list("public_id", flat=True)),
            "which": run.frame.get("which", Which.CONFIRMED),
            "budget": run.budget,
        }
    return {"sets": request.GET.getlist("set"), "groups": request.GET.getlist("group")}


@require_POST
@signed_in
def pair_run_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """The requests that the form would make now, by stage, and what they cost at most; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = TrialForm(request.POST, user=request.user, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and form.built is not None:
        context |= _size_words(form.built, form)
    else:
        context["problems"] = problems_of(form)
    return render(request, "validation/trials/_size.html", context)


def _size_words(built: Built, form: TrialForm) -> dict[str, Any]:
    size = size_of(built)
    budget, cost = form.chosen_budget, size.cost_at_most
    return {
        "size": size,
        "built": built,
        "stages": [(STAGE_WORDS[stage.stage], stage) for stage in size.stages],
        "lacking": list(built.lacking.items()),
        "few_cases": size.cases < FEW_CASES,
        "may_pass_budget": budget is not None and cost is not None and cost > budget,
    }


@require_safe
@signed_in
def pair_run_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each trial that the run asks for."""
    run = PAGES.get(request.user, slug, public_id)
    return steps_csv(run, _csv_rows(run), CSV_COLUMNS, text_columns=CSV_TEXT, what="trials")


def _csv_rows(run: TrialRun) -> Iterator[tuple[object, ...]]:
    config = trial_config(run.config, may_call=False)
    steps = run.steps.order_by("pk").values_list(
        *("case__key", "key", "state", "error_kind", "error", "output"),
        *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
    )
    for case, key, state, error_kind, error, output, *counts, finished_at in steps.iterator(500):
        own: dict[str, Any] = output or {}
        trial = Trial.of(key)
        yield (
            case,
            config.content.cases[config.place_of[case]].pairs[trial.pair].key,
            NO_RUBRIC_NAME if trial.series == WITHOUT else config.sets[int(trial.series)].name,
            "ref_first" if trial.is_reference_first else "cand_first",
            trial.number,
            *(STATUSES[PipelineStep.State(state)], error_kind, error),
            *(own.get(name, "") for name in ("total_reference", "total_candidate", "stated", "decision")),
            *(_met(own.get(name)) for name in ("met_reference", "met_candidate")),
            *counts,
            None if finished_at is None else finished_at.isoformat(timespec="seconds"),
        )


def _met(values: list[bool] | None) -> str:
    """The numbers of the criteria that are met."""
    return " ".join(str(number) for number, is_met in enumerate(values or [], start=1) if is_met)
