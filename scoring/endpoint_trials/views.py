"""The page of a trial: it waits, and then shows the answer."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from scoring.endpoint_trials.answering import PART
from scoring.endpoint_trials.selectors import TrialState, state_of
from scoring.generation.trial import response_context
from scoring.judges.kinds.kind import KINDS
from scoring.judges.trial import criterion_context
from scoring.models import EndpointTrial

Kind = EndpointTrial.Kind


@require_safe
@signed_in
def endpoint_trial(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One trial, alone or as a part of the page that began it. A new judge leads to its page, or back to the form."""
    benchmark = get_benchmark(request.user, slug)
    rows = EndpointTrial.objects.select_related("judge")
    trial = get_object_or_404(rows, benchmark=benchmark, public_id=public_id)
    state = state_of(trial, at=timezone.now())
    if trial.kind == Kind.NEW_JUDGE and not state.waiting:
        address = _address_after_check(trial, state, slug)
        return HttpResponseClientRedirect(address) if request.htmx else redirect(address)
    context: dict[str, Any] = {"benchmark": benchmark, "trial": trial, "state": state}
    if state.problem:
        context["problems"] = [state.problem]
    elif not state.waiting:
        context |= _answer(trial)
    return render(request, PART if request.htmx else "scoring/endpoint_trials/trial.html", context)


def _answer(trial: EndpointTrial) -> dict[str, Any]:
    if trial.kind == Kind.CRITERION:
        return {"answer_template": "scoring/judges/_trial.html", **criterion_context(trial)}
    return {"answer_template": "scoring/generation/_trial.html", **response_context(trial)}


def _address_after_check(trial: EndpointTrial, state: TrialState, slug: str) -> str:
    if state.problem:
        return f"{reverse(KINDS[trial.judge_kind].new_route, args=[slug])}?check={trial.public_id}"
    return reverse("scoring:judge", args=[slug, trial.result])
