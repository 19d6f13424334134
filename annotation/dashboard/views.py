"""Views of the dashboard for staff: progress, and which work waits for which person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_safe

from annotation.dashboard import boards, waiting
from annotation.dashboard.bar_charts import days_chart
from annotation.dashboard.counts import STAGES
from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark, is_admin

Rows = Iterable[Mapping[str, Any] | Sequence[Any]]
# Table → its columns, the columns that hold words, and a function for its rows.
TABLES: dict[str, tuple[Sequence[str], Collection[str], Callable[[boards.Board], Rows]]] = {
    "groups": (boards.GROUP_COLUMNS, ("group",), boards.group_rows),
    "batches": (boards.BATCH_COLUMNS, ("batch", "group", "note"), lambda board: boards.batch_rows(board.batches)),
    "physicians": (
        boards.PHYSICIAN_COLUMNS,
        ("group", "physician"),
        lambda board: boards.physician_rows(board.physicians),
    ),
    "days": (boards.DAY_COLUMNS, (), lambda board: board.days),
    "waiting": (
        waiting.CSV_COLUMNS,
        ("place", "who", "waits_for"),
        lambda board: waiting.wait_rows(board.waits, board.at),
    ),
}


@require_safe
@signed_in
def progress(request: SignedInRequest, slug: str) -> HttpResponse:
    """The dashboard: progress, pace, forecasts, and what waits."""
    benchmark = get_benchmark(request.user, slug)
    administers = is_admin(request.user, benchmark)
    board = boards.board_of(benchmark, at=timezone.now(), names=administers)
    context = {
        "benchmark": benchmark,
        "board": board,
        "physicians": boards.ranked(board.physicians, request.GET.get("sort", "")),
        "sort": request.GET.get("sort", ""),
        "stages": STAGES,
        "chart": days_chart(board.days),
        "day_columns": (_("Day"), _("Submitted")),
        "day_rows": [(date_format(day, pgettext("date", "D j N Y")), f"{number:,}") for day, number in board.days],
        "zone": timezone.get_current_timezone_name(),
        "attempts": boards.attempts_in(benchmark),
        "administers": administers,
    }
    return render(request, "annotation/dashboard/dashboard.html", context)


@require_safe
@signed_in
def progress_table(request: SignedInRequest, slug: str, table: str) -> StreamingHttpResponse:
    """One of the dashboard's tables as CSV; physicians by pseudonym for every reader."""
    benchmark = get_benchmark(request.user, slug)
    if table not in TABLES:
        raise Http404
    columns, words, rows = TABLES[table]
    board = boards.board_of(benchmark, at=timezone.now(), names=False)
    return csv_file(f"{slug}-{table}", columns, rows(board), words)


def csv_file(name: str, columns: Sequence[str], rows: Rows, words: Collection[str]) -> StreamingHttpResponse:
    """An answer that the browser saves as ``name``.csv."""
    response = StreamingHttpResponse(
        stream_csv(columns, rows, text_columns=words), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
