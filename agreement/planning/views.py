"""Views of study plans: the page, its tables as files, and its figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agreement.planning import presentation, study_plan
from agreement.planning.forms import PlanForm, filled
from agreement.reports.tables import Table
from agreement.selectors.rater_choices import look_once
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.figures.render import Drawing, inline_svg, pdf_file, png_file, svg_file
from rubrics.access import get_benchmark

FILES: dict[str, tuple[Callable[[Drawing], str | bytes], str]] = {
    "svg": (svg_file, "image/svg+xml"),
    "png": (png_file, "image/png"),
    "pdf": (pdf_file, "application/pdf"),
}


@require_safe
@signed_in
def planning_page(request: SignedInRequest, slug: str) -> HttpResponse:
    """The form, and the plan once it is asked for."""
    benchmark = get_benchmark(request.user, slug)
    look_once(benchmark)
    given = filled(benchmark, request.GET)
    form = PlanForm(benchmark, given or None)
    context: dict[str, Any] = {"benchmark": benchmark, "form": form}
    status = 200
    if given and form.is_valid():
        try:
            plan = study_plan.plan(benchmark, form.question)
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            context |= presentation.shown(benchmark, plan, chosen=request.GET.get("candidate", ""))
            context["query"] = urlencode({**given, "candidate": context["chosen"]})
            figure = context["figure"]
            context["svg"] = figure and inline_svg(figure.drawing, title=figure.title)
    elif given:
        status = 422
    return render(request, "agreement/planning/planning.html", context, status=status)


def _plan(request: SignedInRequest, slug: str) -> study_plan.Plan | HttpResponse:
    """The plan that the query of a URL describes, or the errors in the query."""
    benchmark = get_benchmark(request.user, slug)
    look_once(benchmark)
    form = PlanForm(benchmark, filled(benchmark, request.GET))
    if not form.is_valid():
        lines = [f"{name}: {error}" for name, errors in form.errors.items() for error in errors]
        return _refused("\n".join(lines))
    try:
        return study_plan.plan(benchmark, form.question)
    except DomainError as error:
        return _refused(str(error))


def _refused(why: str) -> HttpResponse:
    return HttpResponse(why, status=422, content_type="text/plain; charset=utf-8")


@require_safe
@signed_in
def planning_csv(request: SignedInRequest, slug: str, name: str) -> HttpResponseBase:
    """A table of the plan as CSV."""
    if name not in presentation.TABLES:
        raise Http404
    plan = _plan(request, slug)
    if isinstance(plan, HttpResponse):
        return plan
    columns, text = presentation.TABLES[name]
    table = Table.of(columns, getattr(plan, name), text)
    response = StreamingHttpResponse(table.csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


@require_safe
@signed_in
def planning_figure(request: SignedInRequest, slug: str, suffix: str) -> HttpResponse:
    """The curve as a file."""
    if suffix not in FILES:
        raise Http404
    plan = _plan(request, slug)
    if isinstance(plan, HttpResponse):
        return plan
    figure = presentation.shown(get_benchmark(request.user, slug), plan, chosen=request.GET.get("candidate", ""))[
        "figure"
    ]
    if figure is None:
        return _refused(_("This candidate has no curve because too few cases have been graded."))
    make, kind = FILES[suffix]
    response = HttpResponse(make(figure.drawing), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="curve.{suffix}"'
    return response
