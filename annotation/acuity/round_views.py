"""Views for those who run the benchmark: open a second round, ask for rulings, and what came of both as CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from annotation import access
from annotation.acuity import round_plan, rulings
from annotation.acuity.forms import RoundForm, RulingsForm
from annotation.acuity.moves import MOVE_COLUMNS, MOVE_TEXT, move_rows
from annotation.acuity.panel_results import level_results
from annotation.acuity.ruling_selectors import RULING_COLUMNS, RULING_TEXT, ruling_rows
from annotation.dashboard.views import csv_file
from annotation.models import LabelQuestion
from annotation.services import new_seed
from annotation.services.previews import AlreadyCreated
from annotation.views.previews import errors_in_words, to_existing_batch
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in

ROUND, RULINGS = "annotation/acuity/second_round.html", "annotation/acuity/ask_for_rulings.html"


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def second_round(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The form, and giving the ambiguous cases once more to those who voted on them."""
    question = access.get_administered_question_on_scale(request.user, slug, public_id)
    if request.method != "POST":
        initial = {"seed": new_seed(), "title": _("Second round")}
        return _page(request, ROUND, question, RoundForm(benchmark=question.benchmark, initial=initial))
    form = RoundForm(request.POST, benchmark=question.benchmark)
    status = 422
    if form.is_valid():
        try:
            batch = round_plan.open_round(
                group=form.cleaned_data["group"],
                question=question,
                rule=form.ambiguous,
                terms=form.terms(),
                by=request.user,
                at=timezone.now(),
                digest=form.cleaned_data["digest"],
            )
        except AlreadyCreated as repeated:
            return to_existing_batch(request, slug, repeated)
        except DomainError as refused:
            form.add_error(None, str(refused))
            status = refused.status_code
        else:
            messages.success(request, _("The second round is open. The physicians can now see their cases."))
            return redirect("annotation:batch", slug, batch.public_id)
    return _page(request, ROUND, question, form, status)


@require_safe
@signed_in
def second_round_preview(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Who would vote again on which cases by the form; nothing is written."""
    question = access.get_administered_question_on_scale(request.user, slug, public_id)
    form = RoundForm(request.GET, benchmark=question.benchmark)
    form.fields["title"].required = False

    def plan() -> round_plan.RoundPlan:
        return round_plan.plan_round(
            group=form.cleaned_data["group"], question=question, rule=form.ambiguous, terms=form.terms()
        )

    return _preview(request, ROUND, question, form, plan)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def ask_for_rulings(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The form, and giving the cases that stay ambiguous to adjudicators."""
    question = access.get_administered_question_on_scale(request.user, slug, public_id)
    if request.method != "POST":
        form = RulingsForm(benchmark=question.benchmark, initial={"seed": new_seed()})
        return _page(request, RULINGS, question, form)
    form = RulingsForm(request.POST, benchmark=question.benchmark)
    status = 422
    if form.is_valid():
        try:
            number = rulings.request_rulings(
                group=form.cleaned_data["group"],
                question=question,
                rule=form.ambiguous,
                seed=form.cleaned_data["seed"],
                by=request.user,
                at=timezone.now(),
                digest=form.cleaned_data["digest"],
            )
        except DomainError as refused:
            form.add_error(None, str(refused))
            status = refused.status_code
        else:
            text = ngettext(
                "A ruling on %(number)d case was requested.", "Rulings on %(number)d cases were requested.", number
            )
            messages.success(request, text % {"number": number})
            return redirect("annotation:label-results", slug, public_id)
    return _page(request, RULINGS, question, form, status)


@require_safe
@signed_in
def rulings_preview(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Which cases adjudicators would rule on by the form; nothing is written."""
    question = access.get_administered_question_on_scale(request.user, slug, public_id)
    form = RulingsForm(request.GET, benchmark=question.benchmark)

    def plan() -> rulings.RulingPlan:
        return rulings.plan_rulings(group=form.cleaned_data["group"], question=question, rule=form.ambiguous)

    return _preview(request, RULINGS, question, form, plan)


def _page(
    request: SignedInRequest, template: str, question: LabelQuestion, form: RoundForm | RulingsForm, status: int = 200
) -> HttpResponse:
    benchmark = question.benchmark
    context = {"benchmark": benchmark, "question": question, "form": form, "groups": benchmark.groups.count()}
    return render(request, template, context, status=status)


def _preview(
    request: SignedInRequest,
    template: str,
    question: LabelQuestion,
    form: RoundForm | RulingsForm,
    plan: Callable[[], round_plan.RoundPlan | rulings.RulingPlan],
) -> HttpResponse:
    context: dict[str, Any] = {"benchmark": question.benchmark, "question": question}
    if form.is_valid():
        try:
            context["plan"] = plan()
        except DomainError as refused:
            context["refused"] = refused
    else:
        context["invalid"] = errors_in_words(form)
    return render(request, f"{template}#preview", context)


@require_safe
@signed_in
def moves_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """How the votes on each case of a second round moved, as CSV."""
    question = access.get_question_on_scale(request.user, slug, public_id)
    results = level_results(question, {})
    rows = move_rows(results.moves, results.scale)
    return csv_file(f"{slug}-{question.name}-moves", MOVE_COLUMNS, rows, MOVE_TEXT)


@require_safe
@signed_in
def rulings_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The rulings about a question, and those that are waited for, as CSV."""
    question = access.get_question_on_scale(request.user, slug, public_id)
    return csv_file(f"{slug}-{question.name}-rulings", RULING_COLUMNS, ruling_rows(question), RULING_TEXT)
