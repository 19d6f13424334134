"""Views of the measurement of how far texts move the level that a judge reads."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from scoring import access
from scoring.generation.views import problems_of
from scoring.runs.services import check_budget
from scoring.runs.started import to_started_run
from scoring.susceptibility.level_estimate import level_measurement_estimate
from scoring.susceptibility.level_forms import LevelMeasurementForm
from scoring.susceptibility.level_services import start_level_measurement
from scoring.susceptibility.level_shifts import SHIFT_COLUMNS, newest_measurement, shift_rows


@require_POST
@signed_in
def judge_level_shifts(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Begin a measurement; what prevents it is said on the page of the judge."""
    benchmark, judge = access.get_judge(request.user, slug, public_id)
    if not judge.kind_info.reads_levels:
        raise Http404
    form = LevelMeasurementForm(request.POST)
    if form.is_valid():
        try:
            run, is_new = start_level_measurement(
                benchmark=benchmark, judge=judge, by=request.user, at=timezone.now(), **form.cleaned_data
            )
        except DomainError as error:
            messages.error(request, str(error))
        else:
            return to_started_run(request, run, is_new=is_new)
    for name, errors in form.errors.items():
        shown = {"label": form.fields[name].label, "value": " ".join(map(str, errors))}
        messages.error(request, _("%(label)s: %(value)s") % shown)
    return redirect("scoring:judge", slug, public_id)


@require_safe
@signed_in
def judge_level_shifts_size(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """What the measurement of the form would take; nothing is written."""
    benchmark, judge = access.get_judge(request.user, slug, public_id)
    if not judge.kind_info.reads_levels:
        raise Http404
    form = LevelMeasurementForm(request.GET)
    context: dict[str, Any] = {"benchmark": benchmark, "judge": judge}
    if form.is_valid():
        values = form.cleaned_data
        try:
            size, likely = level_measurement_estimate(
                benchmark=benchmark, judge=judge, responses=values["responses"], seed=values["seed"]
            )
            check_budget(judge, values["budget"])
        except DomainError as refused:
            context["problems"] = [str(refused)]
        else:
            over = bool(values["budget"] and likely and likely.money and likely.money > values["budget"])
            context |= {"size": size, "estimate": likely, "over_budget": over}
    else:
        context["problems"] = problems_of(form)
    return render(request, "scoring/runs/_size.html", context)


@require_safe
@signed_in
def judge_level_shifts_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The newest measurement: a row for each text, then all harmless edits; else no rows."""
    _benchmark, judge = access.get_judge(request.user, slug, public_id)
    if not judge.kind_info.reads_levels:
        raise Http404
    rows = shift_rows(newest_measurement(judge).rows)
    pieces = stream_csv(SHIFT_COLUMNS, rows, text_columns=("family", "note"))
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-{judge.public_id}-level-shifts.csv"'
    return response
