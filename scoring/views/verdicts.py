"""Views of the verdicts of a run, page by page and as a file."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from scoring import access
from scoring.forms import VerdictFilters
from scoring.models import JudgeRun
from scoring.selectors import judges_and_runs
from scoring.selectors.judgements import as_json, run_judgements, samples_of
from scoring.susceptibility.injections import INJECTIONS

PER_PAGE = 50


@require_safe
@signed_in
def verdicts(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Verdicts with their explanations; an invalid verdict is shown with the judge's answer."""
    run = access.get_run(request.user, slug, public_id)
    if run.reads_levels:
        return redirect("scoring:run-readings", slug, public_id)
    candidates = list(judges_and_runs.candidates_of(run))
    form = VerdictFilters(request.GET, candidates=candidates)
    chosen = form.cleaned_data if form.is_valid() else {}
    verdicts = judges_and_runs.verdicts_of(run, **{name: chosen.get(name, "") for name in ("outcome", "candidate")})
    page = Paginator(verdicts, PER_PAGE).get_page(request.GET.get("page"))
    shown = page.object_list
    about = next((candidate for candidate in candidates if candidate.public_id == chosen.get("candidate")), None)
    context = {
        "benchmark": run.benchmark,
        "run": run,
        "form": form,
        "page": page,
        "rows": judges_and_runs.verdict_page(run, shown),  # type: ignore[arg-type]  # a slice of the QuerySet above
        "counts": judges_and_runs.counts_of([run])[run.pk],
        "outcome": chosen.get("outcome", ""),
        "about": about,
        # ClinConsensus' list covers one candidate, with one response to each case.
        "samples": samples_of(run, about) if about and _is_graded(run) else [],
        "listable": _is_graded(run),
        "number_of_injections": len(INJECTIONS),
        "narrowed": bool(chosen.get("outcome") or chosen.get("candidate")),
    }
    return render(request, "scoring/runs/verdicts.html", context)


@require_safe
@signed_in
def verdicts_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """All verdicts of a run, in the columns that ``import_verdicts`` takes; the filters of the page apply here too."""
    run = access.get_run(request.user, slug, public_id)
    form = VerdictFilters(request.GET, candidates=list(judges_and_runs.candidates_of(run)))
    chosen = form.cleaned_data if form.is_valid() else {}
    verdicts = judges_and_runs.verdicts_of(run, **{name: chosen.get(name, "") for name in ("outcome", "candidate")})
    pieces = stream_csv(
        judges_and_runs.csv_columns(run), judges_and_runs.csv_rows(run, verdicts), text_columns=judges_and_runs.CSV_TEXT
    )
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-run-{run.public_id}-verdicts.csv"'
    return response


def _is_graded(run: JudgeRun) -> bool:
    """Whether the run judges unchanged responses, so that it is a rater."""
    return run.purpose == JudgeRun.Purpose.GRADE


@require_safe
@signed_in
def judgements(request: SignedInRequest, slug: str, public_id: str) -> HttpResponseBase:
    """A run's verdicts on a candidate, as ClinConsensus' JSON list; without a candidate, redirects to choose one."""
    run = access.get_run(request.user, slug, public_id)
    candidate_id, sample = request.GET.get("candidate", ""), request.GET.get("sample", "0")
    if not candidate_id:
        return redirect("scoring:verdicts", slug, public_id)
    candidate = judges_and_runs.candidates_of(run).filter(public_id=candidate_id).first()
    if candidate is None or not _is_graded(run) or sample not in map(str, samples_of(run, candidate)):
        raise Http404
    export = run_judgements(run, candidate, int(sample))
    response = StreamingHttpResponse(as_json(export.elements()), content_type="application/json")
    name = f"{slug}-run-{run.public_id}-{slugify(candidate.name) or candidate.public_id}"
    name += f"-{sample}" if int(sample) else ""
    response["Content-Disposition"] = f'attachment; filename="{name}-judgements.json"'
    return response
