"""The readings behind a cell of a report on acuity, page by page."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from agreement import access
from agreement.acuity.cell_readings import cases_in_cell
from agreement.acuity.parameters import reference_set_of
from agreement.kinds.acuity_page import format_label, level_names
from agreement.models import Report
from agreement.reports.stored import table_of
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus
from rubrics.selectors.case_links import case_urls

PER_PAGE = 50


@require_safe
@signed_in
def readings(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The cases of one reference level (``reference``) that a candidate sent to ``level`` in a ``format``."""
    report = access.get_report(request.user, slug, public_id)
    if report.kind != Report.Kind.ACUITY or report.status != JobStatus.DONE:
        raise Http404
    chosen = {name: request.GET.get(name, "") for name in ("candidate", "format", "reference", "level")}
    if not any(chosen.values()):
        return redirect("agreement:report", slug, report.section, public_id)
    in_report = [
        row["n"]
        for row in table_of(report, "confusion").dicts()
        if row["aggregate"] == "pooled" and all(row[name] == value for name, value in chosen.items())
    ]
    if not in_report:
        raise Http404
    names = level_names(report)
    values = list(names)
    given = report.parameters
    own = [name for name in given["candidates"] if chosen["candidate"] == name or _is_of(chosen["candidate"], name)]
    try:
        cases = cases_in_cell(
            reference_set_of(report.benchmark, given["reference_set"]),
            own,
            (chosen["candidate"], chosen["format"]),
            reference=values.index(chosen["reference"]),
            level=values.index(chosen["level"]),
            judge=given.get("judge", ""),
        )
    except DomainError:
        raise Http404 from None  # the judge's run is no longer there
    page = Paginator(cases, PER_PAGE).get_page(request.GET.get("page"))
    urls = case_urls(report.benchmark, [case.key for case in page.object_list])
    n_now = sum(case.n for case in cases)
    context = {
        "benchmark": report.benchmark,
        "report": report,
        "candidate": chosen["candidate"],
        "format_label": format_label(chosen["format"]),
        "reference": names[chosen["reference"]],
        "level": names[chosen["level"]],
        "n_now": n_now,
        "n_cases": len(cases),
        "n_in_report": round(in_report[0]),
        "is_changed": n_now != round(in_report[0]),
        "page_obj": page,
        "rows": [{"case": case, "url": urls.get(case.key, "")} for case in page.object_list],
    }
    return render(request, "agreement/reports/readings.html", context)


def _is_of(series: str, candidate: str) -> bool:
    """Whether a series is one of several of a candidate, which then has its source behind the name."""
    return series.startswith(f"{candidate} (") and series.endswith(")")
