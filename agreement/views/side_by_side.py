"""One response on which two raters differ, beside one to the same case on which they agree more."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from agreement import access
from agreement.items.side_by_side import criterion_rows, marked
from agreement.models import Report
from agreement.reports.changes import changes_since
from agreement.reports.links import pairs_url
from agreement.reports.numbers import number
from agreement.reports.stored import table_of
from agreement.selectors.rater_choices import shown_name
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus
from rubrics.models import Response
from scoring.selectors.raters import resolve_rater


@require_safe
@signed_in
def pair(request: SignedInRequest, slug: str, public_id: str, response_id: str) -> HttpResponse:
    """The response with its criteria, and both raters' outcomes, notes and evidence; and its neighbours in the tail."""
    report = access.get_report(request.user, slug, public_id)
    if report.kind != Report.Kind.ITEMS or report.status != JobStatus.DONE:
        raise Http404
    tail = table_of(report, "tail")
    column = tail.columns.index("response")
    order = [row[column] for row in tail.rows]
    if response_id not in order:
        raise Http404
    place = order.index(response_id)
    row = dict(zip(tail.columns, tail.rows[place], strict=True))
    try:
        raters = (
            resolve_rater(report.benchmark, report.parameters["rater_a"]),
            resolve_rater(report.benchmark, report.parameters["rater_b"]),
        )
    except DomainError as error:
        messages.error(request, str(error))
        return redirect("agreement:report", slug, report.section, public_id)
    responses = {
        response.public_id: response
        for response in Response.objects.filter(
            case__benchmark=report.benchmark, public_id__in=[response_id, row["beside"]]
        ).select_related("case", "candidate")
    }
    this, other = responses[response_id], responses.get(row["beside"])
    rows, spans = criterion_rows(report.benchmark, raters, this, other)
    context = {
        "benchmark": report.benchmark,
        "report": report,
        "case": this.case,
        "this": this,
        "other": other,
        "this_blocks": marked(this.text, spans[this.pk]),
        "other_blocks": marked(other.text, spans[other.pk]) if other else [],
        "this_mf1": number(row, "mf1"),
        "other_mf1": number(row, "beside_mf1"),
        "pairs_url": pairs_url(report, row["slice"]),
        "rater_a": shown_name(report.benchmark, report.parameters["rater_a"]),
        "rater_b": shown_name(report.benchmark, report.parameters["rater_b"]),
        "rows": rows,
        "n_differ": sum(criterion_row.this.status == "differ" for criterion_row in rows),
        "place": place + 1,
        "total": len(order),
        "previous": order[place - 1] if place else None,
        "following": order[place + 1] if place + 1 < len(order) else None,
        "changed": bool(changes_since(report, report.started_at or report.created_at)),
    }
    return render(request, "agreement/pair/pair.html", context)
