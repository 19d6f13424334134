"""Views that sign the threshold k and list the signed ones."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.confirming import confirmed, record_signature
from agreement import access
from agreement.calibration import thresholds
from agreement.calibration.forms import SignForm
from agreement.models import Report
from agreement.selectors.rater_choices import shown_name
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus
from rubrics.access import get_benchmark


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@confirmed("threshold")
def sign_threshold(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the threshold for confirmation, with a field for a reason; a POST signs it."""
    benchmark = get_benchmark(request.user, slug)
    report = _calibration(request, slug)
    current = thresholds.threshold_in_force(benchmark)
    calibrated = report.result["facts"]["k"] if report else None
    initial: dict[str, Any] = {"seen": current.version if current else 0, "k": request.GET.get("k") or calibrated}
    form = SignForm(request.POST if request.method == "POST" else None, initial=initial)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                with transaction.atomic():  # no signature without its line in the security log
                    choice = thresholds.sign_threshold(
                        benchmark=benchmark, report=report, by=request.user, at=timezone.now(), **form.cleaned_data
                    )
                    record_signature(request, kind="threshold", scope=slug, target=choice.version, at=choice.signed_at)
            except DomainError as error:
                form.add_error(None, str(error))
                status = error.status_code
                if status == 409:
                    # The threshold in force is shown above the form, so whoever signs again has seen it.
                    current = thresholds.threshold_in_force(benchmark)
                    form = form.seen_again(current.version if current else 0)
            else:
                messages.success(
                    request,
                    _("Signed: k = %(k)s, version %(version)s.") % {"k": choice.k, "version": choice.version},
                )
                if report:
                    return redirect("agreement:report", slug, "calibration", report.public_id)
                return redirect("agreement:calibration", slug)
    context = {
        "benchmark": benchmark,
        "report": report,
        "facts": report.result["facts"] if report else {},
        "rater": shown_name(report.benchmark, report.result["facts"]["rater"]) if report else "",
        "current": current,
        "form": form,
    }
    return render(request, "agreement/calibration/sign_threshold.html", context, status=status)


def _calibration(request: SignedInRequest, slug: str) -> Report | None:
    """The finished calibration that the query names; None where it names none, 404 for anything else."""
    public_id = request.GET.get("report", "")
    if not public_id:
        return None
    report = access.get_report(request.user, slug, public_id)
    if report.kind != Report.Kind.CALIBRATION or report.status != JobStatus.DONE:
        raise Http404
    return report


@require_safe
@signed_in
def thresholds_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Every signed threshold, the newest first, as CSV."""
    benchmark = get_benchmark(request.user, slug)
    rows = thresholds.rows(benchmark)
    response = StreamingHttpResponse(
        stream_csv(thresholds.COLUMNS, rows, text_columns=thresholds.TEXT), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = 'attachment; filename="thresholds.csv"'
    return response
