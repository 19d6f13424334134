"""Fragment that shows whether a report is stale; it is loaded after the page."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agreement import access
from agreement.reports.freshness import freshness_of
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus


@require_safe
@signed_in
def freshness(request: SignedInRequest, slug: str, section: str, public_id: str) -> HttpResponse:
    """The inputs of a report hashed as they stand now, and what has changed where they differ."""
    report = access.get_report(request.user, slug, public_id)
    if report.section != section or report.status != JobStatus.DONE:
        raise Http404
    context = {"benchmark": report.benchmark, "report": report, "freshness": freshness_of(report)}
    if request.GET.get("in") == "list":
        return render(request, "agreement/reports/_freshness_badge.html", context)
    return render(request, "agreement/reports/_freshness.html#report-freshness", context)
