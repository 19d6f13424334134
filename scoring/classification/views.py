"""Views of runs that classify: the list, the form with its preview, and the page of one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.models import Benchmark, Candidate, Case
from scoring.acuity.selectors import newest_scale
from scoring.classification import runs, selectors
from scoring.classification.due_choices import ChoiceSize, n_stubs, size_of
from scoring.classification.forms import BudgetForm, ClassificationForm, initial_of
from scoring.generation.selectors import counts_of, error_words, frame_words
from scoring.generation.views import problems_of
from scoring.models import ClassificationRun
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.pages import changed, progress_part, steps_csv

NEW = "scoring/classification/new.html"
PER_PAGE = 20


def get_classification(user: User, slug: str, public_id: str) -> ClassificationRun:
    """A run on a benchmark that ``user`` runs, else 404."""
    rows = ClassificationRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(rows.select_related("benchmark", "candidate", "created_by"), public_id=public_id)


@require_safe
@signed_in
def classification(request: SignedInRequest, slug: str) -> HttpResponse:
    """The runs of a benchmark."""
    benchmark = get_benchmark(request.user, slug)
    page = Paginator(selectors.runs_on(benchmark), PER_PAGE).get_page(request.GET.get("page"))
    counts = counts_of(list(page))
    context = {
        "benchmark": benchmark,
        "page": page,
        "page_obj": page,
        "rows": [{"run": run, "counts": counts[run.pk], "ask": selectors.ask_words(run.ask)} for run in page],
    }
    return render(request, "scoring/classification/classification.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def classification_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``candidate`` fills in a name, ``from`` the settings of another run."""
    benchmark = get_benchmark(request.user, slug)
    names = Candidate.objects.filter(benchmark=benchmark, kind=Candidate.Kind.MODEL).values_list("name", flat=True)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "names": names,
        "total": Case.objects.filter(benchmark=benchmark).included().count(),
        "stubs": n_stubs(benchmark),
    }
    if request.method != "POST":
        initial: dict[str, Any] = {"candidate": request.GET.get("candidate", "")}
        if earlier := request.GET.get("from"):
            run = get_classification(request.user, slug, earlier)
            initial = {**initial_of(run.config), "candidate": run.candidate_name, "samples": run.samples}
        return render(request, NEW, {**context, "form": ClassificationForm(benchmark=benchmark, initial=initial)})
    form = ClassificationForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            new_run = runs.create_run(
                benchmark=benchmark,
                candidate=form.cleaned_data["candidate"],
                scale=form.cleaned_data["scale"],
                config=form.config(),
                frame=form.frame(),
                samples=form.cleaned_data["samples"],
                budget=form.cleaned_data["budget"],
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("scoring:classification-run", slug, new_run.public_id)
    return render(request, NEW, {**context, "form": form}, status=status)


def _size(benchmark: Benchmark, form: ClassificationForm) -> ChoiceSize | None:
    if not form.is_valid() or form.checked is None:
        return None
    return size_of(
        benchmark,
        form.known,
        newest_scale(benchmark, form.cleaned_data["scale"]),
        form.frame(),
        form.checked,
        samples=form.cleaned_data["samples"],
    )


@require_POST
@signed_in
def classification_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """The requests that the form would make now, and what they cost at most; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = ClassificationForm(request.POST, benchmark=benchmark)
    size = _size(benchmark, form)
    context: dict[str, Any] = {"benchmark": benchmark, "size": size}
    if size is None:
        context["problems"] = problems_of(form)
    else:
        budget = form.cleaned_data["budget"]
        passes = budget is not None and size.cost_at_most is not None and size.cost_at_most > budget
        context |= {"budget": budget, "may_pass_budget": passes}
    return render(request, "scoring/classification/_size.html", context)


def _context(run: ClassificationRun) -> dict[str, Any]:
    progress = selectors.progress_of(run, at=timezone.now())
    return {
        "benchmark": run.benchmark,
        "run": run,
        "progress": progress,
        "progress_url": reverse("scoring:classification-progress", args=[run.benchmark.slug, run.public_id]),
        "results": _("Readings"),
        "errors": [(kind, error_words(kind), number) for kind, number in progress.errors],
        "resumable": pipeline_runs.may_resume(run) and progress.counts.done < progress.counts.total,
    }


@require_safe
@signed_in
def classification_run(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One run: its progress and its settings."""
    return _page(request, get_classification(request.user, slug, public_id))


def _page(request: SignedInRequest, run: ClassificationRun, refused: DomainError | None = None) -> HttpResponse:
    context = {
        **_context(run),
        "frame": frame_words(run),
        "settings": selectors.settings_of(run),
        "ask": selectors.ask_words(run.ask),
        "budget_form": BudgetForm(),
        "refused": refused,
    }
    return render(request, "scoring/classification/run.html", context, status=refused.status_code if refused else 200)


@require_safe
@signed_in
def classification_progress(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The progress part, which polls while the run is live. When the status changes, the page is reloaded."""
    run = get_classification(request.user, slug, public_id)
    return progress_part(request, run, "scoring/classification/_progress.html", _context(run))


@require_POST
@signed_in
def classification_cancel(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Send no more requests; what was written stays."""
    return _switch(request, slug, public_id, lambda run, at: pipeline_runs.cancel_run(run=run, at=at))


@require_POST
@signed_in
def classification_resume(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Request what is due and what failed, with another budget where one is given."""
    form = BudgetForm(request.POST)
    if not form.is_valid():
        run = get_classification(request.user, slug, public_id)
        return _page(request, run, DomainError("; ".join(map(str, form.errors["budget"]))))
    budget = form.cleaned_data["budget"]
    return _switch(request, slug, public_id, lambda run, at: runs.resume_run(run=run, at=at, budget=budget))


def _switch(
    request: SignedInRequest, slug: str, public_id: str, change: Callable[[ClassificationRun, datetime], None]
) -> HttpResponse:
    return changed(
        lambda: get_classification(request.user, slug, public_id),
        lambda run: change(run, timezone.now()),
        lambda run, refused: _page(request, run, refused),
        view="scoring:classification-run",
        slug=slug,
    )


@require_safe
@signed_in
def classification_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each forced choice that the run asks for, with what was answered."""
    run = get_classification(request.user, slug, public_id)
    rows = selectors.csv_rows(run)
    return steps_csv(run, rows, selectors.CSV_COLUMNS, text_columns=selectors.CSV_TEXT, what="classify")
