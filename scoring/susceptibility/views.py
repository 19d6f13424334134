"""Views of a judge's susceptibility to injections: the figures, the file, and the form that measures it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.models import Benchmark
from scoring import access
from scoring.models import Judge
from scoring.runs.services import FrameSize, RunFrame
from scoring.runs.spending import estimate
from scoring.runs.started import to_started_run
from scoring.susceptibility.forms import MeasurementForm
from scoring.susceptibility.selectors import susceptibility_screen
from scoring.susceptibility.services import REPLICATES, plan_measurement, start_susceptibility_run
from scoring.susceptibility.turn_rates import CSV_COLUMNS, CSV_TEXT, csv_rows

PAGE = "scoring/susceptibility/susceptibility.html"


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def judge_susceptibility(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The newest measurement in full, or the one that ``run`` names; a POST begins another."""
    benchmark, judge = access.get_judge(request.user, slug, public_id)
    if request.method != "POST":
        return _page(request, benchmark, judge, MeasurementForm(benchmark=benchmark, judge=judge))
    form = MeasurementForm(request.POST, benchmark=benchmark, judge=judge)
    status = 422
    if form.is_valid():
        try:
            run, is_new = start_susceptibility_run(
                benchmark=benchmark, judge=judge, by=request.user, at=timezone.now(), **form.terms()
            )
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            return to_started_run(request, run, is_new=is_new)
    return _page(request, benchmark, judge, form, status)


def _page(
    request: SignedInRequest, benchmark: Benchmark, judge: Judge, form: MeasurementForm, status: int = 200
) -> HttpResponse:
    run_id = request.GET.get("run", "")
    screen = susceptibility_screen(benchmark, judge, run_id)
    if run_id and screen.shown is None:
        raise Http404
    context = {"benchmark": benchmark, "judge": judge, "susceptibility": screen, "form": form}
    return render(request, PAGE, context, status=status)


@require_safe
@signed_in
def judge_susceptibility_size(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """How many requests the form would make now; nothing is written."""
    benchmark, judge = access.get_judge(request.user, slug, public_id)
    form = MeasurementForm(request.GET, benchmark=benchmark, judge=judge)
    context: dict[str, Any] = {"benchmark": benchmark, "judge": judge}
    if form.is_valid():
        terms = form.terms()
        terms.pop("budget", None)
        try:
            plan = plan_measurement(benchmark=benchmark, judge=judge, **terms)
            size = FrameSize(plan.responses, plan.verdicts)
            likely = estimate(
                benchmark=benchmark,
                judge=judge,
                frame=RunFrame(),
                size=size,
                replicates=REPLICATES,
                drawn=plan.drawn,
            )
            context["plan"], context["estimate"] = plan, likely
        except DomainError as refused:
            context["problems"] = [str(refused)]
    else:
        context["problems"] = [str(error) for errors in form.errors.values() for error in errors]
    return render(request, "scoring/susceptibility/_size.html", context)


@require_safe
@signed_in
def judge_susceptibility_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The newest measurement, or the one that ``run`` names: the whole, then each injection; else no rows."""
    benchmark, judge = access.get_judge(request.user, slug, public_id)
    run_id = request.GET.get("run", "")
    shown = susceptibility_screen(benchmark, judge, run_id).shown
    if run_id and shown is None:
        raise Http404
    pieces = stream_csv(CSV_COLUMNS, csv_rows(shown.figures) if shown else (), text_columns=CSV_TEXT)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    name = f"{slug}-run-{shown.run.public_id}-susceptibility.csv" if shown else f"{slug}-susceptibility.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
