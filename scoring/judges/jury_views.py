"""Views of juries: the form that creates one, and the page of one."""

from __future__ import annotations

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.models import Benchmark
from scoring import access
from scoring.judges import juries
from scoring.judges import jury_services as services
from scoring.judges.jury_forms import JuryForm, even_number
from scoring.models import Judge
from scoring.runs import comparing
from scoring.selectors.raters import MAJORITY

NEW = "scoring/judges/new_jury.html"


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_jury(request: SignedInRequest, slug: str) -> HttpResponse:
    """Judges that give their verdict together; ``from`` fills the form with the settings of another."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        if request.htmx:
            # The form asks, as members are ticked, what to know of their number.
            warning = even_number(request.GET.getlist("members"), request.GET.get("rule", ""))
            return render(request, f"{NEW}#even-number", {"warning": warning})
        initial = {}
        if request.GET.get("from"):
            earlier = _jury(request, slug, request.GET["from"])[1]
            initial = {"name": earlier.name, **earlier.config}
        form = JuryForm(benchmark=benchmark, initial=initial)
        return render(request, NEW, {"benchmark": benchmark, "form": form})
    form = JuryForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            jury = services.create_jury(
                benchmark=benchmark, name=form.cleaned_data["name"], config=form.config(), by=request.user
            )
        except DomainError as error:
            form.refuse(error)
            status = error.status_code
        else:
            return redirect("scoring:judge", slug, jury.public_id)
    return render(request, NEW, {"benchmark": benchmark, "form": form}, status=status)


def _jury(request: SignedInRequest, slug: str, public_id: str) -> tuple[Benchmark, Judge]:
    """A jury at home in the benchmark; its members' runs are there and nowhere else."""
    benchmark, jury = access.get_judge(request.user, slug, public_id)
    if jury.kind != Judge.Kind.JURY or jury.benchmark_id != benchmark.pk:
        raise Http404
    return benchmark, jury


def jury_page(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Who sits in a jury, by which runs they speak, and how often they are of one mind."""
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
    """The agreement of every two members; no rows while one of them has not run."""
    benchmark, jury = _jury(request, slug, public_id)
    waiting = juries.jury_states(benchmark, [jury])[jury.pk].waiting_for
    rows = [] if waiting else [comparison.row() for comparison in juries.jury_figures(benchmark, jury).pairwise]
    pieces = stream_csv(comparing.COLUMNS, rows, text_columns=comparing.TEXT_COLUMNS)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-jury-{jury.public_id}-members.csv"'
    return response
