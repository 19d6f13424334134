"""Pages of runs that code: the list, the form with its preview, and the page of one."""

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
from rubrics.models import Benchmark
from scoring.coding import runs, selectors
from scoring.coding.choosing import size_of
from scoring.coding.forms import CodingForm
from scoring.models import CodingRun
from scoring.pipelines.forms import BudgetForm
from scoring.pipelines.pages import RunPages, problems_of, steps_csv
from scoring.pipelines.selectors import step_progress

NEW = "scoring/coding/new.html"


def _page_words(run: CodingRun) -> dict[str, Any]:
    return {
        "budget_form": BudgetForm(),
        "settings": selectors.settings_of(run),
        "results_by_code": selectors.results_of(run) if run.status not in CodingRun.LIVE else None,
        "book": selectors.book_of(run),
        "candidates": run.frame.get("candidates", []),
        "rater": selectors.rater_of(run),
        "counts": selectors.counting_runs(selectors.book_of(run)).get(run.judge_name) == run,
    }


PAGES = RunPages(
    name="coding",
    model=CodingRun,
    results=gettext_lazy("Answers"),
    runs_on=selectors.runs_on,
    progress_of=step_progress,
    page_words=_page_words,
    defer=("config",),
    resume_run=runs.resume_run,
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def coding_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``from`` fills in the settings of another run."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        earlier = request.GET.get("from")
        initial = selectors.initial_of(PAGES.get(request.user, slug, earlier)) if earlier else {"by_physicians": True}
        return _form_page(request, benchmark, CodingForm(benchmark=benchmark, initial=initial))
    form = CodingForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            run = runs.create_run(
                benchmark=benchmark,
                book=form.chosen_book,
                frame=form.frame(),
                config=form.config(),
                budget=form.chosen_budget,
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("scoring:coding-run", slug, run.public_id)
    return _form_page(request, benchmark, form, status)


def _form_page(request: SignedInRequest, benchmark: Benchmark, form: CodingForm, status: int = 200) -> HttpResponse:
    context = {"benchmark": benchmark, "form": form, "total": len(form.books), "routes": PAGES.routes}
    return render(request, NEW, context, status=status)


@require_POST
@signed_in
def coding_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """The requests that the form would make now, and what they cost at most; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = CodingForm(request.POST, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and form.chosen is not None and form.checked is not None:
        size, budget = size_of(form.chosen, form.checked), form.chosen_budget
        cost = size.cost_at_most
        context |= {
            "size": size,
            "with_findings": form.chosen.with_findings,
            "may_pass_budget": budget is not None and cost is not None and cost > budget,
        }
    else:
        context["problems"] = problems_of(form)
    return render(request, "scoring/coding/_size.html", context)


@require_safe
@signed_in
def coding_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each code that the judge gave, with its evidence."""
    run = PAGES.get(request.user, slug, public_id)
    rows = selectors.csv_rows(run)
    return steps_csv(
        run, rows, selectors.CSV_COLUMNS, text_columns=selectors.CSV_TEXT, what="codes", about=run.judge_name
    )
