"""Fragment that shows whether a report is stale; it is loaded after the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agreement import access
from agreement.reports.freshness import freshness_of
from consilium.core.jobs import JobStatus

if TYPE_CHECKING:
    from accounts.views import SignedInRequest


@require_safe
@login_required
def freshness(request: SignedInRequest, slug: str, section: str, public_id: str) -> HttpResponse:
    """The inputs of a report hashed as they stand now, and what has changed where they differ."""
    report = access.get_report(request.user, slug, public_id)
    if report.section != section or report.status != JobStatus.DONE:
        raise Http404
    context = {"benchmark": report.benchmark, "report": report, "freshness": freshness_of(report)}
    return render(request, "agreement/reports/_freshness.html#report-freshness", context)
