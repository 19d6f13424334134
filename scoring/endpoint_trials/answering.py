"""The answer to a page that begins a trial."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest
from consilium.core.i18n import translate
from rubrics.models import Benchmark
from scoring.endpoint_trials.selectors import state_of
from scoring.endpoint_trials.services import start_trial
from scoring.models import EndpointTrial

PART = "scoring/endpoint_trials/_trial.html"


def begin_trial(
    request: SignedInRequest, benchmark: Benchmark, kind: EndpointTrial.Kind, **values: Any
) -> HttpResponse:
    """Begin a trial with the values of the request; show a part that waits for it, or go to its page."""
    at = timezone.now()
    try:
        trial = start_trial(benchmark=benchmark, kind=kind, form=request.POST, by=request.user, at=at, **values)
    except DomainError as refused:
        return refuse_trial(request, benchmark, [translate(refused.args[0])])
    if not request.htmx:
        return redirect("scoring:endpoint-trial", benchmark.slug, trial.public_id)
    return render(request, PART, {"benchmark": benchmark, "trial": trial, "state": state_of(trial, at=at)})


def refuse_trial(request: SignedInRequest, benchmark: Benchmark, problems: list[str]) -> HttpResponse:
    """Show why no request was sent. The status is that of a success: htmx swaps nothing else."""
    return render(request, PART, {"benchmark": benchmark, "problems": problems})
