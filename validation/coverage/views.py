"""Pages of runs of coverage, for those who run the benchmark; and the page on which physicians decide."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.models import Benchmark
from rubrics.selectors.conversation import turns_of
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.forms import BudgetForm
from scoring.pipelines.pages import RunPages, problems_of, steps_csv
from scoring.pipelines.selectors import STATUSES, step_progress
from validation import access
from validation.coverage import selectors, services
from validation.coverage.building import FEW_CASES, Built, size_of
from validation.coverage.forms import CoverageForm
from validation.models import CoverageDecision, CoverageRun
from validation.skipping import next_page, refusal, skip_decision

NEW = "validation/coverage/new.html"
MAX_SKIPS = 100  # that the page of a run lists
CSV_COLUMNS = (
    *("case", "stage", "key", "status", "error_kind", "error", "extent", "by", "why", "fault", "decision"),
    *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
)
CSV_TEXT = CSV_COLUMNS[:11]
STAGE_WORDS = {
    "coverage": gettext_lazy("Gold points against sets"),
    "controls": gettext_lazy("Controls"),
    "coverage_back": gettext_lazy("Criteria against gold points"),
}


def _page_words(run: CoverageRun) -> dict[str, Any]:
    ended = run.status not in PipelineRun.LIVE
    skips = selectors.skips_of(run)
    return {
        "budget_form": BudgetForm(),
        "queue": selectors.queue_counts([run.pk])[run.pk],
        "skips": skips[:MAX_SKIPS],
        "n_skips": skips.count(),
        "split": run.terms.get("split"),
        "may_ask": ended and not run.replay,
        "cases": selectors.case_rows(run, len(run.set_names)) if ended else [],
        "settings": [(name, json.dumps(value)) for name, value in run.terms.get("settings", {}).items()],
    }


PAGES = RunPages(
    name="coverage",
    model=CoverageRun,
    results=gettext_lazy("Answers"),
    runs_on=selectors.runs_on,
    progress_of=step_progress,
    page_words=_page_words,
    app="validation",
    defer=("config",),
    resume_run=services.resume_run,
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def coverage_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``from`` fills in the settings of another run, ``set`` a set to measure."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        form = CoverageForm(user=request.user, benchmark=benchmark, initial=_initial(request, slug))
        return _form_page(request, benchmark, form)
    form = CoverageForm(request.POST, user=request.user, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            run = services.create_run(
                benchmark=benchmark,
                gold=form.gold_set,
                sets=form.measured,
                config=form.config(),
                budget=form.chosen_budget,
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("validation:coverage-run", slug, run.public_id)
    return _form_page(request, benchmark, form, status)


def _form_page(request: SignedInRequest, benchmark: Benchmark, form: CoverageForm, status: int = 200) -> HttpResponse:
    context = {"benchmark": benchmark, "form": form, "total": len(form.known) > 1, "routes": PAGES.routes}
    return render(request, NEW, context, status=status)


def _initial(request: SignedInRequest, slug: str) -> dict[str, Any]:
    if earlier := request.GET.get("from"):
        run = access.get_coverage_run(request.user, slug, earlier)
        config = run.config
        sets = [own["id"] for own in config["sets"]]
        return {**config, "gold": config["gold"]["id"], "sets": sets, "budget": run.budget}
    return {"sets": request.GET.getlist("set")}


@require_POST
@signed_in
def coverage_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """The requests that the form would make now, by stage, and what they cost at most; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = CoverageForm(request.POST, user=request.user, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and form.built is not None:
        context |= _size_words(form.built, form)
    else:
        context["problems"] = problems_of(form)
    return render(request, "validation/coverage/_size.html", context)


def _size_words(built: Built, form: CoverageForm) -> dict[str, Any]:
    size = size_of(built)
    budget, cost = form.chosen_budget, size.cost_at_most
    return {
        "size": size,
        "built": built,
        "stages": [(STAGE_WORDS[stage.stage], stage) for stage in size.stages],
        "lacking": list(built.lacking.items()),
        "few_cases": size.cases < FEW_CASES,
        "budget": budget,
        "may_pass_budget": budget is not None and cost is not None and cost > budget,
    }


@require_POST
@signed_in
def coverage_ask(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Ask physicians about the answers of a run that they decide on."""
    run = PAGES.get(request.user, slug, public_id)
    try:
        number = services.ask_physicians(run=run, at=timezone.now())
    except DomainError as error:
        return PAGES.page(request, run, error)
    if number:
        text = ngettext("%(n)s question for physicians to decide.", "%(n)s questions for physicians to decide.", number)
        messages.success(request, text % {"n": number})
    else:
        messages.info(request, _("There are no further questions for physicians."))
    return redirect("validation:coverage-run", slug, public_id)


@require_safe
@signed_in
def coverage_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each answer that the run asks for."""
    run = PAGES.get(request.user, slug, public_id)
    return steps_csv(run, _csv_rows(run), CSV_COLUMNS, text_columns=CSV_TEXT, what="coverage")


def _csv_rows(run: CoverageRun) -> Iterator[tuple[object, ...]]:
    steps = run.steps.order_by("pk").values_list(
        *("case__key", "stage", "key", "state", "error_kind", "error", "output", "coverage_decision__answer"),
        *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
    )
    for case, stage, key, state, error_kind, error, output, decision, *counts, finished_at in steps.iterator(500):
        own: dict[str, Any] = output or {}
        yield (
            *(case, stage, key, STATUSES[PipelineStep.State(state)], error_kind, error),
            *(own.get("extent", ""), " ".join(map(str, own.get("by", []))), own.get("why", ""), own.get("fault", "")),
            decision or "",
            *counts,
            None if finished_at is None else finished_at.isoformat(timespec="seconds"),
        )


@require_safe
@signed_in
def coverage_case(request: SignedInRequest, slug: str, public_id: str, case: str) -> HttpResponse:
    """A case of a run: which gold points each set covers, what it lacks, and which criteria are extra."""
    run, own = access.get_covered_case(request.user, slug, public_id, case)
    covered = selectors.case_coverage(run, own)
    if covered is None:
        raise Http404
    context = {
        "benchmark": run.benchmark,
        "run": run,
        "case": own,
        "covered": covered,
        "turns": turns_of(own),
        "is_staff": Benchmark.objects.run_by(request.user).filter(pk=run.benchmark_id).exists(),
    }
    return render(request, "validation/coverage/case.html", context)


# Physicians --------------------------------------------------------------------------------------------------------


@require_safe
@signed_in
def queue(request: SignedInRequest, slug: str) -> HttpResponse:
    """The next question, or why there is none."""
    benchmark = access.get_deciding_benchmark(request.user, slug)
    first = selectors.open_decisions(benchmark, request.user).first()
    if first is not None:
        return redirect("validation:coverage-decision", slug, first.public_id)
    context = {
        "benchmark": benchmark,
        "counts": selectors.own_counts(benchmark, request.user),
        "last": selectors.own_decisions(benchmark, request.user).first(),
    }
    return render(request, "validation/coverage/queue.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def decision(request: SignedInRequest, slug: str, decision: str) -> HttpResponse:
    """One question to a physician; a POST stores the answer and goes on to the next."""
    row = access.get_coverage_decision(request.user, slug, decision)
    refused = None
    if request.method == "POST":
        try:
            services.decide(decision=row, answer=request.POST.get("answer", ""), by=request.user, at=timezone.now())
        except DomainError as error:
            if (response := refusal(request, error, "validation:coverage-queue", slug)) is not None:
                return response
            refused = error
        else:
            return next_page(request, "validation:coverage-queue", slug)
    return _decision_page(request, row, refused)


@require_POST
@signed_in
def skip(request: SignedInRequest, slug: str, decision: str) -> HttpResponse:
    """Leave a question to others; it does not come back to this physician."""
    row = access.get_coverage_decision(request.user, slug, decision)
    reason = request.POST.get("reason", "").replace("\x00", "")
    try:
        skip_decision(decision=row, reason=reason, by=request.user, at=timezone.now())
    except DomainError as error:
        response = refusal(request, error, "validation:coverage-queue", slug)
        return response or _decision_page(request, row, error)
    return next_page(request, "validation:coverage-queue", slug)


def _decision_page(request: SignedInRequest, row: CoverageDecision, refused: DomainError | None) -> HttpResponse:
    question = selectors.question_of(row)
    decided = CoverageDecision.objects.decided().filter(run=row.run_id, decided_by=request.user).exclude(pk=row.pk)
    if row.decided_at is not None:
        decided = decided.filter(decided_at__lt=row.decided_at)
    context = {
        "benchmark": row.run.benchmark,
        "question": question,
        "turns": turns_of(question.case),
        "counts": selectors.own_counts(row.run.benchmark, request.user),
        "earlier": decided.order_by("-decided_at", "-pk").first(),
        "refused": refused,
    }
    status = refused.status_code if refused else 200
    return render(request, "validation/coverage/decision.html", context, status=status)
