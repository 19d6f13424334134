"""The page of the leaderboard, and its CSV."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agreement import access
from agreement.acuity.inputs import missing_inputs
from agreement.kinds.acuity_page import RANKED, format_label, ranking_labels, side_by_side
from agreement.leaderboard import selectors
from agreement.models import Report
from agreement.reports import presentation
from agreement.reports.numbers import n_not_compared, number
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import names_in
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus
from rubrics.access import get_benchmark

Context = dict[str, Any]
MAX_REPORTS = 100  # of the menu


def chosen_report(request: SignedInRequest, slug: str) -> Report | None:
    """The report that the address names, else `newest_report`; 404 for one that is not there, or not finished."""
    public_id = request.GET.get("report", "")
    if not public_id:
        return selectors.newest_report(get_benchmark(request.user, slug))
    report = access.get_report(request.user, slug, public_id)
    if report.kind != Report.Kind.ACUITY or report.status != JobStatus.DONE:
        raise Http404
    return report


def chosen_measure(request: SignedInRequest) -> str:
    """The measure that the address ranks by; the default where it names none of them."""
    measure = request.GET.get("sort", "")
    return measure if measure in RANKED else RANKED[0]


@require_safe
@signed_in
def leaderboard(request: SignedInRequest, slug: str) -> HttpResponse:
    """The candidates of a report by rank, both formats side by side."""
    benchmark = get_benchmark(request.user, slug)
    report = chosen_report(request, slug)
    context: Context = {"benchmark": benchmark, "section": "acuity", "report": report}
    if report is None:
        context["missing"] = missing_inputs(benchmark)
    else:
        context |= {"title": report.name or presentation.title(report), "facts": report.result["facts"]}
        context |= _board(report, chosen_measure(request), request.GET.get("format", ""))
        context["reports"] = _menu(report)
    return render(request, "agreement/leaderboard/leaderboard.html", context)


def _menu(shown: Report) -> list[tuple[str, str, datetime, bool]]:
    """The reports that can be ranked, as the options of a menu: id, name, when it was computed, whether it is shown."""
    reports = list(presentation.listed(selectors.reports_to_rank(shown.benchmark))[:MAX_REPORTS])
    if shown not in reports:
        reports.append(shown)
    names = names_in(reports)
    return [
        (report.public_id, report.name or presentation.title(report, names), report.created_at, report == shown)
        for report in reports
    ]


def _board(report: Report, measure: str, first: str) -> Context:
    """The board in the order of the format ``first``, or of the first one that there is."""
    formats = selectors.formats_of(report)
    rows = selectors.board_rows(report, measure)
    order = sorted(formats, key=lambda format_: format_ != first)
    labels = ranking_labels()
    board = side_by_side(rows, order)
    return {
        "board": [
            {"candidate": name, "formats": [own and _shown(own, measure) for own in sorted_as(formats, order, owns)]}
            for name, owns in board
        ],
        "measures": [(key, label, key == measure) for key, label in labels.items()],
        "measure": measure,
        "ranked_by": labels[measure],
        "formats": [(format_, format_label(format_), format_ == order[0]) for format_ in formats],
        "leaders": [(row["candidate"], format_label(row["format"])) for row in rows if row["leads"]],
        "any_not_compared": any(n_not_compared(row, "rank") for row in rows),
        "any_differs": any(row["differs"] for row in rows),
        "price": f"{report.result['facts']['ratio']:g} : 1",
    }


def sorted_as(formats: list[str], order: list[str], owns: list[Row | None]) -> list[Row | None]:
    """The rows of a candidate, which come in ``order``, in that of ``formats``."""
    return [owns[order.index(format_)] for format_ in formats]


def _shown(row: Row, measure: str) -> Context:
    is_share = measure == "under_all"
    figure = number(row, "value", scale=100, digits=1, unit="%") if is_share else number(row, "value")
    return {**row, "rank_cell": number(row, "rank", digits=0).cell, "figure": figure.cell}


@require_safe
@signed_in
def leaderboard_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The same rows as a file; without rows where there is no report."""
    text = selectors.board_table(chosen_report(request, slug), chosen_measure(request)).csv()
    response = StreamingHttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="leaderboard.csv"'
    return response
