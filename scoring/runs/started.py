"""The redirect after a form has started a run."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from scoring.models import JudgeRun


def to_started_run(request: HttpRequest, run: JudgeRun, *, is_new: bool) -> HttpResponse:
    """Redirects to the page of ``run``, with a message where the run was in progress before."""
    if not is_new:
        messages.info(request, _("This run is already in progress."))
    return redirect("scoring:run", run.benchmark.slug, run.public_id)
