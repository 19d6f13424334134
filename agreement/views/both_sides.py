"""Cases with two responses on both sides of k: the list, and two responses beside each other."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from agreement import access
from agreement.models import Report
from agreement.reports import files
from agreement.reports.changes import changes_since
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from agreement.scoreboard.two_responses import TwoResponses, caption, notes, pair_table, printed_table, read_two
from agreement.selectors.rater_choices import shown_name
from agreement.writers.latex import stream_latex
from agreement.writers.markdown import stream_markdown
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus

PER_PAGE = 50
ENDINGS = ("csv", "tex", "md")


def _rows_of(request: SignedInRequest, slug: str, public_id: str) -> tuple[Report, list[Row]]:
    """A finished report of scores that the reader may see, and its pairs; 404 where it is older than these."""
    report = access.get_report(request.user, slug, public_id)
    if report.kind != Report.Kind.SCORES or report.status != JobStatus.DONE:
        raise Http404
    try:
        return report, table_of(report, "both_sides").dicts()
    except KeyError:
        raise Http404 from None


@require_safe
@signed_in
def cases(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The cases with a response that reaches k and one that does not, the pair nearest to k first."""
    report, rows = _rows_of(request, slug, public_id)
    context = {
        "benchmark": report.benchmark,
        "report": report,
        "k": report.result["facts"]["k"],
        "rater": shown_name(report.benchmark, report.parameters["rater"]),
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "agreement/both_sides/cases.html", context)


def _pair_of(request: SignedInRequest, report: Report, rows: list[Row], response_id: str) -> tuple[int, TwoResponses]:
    """The place in the list of the pair whose upper response is called ``response_id``, and the responses that were
    chosen; DomainError where the rater of the report is gone.
    """
    place = next((i for i, row in enumerate(rows) if row["response_above"] == response_id), None)
    if place is None:
        raise Http404
    pair = read_two(report, rows[place], {side: request.GET.get(side, "") for side in ("above", "below")})
    if pair is None:
        raise Http404
    return place, pair


@require_safe
@signed_in
def pair(request: SignedInRequest, slug: str, public_id: str, response_id: str) -> HttpResponse:
    """Two responses to one case; ``above`` and ``below`` choose others than the nearest to k."""
    report, rows = _rows_of(request, slug, public_id)
    try:
        place, two = _pair_of(request, report, rows, response_id)
    except DomainError as error:
        messages.error(request, str(error))
        return redirect("agreement:report", slug, report.section, public_id)
    context = {
        "benchmark": report.benchmark,
        "report": report,
        "rater": shown_name(report.benchmark, report.parameters["rater"]),
        "case": two.above.response.case,
        "two": two,
        "response_id": response_id,
        "n_apart": sum(criterion.is_apart for criterion in two.criteria),
        "endings": [(ending, files.TABLE_FORMATS[ending].label) for ending in ENDINGS],
        "place": place + 1,
        "total": len(rows),
        "previous": rows[place - 1]["response_above"] if place else None,
        "following": rows[place + 1]["response_above"] if place + 1 < len(rows) else None,
        "changed": bool(changes_since(report, report.started_at or report.created_at)),
    }
    return render(request, "agreement/both_sides/pair.html", context)


@require_safe
@signed_in
def pair_file(request: SignedInRequest, slug: str, public_id: str, response_id: str, ending: str) -> HttpResponseBase:
    """The criteria of the two responses as CSV, LaTeX or Markdown."""
    report, rows = _rows_of(request, slug, public_id)
    if ending not in ENDINGS:
        raise Http404
    try:
        _place, two = _pair_of(request, report, rows, response_id)
    except DomainError:
        raise Http404 from None
    if ending == "csv":
        text = pair_table(two).csv()
    elif ending == "tex":
        label = f"tab:{report.public_id}-{response_id}"
        text = stream_latex(printed_table(two), caption=caption(two), label=label, notes=notes(two))
    else:
        text = stream_markdown(printed_table(two), caption=caption(two), notes=notes(two))
    response = StreamingHttpResponse(text, content_type=files.TABLE_FORMATS[ending].content_type)
    response["Content-Disposition"] = f'attachment; filename="pair.{ending}"'
    return response
