"""Views of judges: the list, the forms that create one, and the page of one."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.llm.prompts import TEMPLATES
from rubrics.access import get_benchmark
from rubrics.models import Benchmark
from scoring import access
from scoring.forms import ChatJudgeForm, PromptForm, TrainedJudgeForm
from scoring.judges import services
from scoring.judges.config import ChatConfig
from scoring.judges.jury_views import jury_page
from scoring.judges.previews import preview_of, preview_prompt
from scoring.models import Judge
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
    }
    return render(request, "scoring/judges/judges.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_chat_judge(request: SignedInRequest, slug: str) -> HttpResponse:
    """A judge that asks an endpoint; ``from`` fills the form with the settings of another."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        return _form(request, benchmark, ChatJudgeForm(initial=_earlier(request, slug, Judge.Kind.CHAT)))
    form = ChatJudgeForm(request.POST)
    status = 422
    if form.is_valid():
        try:
            judge = services.create_chat_judge(
                benchmark=benchmark, name=form.cleaned_data["name"], config=form.config(), by=request.user
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("scoring:judge", slug, judge.public_id)
    return _form(request, benchmark, form, status)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_trained_judge(request: SignedInRequest, slug: str) -> HttpResponse:
    """A judge that is fitted on physicians' decisions; ``from`` as above."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        earlier = _earlier(request, slug, Judge.Kind.TRAINED)
        return _form(request, benchmark, TrainedJudgeForm(benchmark=benchmark, initial=earlier))
    form = TrainedJudgeForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            judge = services.create_trained_judge(
                benchmark=benchmark, by=request.user, at=timezone.now(), **form.cleaned_data
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("scoring:judge", slug, judge.public_id)
    return _form(request, benchmark, form, status)


def _earlier(request: SignedInRequest, slug: str, kind: str) -> dict[str, Any]:
    public_id = request.GET.get("from")
    if not public_id:
        return {}
    _benchmark, earlier = access.get_judge(request.user, slug, public_id)
    if earlier.kind != kind:
        raise Http404
    return {"name": earlier.name, **earlier.config}


def _form(
    request: SignedInRequest, benchmark: Benchmark, form: ChatJudgeForm | TrainedJudgeForm, status: int = 200
) -> HttpResponse:
    kind = "chat" if isinstance(form, ChatJudgeForm) else "trained"
    return render(request, f"scoring/judges/new_{kind}.html", {"benchmark": benchmark, "form": form}, status=status)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


@require_POST
@signed_in
def prompt_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """The request of a judge with the form's current values; nothing is written, whatever else the form lacks."""
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


@require_safe
@signed_in
def judge(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One judge: its settings, what it is asked or how well it learned, its versions and its runs."""
    return _page(request, slug, public_id)


def _page(request: SignedInRequest, slug: str, public_id: str, refused: DomainError | None = None) -> HttpResponse:
    benchmark, judge = access.get_judge(request.user, slug, public_id)
    if judge.kind == Judge.Kind.JURY:
        return jury_page(request, slug, public_id)
    versions = access.judges_for(request.user).filter(benchmark=judge.benchmark_id, name=judge.name)
    runs = Paginator(judges_and_runs.runs_on(benchmark).filter(judge__in=versions), RUNS_PER_PAGE)
    page = runs.get_page(request.GET.get("page"))
    config = judge.config
    if judge.kind == Judge.Kind.CHAT:  # settings that are newer than the judge have their defaults
        config = {name: field.default for name, field in ChatConfig.model_fields.items()} | config
    context = {
        **_training(benchmark, judge),
        "config": config,
        "template": TEMPLATES.get(str(config.get("prompt"))),
        "versions": versions.order_by("-version"),
        "page": page,
        "runs": judges_and_runs.run_rows(list(page)),
        "refused": refused,
        **beside(judges_and_runs.newest_settled(versions, benchmark)),
        "susceptibility": susceptibility_screen(benchmark, judge),
    }
    if judge.kind == Judge.Kind.CHAT:
        number = request.GET.get("item", "0")
        context["preview"] = preview_of(judge, benchmark, _number(number))
    return render(request, "scoring/judges/judge.html", context, status=refused.status_code if refused else 200)


def _training(benchmark: Benchmark, judge: Judge) -> dict[str, Any]:
    model = getattr(judge, "trained_model", None)
    return {
        "benchmark": benchmark,
        "judge": judge,
        "model": model,
        "training": model is not None and model.status in ("pending", "running"),
        "card": card_of(model) if model is not None and model.status == "done" else None,
        "can_run": judge.kind == Judge.Kind.CHAT or (model is not None and model.status == "done"),
    }


@require_safe
@signed_in
def judge_training(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """How far the fitting is; asked again while it goes on, then the page is loaded anew."""
    context = _training(*access.get_judge(request.user, slug, public_id))
    response = render(request, "scoring/judges/judge.html#training", context)
    if not context["training"]:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@signed_in
def judge_train_again(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Fit a judge again whose fitting failed."""
    _benchmark, judge = access.get_judge(request.user, slug, public_id)
    if judge.kind != Judge.Kind.TRAINED:
        raise Http404
    try:
        services.train_again(judge=judge, at=timezone.now())
    except DomainError as error:
        return _page(request, slug, public_id, error)
    return redirect("scoring:judge", slug, public_id)
