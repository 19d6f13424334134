"""Views of judges: the list, the forms that create one, and the page of one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark, is_admin
from rubrics.models import Benchmark
from scoring import access
from scoring.acuity.judge_forms import ScaleForm
from scoring.acuity.read_advice import physicians_check
from scoring.acuity.selectors import scale_called
from scoring.endpoint_trials.answering import begin_trial, refuse_trial
from scoring.endpoint_trials.selectors import failed_check
from scoring.endpoint_trials.services import start_trial
from scoring.forms import PromptForm
from scoring.judges import services
from scoring.judges.creating import create_judge
from scoring.judges.kinds.kind import KINDS, JudgeKind
from scoring.judges.level_previews import level_preview_of
from scoring.judges.prompt_previews import preview_prompt
from scoring.judges.trial import TrialForm
from scoring.models import EndpointTrial, Judge
from scoring.runs.comparing_views import beside
from scoring.selectors import judges_and_runs
from scoring.susceptibility.selectors import susceptibility_screen
from scoring.trained.presentation import card_of

RUNS_PER_PAGE = 15


@require_safe
@signed_in
def judges(request: SignedInRequest, slug: str) -> HttpResponse:
    """The judges of a benchmark with their newest runs, and below them all runs."""
    benchmark = get_benchmark(request.user, slug)
    page = Paginator(judges_and_runs.runs_on(benchmark), RUNS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "rows": judges_and_runs.judge_rows(request.user, benchmark),
        "page": page,
        "runs": judges_and_runs.run_rows(list(page)),
        "can_run": judges_and_runs.judges_to_run(request.user).exists(),
        "administers": is_admin(request.user, benchmark),
        "new_kinds": [kind for kind in reversed(KINDS.values()) if kind.is_made_here],
    }
    return render(request, "scoring/judges/judges.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_judge(request: SignedInRequest, slug: str, kind: str) -> HttpResponse:
    """A new judge, or a new version; ``from`` fills the form with the settings of another judge of the kind."""
    benchmark = get_benchmark(request.user, slug)
    judge_kind = KINDS[kind]
    status = 200
    if request.method == "POST":
        form, status = judge_kind.make_form(benchmark, request.POST), 422
        if form.is_valid():
            try:
                if judge_kind.asks_endpoint and not form.cleaned_data.get("unchecked"):
                    check = start_trial(
                        benchmark=benchmark,
                        kind=EndpointTrial.Kind.NEW_JUDGE,
                        judge_kind=kind,
                        form=request.POST,
                        by=request.user,
                        at=timezone.now(),
                    )
                    return redirect("scoring:endpoint-trial", slug, check.public_id)
                judge = create_judge(judge_kind, benchmark, form, by=request.user, at=timezone.now())
            except DomainError as error:
                form.refuse(error)
                status = error.status_code
            else:
                return redirect("scoring:judge", slug, judge.public_id)
    else:
        part = judge_kind.form_part(request)
        if part is not None:
            return part
        failed = failed_check(request.user, benchmark, kind, request.GET.get("check", ""), at=timezone.now())
        if failed is not None:
            form = judge_kind.make_form(benchmark, QueryDict(failed[0].form))
            form.add_error(None, failed[1])
        else:
            form = judge_kind.make_form(benchmark, initial=_earlier(request, benchmark, judge_kind))
    return render(request, judge_kind.new_template, {"benchmark": benchmark, "form": form}, status=status)


def _earlier(request: SignedInRequest, benchmark: Benchmark, kind: JudgeKind) -> dict[str, Any]:
    """The settings of the judge that ``from`` names; those of a jury are offered in its own benchmark only."""
    public_id = request.GET.get("from")
    if not public_id:
        return {}
    _benchmark, earlier = access.get_judge(request.user, benchmark.slug, public_id)
    if earlier.kind_info is not kind or (
        (kind.has_members or kind.reads_levels) and earlier.benchmark_id != benchmark.pk
    ):
        raise Http404
    return kind.initial(earlier)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


@require_POST
@signed_in
def prompt_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """The request of a judge with the form's current values, even if others are missing; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = PromptForm(request.POST)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and (template := form.template()) is not None:
        context["preview"] = preview_prompt(
            template,
            benchmark,
            _number(request.POST.get("item", "0")),
            together=form.cleaned_data["criteria_per_request"] == "all",
        )
    else:
        context["problems"] = [str(error) for errors in form.errors.values() for error in errors]
    return render(request, "scoring/judges/_prompt_preview.html", context)


