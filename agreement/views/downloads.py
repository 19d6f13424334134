"""Tables and figures of a report as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from agreement import access
from agreement.figures import figures_of
from agreement.kinds import Figure
from agreement.models import Report
from agreement.stored import table_of
from consilium.figures.render import png_file, svg_file
from rubrics.models import JobStatus

if TYPE_CHECKING:
    from accounts.views import SignedInRequest


def _finished(request: SignedInRequest, slug: str, section: str, public_id: str) -> Report:
    report = access.get_report(request.user, slug, public_id)
    if report.section != section or report.status != JobStatus.DONE:
        raise Http404
    return report


def _figure(report: Report, name: str) -> Figure:
    for figure in figures_of(report):
        if figure.name == name:
            return figure
    raise Http404


@require_safe
@login_required
def table_csv(request: SignedInRequest, slug: str, section: str, public_id: str, name: str) -> HttpResponseBase:
    """A table as CSV."""
    report = _finished(request, slug, section, public_id)
    try:
        table = table_of(report, name)
    except KeyError:
        raise Http404 from None
    response = StreamingHttpResponse(table.csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


@require_safe
@login_required
def figure_svg(request: SignedInRequest, slug: str, section: str, public_id: str, name: str) -> HttpResponse:
    """A figure as SVG, with real colours."""
    figure = _figure(_finished(request, slug, section, public_id), name)
    response = HttpResponse(svg_file(figure.drawing), content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="{name}.svg"'
    return response


@require_safe
@login_required
def figure_png(request: SignedInRequest, slug: str, section: str, public_id: str, name: str) -> HttpResponse:
    """A figure as PNG at 300 dots an inch."""
    figure = _figure(_finished(request, slug, section, public_id), name)
    response = HttpResponse(png_file(figure.drawing), content_type="image/png")
    response["Content-Disposition"] = f'attachment; filename="{name}.png"'
    return response
