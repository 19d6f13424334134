"""Pages of runs of refinement, for those who run the benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
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
from validation.coverage.building import FEW_CASES
from validation.models import RefinementRun
from validation.models.refinement import EDIT, PLAN
from validation.refinement import selectors, services
from validation.refinement.building import Built, size_of
from validation.refinement.checks import NEW_DRUG, NEW_NUMBER, SIZE, STRAY
from validation.refinement.config import GOLD, HALF, SELF
from validation.refinement.forms import RefinementOrderForm

NEW = "validation/refinement/new.html"
CSV_COLUMNS = (
    *("case", "arm", "status", "error_kind", "error", "base", "refined", "edits_done", "edits_refused"),
    *("new_numbers", "new_drugs", "strays", "changed_words", "length_ratio"),
    *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
)
CSV_TEXT = (*CSV_COLUMNS[:9], "new_numbers", "new_drugs", "strays")
STAGE_WORDS = {PLAN: gettext_lazy("Plans"), EDIT: gettext_lazy("Edits")}
ARM_WORDS = {
    SELF: gettext_lazy("Self-critique"),
    GOLD: gettext_lazy("Gold criteria (upper bound)"),
    HALF: gettext_lazy("Half of the gold criteria"),
}


def arm_words(arm: Any) -> str:
    """An arm, as settings or terms have it, in words."""
    if arm["kind"] in ARM_WORDS:
        return str(ARM_WORDS[arm["kind"]])
    return _("%(name)s (upper bound)") % {"name": arm["name"]} if arm["upper_bound"] else str(arm["name"])


def _page_words(run: RefinementRun) -> dict[str, Any]:
    ended = run.status not in PipelineRun.LIVE
    may_grade = ended and not run.replay and not run.imported
    cases = selectors.case_rows(run) if ended else []
    return {
        "budget_form": BudgetForm(),
        "settings": [(name, json.dumps(value)) for name, value in run.terms.get("settings", {}).items()],
        "arms": [{**arm, "words": arm_words(arm)} for arm in run.terms.get("arms", [])],
        "cases": cases,
        "new_numbers": sum(row.new_numbers for row in cases),
        "cases_with_new": sum(row.new_numbers > 0 for row in cases),
        "graded": list(selectors.grading_runs(run)) if may_grade else [],
        "grade_query": urlencode([("with_bases", "on"), *(("candidate", name) for name in run.derived_names)]),
        "may_grade": may_grade,
    }


PAGES = RunPages(
    name="refinement",
    model=RefinementRun,
    results=gettext_lazy("Plans and texts"),
    runs_on=selectors.runs_on,
    progress_of=step_progress,
    page_words=_page_words,
    row_words=lambda run: {"arms": [arm_words(arm) for arm in run.terms.get("arms", [])]},
    app="validation",
    defer=("config",),
    resume_run=services.resume_run,
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def refinement_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form or begin the run; ``from`` fills in the settings of another run, ``set`` a set that guides."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        form = RefinementOrderForm(user=request.user, benchmark=benchmark, initial=_initial(request, slug))
        return _form_page(request, benchmark, form)
    form = RefinementOrderForm(request.POST, user=request.user, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            run = services.create_run(
                benchmark=benchmark,
                order=form.order(),
                config=form.config(),
                budget=form.chosen_budget,
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("validation:refinement-run", slug, run.public_id)
    return _form_page(request, benchmark, form, status)


def _form_page(
    request: SignedInRequest, benchmark: Benchmark, form: RefinementOrderForm, status: int = 200
) -> HttpResponse:
    context = {"benchmark": benchmark, "form": form, "total": len(form.names), "routes": PAGES.routes}
    return render(request, NEW, context, status=status)


def _initial(request: SignedInRequest, slug: str) -> dict[str, Any]:
    earlier = request.GET.get("from")
    if not earlier:
        return {"sets": request.GET.getlist("set"), "candidate": request.GET.get("candidate", "")}
    run = access.get_refinement_run(request.user, slug, earlier)
    arms = run.config["arms"]
    kinds = {arm["kind"] for arm in arms}
    sets = [arm for arm in arms if arm["rubric_set"]]
    frame = {name: value for name, value in run.frame.items() if name != "seed"}
    return {
        **{name: value for name, value in run.config.items() if name not in ("cases", "arms")},
        **frame,
        "cases": run.frame.get("cases") or None,
        "candidate": run.base_name,
        "sets": [arm["rubric_set"]["id"] for arm in sets],
        "upper_bounds": [arm["rubric_set"]["id"] for arm in sets if arm["upper_bound"]],
        "self_critique": SELF in kinds,
        "gold": GOLD in kinds,
        "split": run.is_split,
        "budget": run.budget,
    }


@require_POST
@signed_in
def refinement_size(request: SignedInRequest, slug: str) -> HttpResponse:
    """The requests that the form would make now, by stage, and what they cost at most; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    form = RefinementOrderForm(request.POST, user=request.user, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid() and form.built is not None:
        context |= _size_words(form.built, form)
    else:
        context["problems"] = problems_of(form)
    return render(request, "validation/refinement/_size.html", context)


def _size_words(built: Built, form: RefinementOrderForm) -> dict[str, Any]:
    size = size_of(built)
    budget, cost = form.chosen_budget, size.cost_at_most
    return {
        "size": size,
        "built": built,
        "stages": [(STAGE_WORDS[stage.stage], stage) for stage in size.stages],
        "lacking": list(built.lacking.items()),
        "bounds": [(arm.name, arm.overlaps) for arm in built.config.arms if arm.upper_bound and arm.overlaps],
        "taken_out": list(built.taken_out.items()),
        "few_cases": size.cases < FEW_CASES,
        "budget": budget,
        "may_pass_budget": budget is not None and cost is not None and cost > budget,
    }


@require_safe
@signed_in
def refinement_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A row for each text that the run asks for."""
    run = PAGES.get(request.user, slug, public_id)
    return steps_csv(run, _csv_rows(run), CSV_COLUMNS, text_columns=CSV_TEXT, what="refinement")


def _csv_rows(run: RefinementRun) -> Iterator[tuple[object, ...]]:
    bases = {case["key"]: case["base"] for case in run.config["cases"]}
    names = run.arm_names
    steps = run.steps.filter(stage=EDIT).order_by("pk").values_list(
        *("case__key", "key", "state", "error_kind", "error", "output", "findings"),
        *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
    )  # fmt: skip
    for case, arm, state, error_kind, error, output, findings, *counts, finished_at in steps.iterator(500):
        own: dict[str, Any] = output or {}
        by_kind: dict[str, list[dict[str, Any]]] = {}
        for finding in findings or []:
            by_kind.setdefault(finding["kind"], []).append(finding)
        size = by_kind.get(SIZE, [{}])[0]
        yield (
            *(case, names[int(arm)], STATUSES[PipelineStep.State(state)], error_kind, error),
            *(bases.get(case, ""), own.get("text", ""), " ".join(map(str, own.get("edits_done", [])))),
            " ".join(str(row["number"]) for row in own.get("edits_refused", [])),
            *("; ".join(row["text"] for row in by_kind.get(kind, [])) for kind in (NEW_NUMBER, NEW_DRUG, STRAY)),
            *(size.get("changed_words"), size.get("length_ratio")),
            *counts,
            None if finished_at is None else finished_at.isoformat(timespec="seconds"),
        )


@require_safe
@signed_in
def refinement_case(request: SignedInRequest, slug: str, public_id: str, case: str) -> HttpResponse:
    """A case of a run: base and refined texts side by side, with what was planned, done and found."""
    run, own = access.get_refined_case(request.user, slug, public_id, case)
    rows = [(arm_words(row.arm.model_dump()), row) for row in selectors.arm_cases(run, own)]
    context = {"benchmark": run.benchmark, "run": run, "case": own, "rows": rows, "turns": turns_of(own)}
    return render(request, "validation/refinement/case.html", context)