@require_POST
@signed_in
def level_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """The request of a judge that reads levels of the form's present scale; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = ScaleForm(request.POST)
    scale = scale_called(benchmark, form.cleaned_data["scale"]) if form.is_valid() else None
    context: dict[str, Any] = {"benchmark": benchmark}
    if scale is None:
        context["problems"] = [_("Choose a scale.")]
    else:
        levels = [asdict(level) for level in scale.levels]
        context["preview"] = level_preview_of(levels, benchmark, _number(request.POST.get("item", "0")))
    return render(request, "scoring/judges/_prompt_preview.html", {**context, "reads_levels": True})


@require_safe
@signed_in
def judge(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One judge: its settings, its prompt or how well it learned, its versions and its runs."""
    return _page(request, slug, public_id)


@require_POST
@signed_in
def judge_try(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One live request about one criterion, of the example or of the chosen response. A worker sends it."""
    benchmark, judge = access.get_judge(request.user, slug, public_id)
    if judge.kind_info.reads_levels or not judge.kind_info.asks_endpoint:
        raise Http404
    form = TrialForm(request.POST, benchmark=benchmark)
    if not form.is_valid():
        problems = [str(error) for errors in form.errors.values() for error in errors]
        return refuse_trial(request, benchmark, problems)
    return begin_trial(request, benchmark, EndpointTrial.Kind.CRITERION, judge=judge)


def _page(request: SignedInRequest, slug: str, public_id: str, refused: DomainError | None = None) -> HttpResponse:
    benchmark, judge = access.get_judge(request.user, slug, public_id)
    kind = judge.kind_info
    if kind.page is not None:
        return kind.page(request, slug, public_id)
    versions = access.judges_for(request.user).filter(benchmark=judge.benchmark_id, name=judge.name)
    runs = Paginator(judges_and_runs.runs_on(benchmark).filter(judge__in=versions), RUNS_PER_PAGE)
    page = runs.get_page(request.GET.get("page"))
    context = {
        **_training(benchmark, judge),
        "config": judge.config,
        "versions": versions.order_by("-version"),
        "page": page,
        "runs": judges_and_runs.run_rows(list(page)),
        "refused": refused,
        **beside(judges_and_runs.newest_settled(versions, benchmark)),
        "susceptibility": susceptibility_screen(benchmark, judge),
        "physicians_check": physicians_check(judge),
        "administers": is_admin(request.user, benchmark),
        "trial_form": TrialForm(benchmark=benchmark) if kind.asks_endpoint and not kind.reads_levels else None,
        **kind.page_context(judge, benchmark, _number(request.GET.get("item", "0"))),
    }
    return render(request, "scoring/judges/judge.html", context, status=refused.status_code if refused else 200)


def _training(benchmark: Benchmark, judge: Judge) -> dict[str, Any]:
    model = getattr(judge, "trained_model", None)
    return {
        "benchmark": benchmark,
        "judge": judge,
        "kind": judge.kind_info,
        "model": model,
        "training": model is not None and model.status in ("pending", "running"),
        "card": card_of(model) if model is not None and model.status == "done" else None,
        "can_run": judge.kind_info.is_ready(judge),
    }


@require_safe
@signed_in
def judge_training(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The progress of the fitting, polled until it ends; then the page is reloaded."""
    context = _training(*access.get_judge(request.user, slug, public_id))
    response = render(request, "scoring/judges/judge.html#training", context)
    if not context["training"]:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@signed_in
def judge_train_again(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Fit a judge again after its fitting failed."""
    _benchmark, judge = access.get_judge(request.user, slug, public_id)
    if not judge.kind_info.learns:
        raise Http404
    try:
        services.train_again(judge=judge, at=timezone.now())
    except DomainError as error:
        return _page(request, slug, public_id, error)
    return redirect("scoring:judge", slug, public_id)


@require_POST
@signed_in
def judge_delete(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Delete a judge whose training failed and that nothing uses."""
    _benchmark, judge = access.get_judge(request.user, slug, public_id)
    name = judge.name
    try:
        services.delete_failed_judge(judge=judge)
    except DomainError as error:
        return _page(request, slug, public_id, error)
    messages.success(request, _("The judge “%(name)s” is deleted.") % {"name": name})
    return redirect("scoring:judges", slug)
