"""Views that download tables and figures of a report, each by itself or all in one file."""

from __future__ import annotations

from typing import IO

from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.views.decorators.http import require_safe

from agreement import access
from agreement.models import Report
from agreement.reports import files
from agreement.reports.stored import table_of
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus
from consilium.figures.render import AS_ON_PAGE, ONE_COLUMN, TWO_COLUMNS, Look


def _finished(request: SignedInRequest, slug: str, section: str, public_id: str) -> Report:
    """A report that the reader may see, with a result; 404 else, also where the address names another section."""
    report = access.get_report(request.user, slug, public_id)
    if report.section != section or report.status != JobStatus.DONE:
        raise Http404
    return report


def table_response(report: Report, name: str, ending: str) -> HttpResponseBase:
    """A table in one of the formats of `files.TABLE_FORMATS`; 404 where there is none of that name."""
    table_format = files.TABLE_FORMATS[ending]
    try:
        table_of(report, name)  # before the answer begins; `files` asks again, and gets the same table
    except KeyError:
        raise Http404 from None
    if table_format.write is not None:
        return as_file(table_format.write(report, name), f"{name}.{ending}", table_format.content_type)
    text = files.table_text(report, name, ending)
    response = StreamingHttpResponse(text, content_type=table_format.content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response


WIDTHS = (ONE_COLUMN, TWO_COLUMNS)


def figure_response(report: Report, name: str, ending: str, look: Look = AS_ON_PAGE) -> HttpResponse:
    """A figure in one of the formats of `files.FIGURE_TYPES`, with real colours; 404 where there is none."""
    try:
        data = files.figure_bytes(report, name, ending, look)
    except KeyError:
        raise Http404 from None
    response = HttpResponse(data, content_type=files.FIGURE_TYPES[ending])
    parts = [name, *([f"{look.width}mm"] if look.width else []), *(["grey"] if look.grey else [])]
    response["Content-Disposition"] = f'attachment; filename="{"-".join(parts)}.{ending}"'
    return response


def look_of(query: QueryDict) -> Look | None:
    """The look that ``width`` (85 or 174, in millimetres) and ``grey`` (1) ask for; None where they are neither."""
    width, grey = query.get("width", ""), query.get("grey", "")
    if (width and width not in map(str, WIDTHS)) or grey not in ("", "1"):
        return None
    return Look(int(width) if width else None, grey=bool(grey))


def as_file(content: IO[bytes], name: str, content_type: str) -> FileResponse:
    """A response with a finished file, to be saved under ``name``."""
    return FileResponse(content, as_attachment=True, filename=name, content_type=content_type)


@require_safe
@signed_in
def table_file(
    request: SignedInRequest, slug: str, section: str, public_id: str, name: str, ending: str
) -> HttpResponseBase:
    """A table in one of the formats of `files.TABLE_FORMATS`."""
    return table_response(_finished(request, slug, section, public_id), name, ending)


@require_safe
@signed_in
def figure_file(
    request: SignedInRequest, slug: str, section: str, public_id: str, name: str, ending: str
) -> HttpResponse:
    """A figure as SVG, as PNG at 300 dots an inch, or as PDF, at the width of a journal and in greys if wanted."""
    report = _finished(request, slug, section, public_id)
    look = look_of(request.GET)
    if look is None:
        raise Http404
    return figure_response(report, name, ending, look)


@require_safe
@signed_in
def methods(request: SignedInRequest, slug: str, section: str, public_id: str, ending: str) -> HttpResponse:
    """The methods paragraph as text, Markdown or LaTeX."""
    text = files.methods_text(_finished(request, slug, section, public_id), ending)
    response = HttpResponse(text, content_type=files.METHODS_TYPES[ending])
    response["Content-Disposition"] = f'attachment; filename="methods.{ending}"'
    return response


@require_safe
@signed_in
def workbook(request: SignedInRequest, slug: str, section: str, public_id: str) -> FileResponse:
    """All tables as one workbook."""
    report = _finished(request, slug, section, public_id)
    return as_file(files.workbook(report), f"{report.kind}-{report.public_id}.xlsx", files.XLSX_TYPE)


@require_safe
@signed_in
def archive(request: SignedInRequest, slug: str, section: str, public_id: str) -> FileResponse:
    """Tables, figures, methods and everything needed to compute them again, as one ZIP."""
    report = _finished(request, slug, section, public_id)
    return as_file(files.archive(report), f"{report.kind}-{report.public_id}.zip", "application/zip")
