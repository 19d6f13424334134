"""Views of juries: the page of one, a part of its form, and the agreement of its members as a file."""

from __future__ import annotations

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.models import Benchmark
from scoring import access
from scoring.judges import juries
from scoring.judges.jury_forms import even_number
from scoring.models import Judge
from scoring.runs import comparing
from scoring.selectors.raters import MAJORITY

NEW = "scoring/judges/new_jury.html"


def even_number_part(request: SignedInRequest) -> HttpResponse:
    """The part of the form that warns about the number of ticked members."""
    warning = even_number(request.GET.getlist("members"), request.GET.get("rule", ""))
    return render(request, f"{NEW}#even-number", {"warning": warning})


def _jury(request: SignedInRequest, slug: str, public_id: str) -> tuple[Benchmark, Judge]:
    """A jury that belongs to the benchmark; it uses only its members' runs on that benchmark."""
    benchmark, jury = access.get_judge(request.user, slug, public_id)
    if not jury.kind_info.has_members or jury.benchmark_id != benchmark.pk:
        raise Http404
    return benchmark, jury


def jury_page(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The members of a jury, the runs that give their verdicts, and how often they agree."""
    benchmark, jury = _jury(request, slug, public_id)
    state = juries.jury_states(benchmark, [jury])[jury.pk]
    versions = access.judges_for(request.user).filter(benchmark=benchmark, name=jury.name)
    context = {
        "benchmark": benchmark,
        "judge": jury,
        "state": state,
        "warning": even_number(jury.config["members"], jury.config.get("rule", MAJORITY)),
        "figures": None if state.waiting_for else juries.jury_figures(benchmark, jury),
        "versions": versions.order_by("-version"),
    }
    return render(request, "scoring/judges/jury.html", context)


@require_safe
@signed_in
def jury_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The agreement of every two members; no rows while a member has no run."""
    benchmark, jury = _jury(request, slug, public_id)
    waiting = juries.jury_states(benchmark, [jury])[jury.pk].waiting_for
    rows = [] if waiting else [comparison.row() for comparison in juries.jury_figures(benchmark, jury).pairwise]
    pieces = stream_csv(comparing.COLUMNS, rows, text_columns=comparing.TEXT_COLUMNS)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-jury-{jury.public_id}-members.csv"'
    return response
