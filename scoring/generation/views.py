"""Views of generation runs: the list, the form with its trial, and the page of one."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from scoring.endpoint_trials.answering import begin_trial, refuse_trial
from scoring.generation import runs, selectors
from scoring.generation.due_responses import size_of
from scoring.generation.forms import GenerationForm, initial_of
from scoring.models import EndpointTrial, GenerationRun
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.pages import RunPages, problems_of, steps_csv

NEW = "scoring/generation/new.html"
PAGES = RunPages(
    name="generation",
    model=GenerationRun,
    results=gettext_lazy("Responses"),
    runs_on=selectors.runs_on,
    progress_of=selectors.progress_of,
    page_words=lambda run: {"settings": selectors.settings_of(run)},
    resume_run=pipeline_runs.resume_run,
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def generation_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``candidate`` fills in a name, ``from`` the settings of another run."""
    benchmark = get_benchmark(request.user, slug)
    context = PAGES.form_context(benchmark)
    if request.method != "POST":
        initial = PAGES.initial(request, slug, initial_of)
        return render(request, NEW, {**context, "form": GenerationForm(benchmark=benchmark, initial=initial)})
    form = GenerationForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            new_run = runs.create_run(
                benchmark=benchmark,
                candidate=form.cleaned_data["candidate"],
                config=form.config(),
                frame=form.frame(),
                samples=form.cleaned_data["samples"],
                setting=form.setting_name,
                framing=form.cleaned_data["framing"],
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("scoring:generation-run", slug, new_run.public_id)
    return render(request, NEW, {**context, "form": form}, status=status)


@require_POST
@signed_in
def generation_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """The requests that the form would make now; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = GenerationForm(request.POST, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and form.checked is not None:
        context["size"] = size_of(
            benchmark,
            form.known,
            form.frame(),
            form.checked,
            setting=form.setting_name,
            samples=form.cleaned_data["samples"],
        )
    else:
        context["problems"] = problems_of(form)
    return render(request, "scoring/generation/_size.html", context)


@require_POST
@signed_in
def generation_trial(request: SignedInRequest, slug: str) -> HttpResponse:
    """One live request by the form's current values, which a worker sends."""
    benchmark = get_benchmark(request.user, slug)
    form = GenerationForm(request.POST, benchmark=benchmark)
    if not form.is_valid() or form.checked is None:
        return refuse_trial(request, benchmark, problems_of(form))
    return begin_trial(request, benchmark, EndpointTrial.Kind.RESPONSE)


@require_safe
@signed_in
def generation_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each response that the run asks for, with its result but without its text."""
    run = PAGES.get(request.user, slug, public_id)
    rows = selectors.csv_rows(run)
    return steps_csv(run, rows, selectors.CSV_COLUMNS, text_columns=selectors.CSV_TEXT, what="generation")
