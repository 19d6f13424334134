"""Views of runs: the form that starts one, and the page of its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from scoring import access
from scoring.forms import ResumeForm, RunForm
from scoring.models import JudgeRun
from scoring.runs import continuing, services
from scoring.runs.comparing_views import beside
from scoring.runs.spending import estimate, spending_of
from scoring.runs.started import to_started_run
from scoring.selectors import judges_and_runs
from scoring.susceptibility.failing_pairs import reference_label

NEW = "scoring/runs/new.html"


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_run(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``judge``, ``batch``, ``candidate`` and ``with_bases`` fill in the form."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        initial: dict[str, Any] = {name: request.GET.get(name, "") for name in ("judge", "batch")}
        initial["candidates"] = request.GET.getlist("candidate")
        initial["with_bases"] = "with_bases" in request.GET
        form = RunForm(benchmark=benchmark, user=request.user, also=initial["judge"], initial=initial)
        return render(request, NEW, {"benchmark": benchmark, "form": form})
    form = RunForm(request.POST, benchmark=benchmark, user=request.user, also=request.POST.get("judge", ""))
    status = 422
    if form.is_valid():
        try:
            run, is_new = services.start_run(
                benchmark=benchmark,
                judge=form.chosen,
                frame=form.frame(),
                **asdict(form.terms()),
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            return to_started_run(request, run, is_new=is_new)
    return render(request, NEW, {"benchmark": benchmark, "form": form}, status=status)


@require_safe
@signed_in
def run_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """How many responses and verdicts the form would request now; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = RunForm(request.GET, benchmark=benchmark, user=request.user, also=request.GET.get("judge", ""))
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid():
        try:
            frame, terms = form.frame(), form.terms()
            levels = form.chosen.kind_info.reads_levels
            size = services.frame_size(benchmark=benchmark, frame=frame, replicates=terms.replicates, levels=levels)
            services.check_budget(form.chosen, terms.budget)
            context["size"], context["judge"] = size, form.chosen
            context["estimate"] = estimate(
                benchmark=benchmark, judge=form.chosen, frame=frame, size=size, replicates=terms.replicates
            )
            likely = context["estimate"]
            context["over_budget"] = bool(terms.budget and likely and likely.money and likely.money > terms.budget)
        except DomainError as refused:
            context["problems"] = [str(refused)]
    else:
        context["problems"] = [str(error) for errors in form.errors.values() for error in errors]
    return render(request, "scoring/runs/_size.html", context)


def _context(run: JudgeRun) -> dict[str, Any]:
    return {
        "benchmark": run.benchmark,
        "run": run,
        "progress": judges_and_runs.progress_of(run, at=timezone.now()),
        "spending": spending_of([run])[run.pk],
        "resumable": run.status in services.RESUMABLE and not run.imported,
        "cancellable": run.status in (JudgeRun.Status.PENDING, JudgeRun.Status.RUNNING, JudgeRun.Status.PAUSED),
        "tried_again": services.tried_again_at(run),
        "reference": reference_label(run.benchmark_id, str(run.frame.get("reference", ""))),
    }


@require_safe
@signed_in
def run(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One run: its progress, its responses, and its judge."""
    return _page(request, access.get_run(request.user, slug, public_id))


def _page(request: SignedInRequest, run: JudgeRun, refused: DomainError | None = None) -> HttpResponse:
    visible = access.judges_for(request.user).filter(pk=run.judge_id).exists()
    context = {
        **_context(run),
        "frame": judges_and_runs.frame_words(run),
        "steadiness": judges_and_runs.steadiness_of(run),
        "resume_form": ResumeForm(initial={"budget": run.budget}),
        "judge_visible": visible,
        "refused": refused,
        "newer": continuing.newer_versions(run),
        "continued_by": run.continued_by.order_by("-pk").first(),
        **beside(run, request.GET.get("with", "")),
    }
    return render(request, "scoring/runs/run.html", context, status=refused.status_code if refused else 200)


@require_safe
@signed_in
def run_progress(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The progress part, which polls while the run is live. When the status changes, the page is reloaded."""
    run = access.get_run(request.user, slug, public_id)
    context = _context(run)
    response = render(request, "scoring/runs/_progress.html", context)
    if not context["progress"].live or request.GET.get("status", run.status) != run.status:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@signed_in
def run_cancel(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Stop a run; what was written stays."""
    return _switch(request, slug, public_id, lambda run, at: services.cancel_run(run=run, at=at))


@require_POST
@signed_in
def run_resume(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Resume a run: request what is missing."""
    form = ResumeForm(request.POST)
    if not form.is_valid():
        run = access.get_run(request.user, slug, public_id)
        return _page(request, run, DomainError(" ".join(str(error) for error in form.errors["budget"])))
    budget = form.cleaned_data["budget"]
    return _switch(request, slug, public_id, lambda run, at: services.resume_run(run=run, at=at, budget=budget))


@require_POST
@signed_in
def run_continue(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Continue a finished run on newer versions of its rubrics, as a new run."""
    run = access.get_run(request.user, slug, public_id)
    form = ResumeForm(request.POST)
    if not form.is_valid():
        return _page(request, run, DomainError(" ".join(str(error) for error in form.errors["budget"])))
    try:
        continuation = continuing.continue_run(
            run=run, by=request.user, at=timezone.now(), budget=form.cleaned_data["budget"]
        )
    except DomainError as refused:
        return _page(request, run, refused)
    return redirect("scoring:run", slug, continuation.public_id)


def _switch(
    request: SignedInRequest, slug: str, public_id: str, change: Callable[[JudgeRun, datetime], None]
) -> HttpResponse:
    run = access.get_run(request.user, slug, public_id)
    try:
        change(run, timezone.now())
    except DomainError as refused:
        return _page(request, access.get_run(request.user, slug, public_id), refused)
    return redirect("scoring:run", slug, public_id)
