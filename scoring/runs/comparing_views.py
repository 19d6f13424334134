"""Views that compare two runs: parts of the pages of a run and of a judge, and the table as a file."""

from __future__ import annotations

from typing import Any

from django.http import Http404, StreamingHttpResponse
from django.views.decorators.http import require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from scoring import access
from scoring.models import JudgeRun
from scoring.runs import comparing
from scoring.runs.comparing import Comparison


def beside(run: JudgeRun | None, public_id: str = "") -> dict[str, Any]:
    """The context of ``scoring/runs/_comparison.html``.

    It compares ``run`` with the run in the other mode, and with the run whose public id is ``public_id``. It is empty
    if there is no run, or the run has not finished; `Http404` if ``public_id`` names no comparable run.
    """
    if run is None or not comparing.is_settled(run):
        return {}
    chosen = _chosen(run, public_id) if public_id else None
    other = comparing.in_other_mode(run)
    return {
        "compared_run": run,
        "other_runs": comparing.runs_to_choose(run, chosen),
        "mode": comparing.mode_of(run),
        "modes": None if other is None else comparing.compare_modes(run, other),
        "with_run": None if chosen is None else comparing.compare_runs(run, chosen),
    }


def _chosen(run: JudgeRun, public_id: str) -> JudgeRun:
    chosen = comparing.comparable_runs(run).filter(public_id=public_id).first()
    if chosen is None:
        raise Http404
    return chosen


def _compared(run: JudgeRun, public_id: str) -> Comparison | None:
    if not comparing.is_settled(run):
        return None
    if public_id:
        return comparing.compare_runs(run, _chosen(run, public_id))
    other = comparing.in_other_mode(run)
    return None if other is None else comparing.compare_modes(run, other)


@require_safe
@signed_in
def run_comparison_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """A run and the run that ``with`` names, else the newest in the other mode; no row if there is none."""
    run = access.get_run(request.user, slug, public_id)
    comparison = _compared(run, request.GET.get("with", ""))
    rows = [] if comparison is None else [comparison.row()]
    pieces = stream_csv(comparing.COLUMNS, rows, text_columns=comparing.TEXT_COLUMNS)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-run-{run.public_id}-comparison.csv"'
    return response
