"""Views of generation runs: the list, the form with its trial, and the page of one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.forms import Form
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.i18n import translate
from rubrics.access import get_benchmark
from rubrics.models import Candidate, Case
from scoring.generation import runs, selectors
from scoring.generation.due_responses import size_of
from scoring.generation.forms import GenerationForm, initial_of
from scoring.generation.trial import try_once
from scoring.models import GenerationRun
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.pages import changed, progress_part, steps_csv

NEW = "scoring/generation/new.html"
PER_PAGE = 20


def get_generation(user: User, slug: str, public_id: str) -> GenerationRun:
    """A run on a benchmark that ``user`` runs, else 404."""
    rows = GenerationRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(rows.select_related("benchmark", "candidate", "created_by"), public_id=public_id)


@require_safe
@signed_in
def generation(request: SignedInRequest, slug: str) -> HttpResponse:
    """The runs of a benchmark."""
    benchmark = get_benchmark(request.user, slug)
    page = Paginator(selectors.runs_on(benchmark), PER_PAGE).get_page(request.GET.get("page"))
    counts = selectors.counts_of(list(page))
    context = {
        "benchmark": benchmark,
        "page": page,
        "page_obj": page,
        "rows": [{"run": run, "counts": counts[run.pk]} for run in page],
    }
    return render(request, "scoring/generation/generation.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def generation_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``candidate`` fills in a name, ``from`` the settings of another run."""
    benchmark = get_benchmark(request.user, slug)
    names = Candidate.objects.filter(benchmark=benchmark, kind=Candidate.Kind.MODEL).values_list("name", flat=True)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "names": names,
        "total": Case.objects.filter(benchmark=benchmark).included().count(),
    }
    if request.method != "POST":
        initial: dict[str, Any] = {"candidate": request.GET.get("candidate", "")}
        if earlier := request.GET.get("from"):
            run = get_generation(request.user, slug, earlier)
            initial = {**initial_of(run.config), "candidate": run.candidate_name, "samples": run.samples}
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


def problems_of(form: Form) -> list[str]:
    """What is wrong with a form, each with the label of its field."""
    return [
        f"{form.fields[name].label}: {error}" if name in form.fields else str(error)
        for name, errors in form.errors.items()
        for error in errors
    ]


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
    """One live request by the form's current values; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = GenerationForm(request.POST, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and form.checked is not None:
        try:
            trial = try_once(benchmark, form.frame(), form.checked, candidate=form.cleaned_data["candidate"])
        except DomainError as refused:
            context["problems"] = [translate(refused.args[0])]
        else:
            context |= {"trial": trial, "words": selectors.error_words(trial.answer.kind)}
    else:
        context["problems"] = problems_of(form)
    return render(request, "scoring/generation/_trial.html", context)


def _context(run: GenerationRun) -> dict[str, Any]:
    progress = selectors.progress_of(run, at=timezone.now())
    return {
        "benchmark": run.benchmark,
        "run": run,
        "progress": progress,
        "progress_url": reverse("scoring:generation-progress", args=[run.benchmark.slug, run.public_id]),
        "results": _("Responses"),
        "errors": [(kind, selectors.error_words(kind), number) for kind, number in progress.errors],
        "resumable": pipeline_runs.may_resume(run) and progress.counts.done < progress.counts.total,
    }


@require_safe
@signed_in
def generation_run(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One run: its progress and its settings."""
    return _page(request, get_generation(request.user, slug, public_id))


def _page(request: SignedInRequest, run: GenerationRun, refused: DomainError | None = None) -> HttpResponse:
    context = {
        **_context(run),
        "frame": selectors.frame_words(run),
        "settings": selectors.settings_of(run),
        "refused": refused,
    }
    return render(request, "scoring/generation/run.html", context, status=refused.status_code if refused else 200)


@require_safe
@signed_in
def generation_progress(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The progress part, which polls while the run is live. When the status changes, the page is reloaded."""
    run = get_generation(request.user, slug, public_id)
    return progress_part(request, run, "scoring/generation/_progress.html", _context(run))


@require_POST
@signed_in
def generation_cancel(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Send no more requests; what was written stays."""
    return _switch(request, slug, public_id, lambda run, at: pipeline_runs.cancel_run(run=run, at=at))


@require_POST
@signed_in
def generation_resume(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Request what is due and what failed."""
    return _switch(request, slug, public_id, lambda run, at: pipeline_runs.resume_run(run=run, at=at))


def _switch(
    request: SignedInRequest, slug: str, public_id: str, change: Callable[[GenerationRun, datetime], None]
) -> HttpResponse:
    return changed(
        lambda: get_generation(request.user, slug, public_id),
        lambda run: change(run, timezone.now()),
        lambda run, refused: _page(request, run, refused),
        view="scoring:generation-run",
        slug=slug,
    )


@require_safe
@signed_in
def generation_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each response that the run asks for, with its result but without its text."""
    run = get_generation(request.user, slug, public_id)
    rows = selectors.csv_rows(run)
    return steps_csv(run, rows, selectors.CSV_COLUMNS, text_columns=selectors.CSV_TEXT, what="generation")
