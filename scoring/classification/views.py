"""Views of runs that classify: the list, the form with its preview, and the page of one."""

from __future__ import annotations

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
from scoring.acuity.selectors import newest_scale
from scoring.classification import runs, selectors
from scoring.classification.due_choices import ChoiceSize, n_stubs, size_of
from scoring.classification.forms import ClassificationForm, initial_of
from scoring.models import ClassificationRun
from scoring.pipelines.forms import BudgetForm
from scoring.pipelines.pages import RunPages, problems_of, steps_csv

NEW = "scoring/classification/new.html"


def _page_words(run: ClassificationRun) -> dict[str, Any]:
    return {
        "settings": selectors.settings_of(run),
        "ask": selectors.ask_words(run.ask),
        "budget_form": BudgetForm(),
    }


PAGES = RunPages(
    name="classification",
    model=ClassificationRun,
    results=pgettext_lazy("of a candidate", "Readings"),
    runs_on=selectors.runs_on,
    progress_of=selectors.progress_of,
    page_words=_page_words,
    row_words=lambda run: {"ask": selectors.ask_words(run.ask)},
    resume_run=runs.resume_run,
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def classification_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``candidate`` fills in a name, ``from`` the settings of another run."""
    benchmark = get_benchmark(request.user, slug)
    context = {**PAGES.form_context(benchmark), "stubs": n_stubs(benchmark)}
    if request.method != "POST":
        initial = PAGES.initial(request, slug, initial_of)
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


@require_safe
@signed_in
def classification_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each forced choice that the run asks for, with what was answered."""
    run = PAGES.get(request.user, slug, public_id)
    rows = selectors.csv_rows(run)
    return steps_csv(run, rows, selectors.CSV_COLUMNS, text_columns=selectors.CSV_TEXT, what="classify")
