"""Views of the readings of a run of a judge that reads levels, page by page and as a file."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import is_admin
from rubrics.acuity.shown import shown_levels
from rubrics.acuity.stored import scale_of
from rubrics.models import Candidate
from scoring import access
from scoring.acuity import selectors
from scoring.models import AcuityReading, JudgeRun
from scoring.selectors import judges_and_runs

PER_PAGE = 25
_STATES = [choice for choice in AcuityReading.State.choices if choice[0] not in ("missing", "several")]


class ReadingFilters(forms.Form):
    """Which readings of a run are shown."""

    state = forms.ChoiceField(label=_("State"), required=False, choices=[("", _("All states")), *_STATES])
    candidate = forms.ChoiceField(label=_("Candidate"), required=False)

    def __init__(self, *args: Any, candidates: list[Candidate], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["candidate"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("All candidates")), *((row.public_id, row.name) for row in candidates)]

    def chosen(self) -> tuple[str, str]:
        """State and candidate; both empty where one of them is not one of the choices."""
        return (self.cleaned_data["state"], self.cleaned_data["candidate"]) if self.is_valid() else ("", "")


def _get_run(request: SignedInRequest, slug: str, public_id: str) -> JudgeRun:
    run = access.get_run(request.user, slug, public_id)
    if not run.reads_levels:
        raise Http404
    return run


@require_safe
@signed_in
def run_readings(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The readings beside the responses, in which the quotes are marked."""
    run = _get_run(request, slug, public_id)
    form = ReadingFilters(request.GET, candidates=list(judges_and_runs.candidates_of(run)))
    state, candidate = form.chosen()
    rows = selectors.judged_readings(run, state=state, candidate=candidate).select_related(
        "case", "candidate", "response", "call"
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    levels = shown_levels(scale_of(run.judge.scale)) if run.judge.scale else []
    edited = run.purpose == JudgeRun.Purpose.ACUITY_EDITED
    context = {
        "benchmark": run.benchmark,
        "run": run,
        "form": form,
        "page": page,
        "rows": [selectors.shown_reading(row, levels, edited=edited) for row in page],
        "counts": judges_and_runs.counts_of([run])[run.pk],
        "administers": is_admin(request.user, run.benchmark),
        "narrowed": bool(state or candidate),
    }
    return render(request, "scoring/acuity/run_readings.html", context)


@require_safe
@signed_in
def run_readings_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """All readings of a run; the filters of the page apply here too."""
    run = _get_run(request, slug, public_id)
    form = ReadingFilters(request.GET, candidates=list(judges_and_runs.candidates_of(run)))
    state, candidate = form.chosen()
    rows = selectors.judged_csv(selectors.judged_readings(run, state=state, candidate=candidate))
    pieces = stream_csv(selectors.JUDGED_COLUMNS, rows, text_columns=selectors.JUDGED_TEXT)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-run-{run.public_id}-readings.csv"'
    return response
