"""Views of screenings: the list, a new one, and its cases to decide on."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import trigger_client_event

from accounts.models import User
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.figures.render import inline_svg
from rubrics.access import get_benchmark
from rubrics.models import Benchmark
from scoring.models import Screening
from scoring.screening import selectors
from scoring.screening.forms import ScreeningForm
from scoring.screening.services import UNDO, close_screening, create_screening, decide

PER_PAGE = 50
PAGE = "scoring/screening/screening.html"


def get_screening(user: User, slug: str, public_id: str) -> Screening:
    """A screening of a benchmark that ``user`` runs."""
    rows = Screening.objects.filter(benchmark=get_benchmark(user, slug)).select_related("benchmark", "created_by")
    return get_object_or_404(rows, public_id=public_id)


@require_safe
@signed_in
def screenings(request: SignedInRequest, slug: str) -> HttpResponse:
    """The screenings of a benchmark, the newest first."""
    benchmark = get_benchmark(request.user, slug)
    rows = selectors.tallied(Screening.objects.filter(benchmark=benchmark)).order_by("-created_at", "-pk")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"benchmark": benchmark, "page_obj": page, "can_screen": bool(selectors.raters_on_offer(benchmark))}
    return render(request, "scoring/screening/screenings.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_screening(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose rater, candidates and threshold; a POST scores the cases."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        return _form(request, benchmark, ScreeningForm(benchmark=benchmark))
    form = ScreeningForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            screening = create_screening(benchmark=benchmark, terms=form.terms(), by=request.user, at=timezone.now())
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            return redirect("scoring:screening", slug, screening.public_id)
    return _form(request, benchmark, form, status)


def _form(request: SignedInRequest, benchmark: Benchmark, form: ScreeningForm, status: int = 200) -> HttpResponse:
    return render(request, "scoring/screening/new.html", {"benchmark": benchmark, "form": form}, status=status)


@require_safe
@signed_in
def screening(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The cases of a screening, flagged first, and what was decided."""
    screening = get_screening(request.user, slug, public_id)
    show = _show(request.GET.get("show", ""))
    page = Paginator(selectors.shown_cases(screening, show), PER_PAGE).get_page(request.GET.get("page"))
    for row in page:
        row.by_candidate = sorted(row.scores.items())
    bins = selectors.distribution(screening)
    title = _("Scores of the cases")
    context = {
        **_counts(screening),
        "show": show,
        "page_obj": page,
        "figure_title": title,
        "svg": inline_svg(selectors.drawing_of(screening, bins), title=title),
        "bins": [(f"{low:.2f}–{high:.2f}", n) for low, high, n in bins],
    }
    return render(request, PAGE, context)


def _show(given: str) -> str:
    return given if given in selectors.SHOWS else "flagged"


def _counts(screening: Screening) -> dict[str, Any]:
    tally = selectors.tally_of(screening)
    labels = {
        "flagged": _("Flagged"),
        "undecided": _("Undecided"),
        "excluded": _("Excluded"),
        "kept": _("Kept"),
        "undefined": _("No score"),
        "all": _("All"),
    }
    return {
        "benchmark": screening.benchmark,
        "screening": screening,
        "tally": tally,
        "shows": [(name, label, getattr(tally, name)) for name, label in labels.items()],
        "is_open": screening.status == Screening.Status.OPEN,
    }


@require_safe
@signed_in
def screening_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """Every case with its scores and what was decided."""
    screening = get_screening(request.user, slug, public_id)
    pieces = stream_csv(
        selectors.csv_columns(screening), selectors.csv_rows(screening), text_columns=selectors.CSV_TEXT
    )
    return _file(pieces, f"{slug}-screening-{screening.public_id}.csv")


@require_safe
@signed_in
def distribution_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The table behind the figure."""
    screening = get_screening(request.user, slug, public_id)
    pieces = stream_csv(("score_from", "score_to", "n_cases"), selectors.distribution(screening), text_columns=())
    return _file(pieces, f"{slug}-screening-{screening.public_id}-distribution.csv")


def _file(pieces: Any, name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_POST
@signed_in
def screening_decide(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Keep, exclude or undo: one case (htmx requests its row alone), or several cases with one reason."""
    screening = get_screening(request.user, slug, public_id)
    cases = [value.replace("\x00", "") for value in request.POST.getlist("case")]
    decision = request.POST.get("decision", "")
    try:
        rows = decide(
            screening=screening,
            cases=cases,
            decision=decision,
            reason=request.POST.get("reason", "").replace("\x00", ""),
            by=request.user,
            at=timezone.now(),
        )
    except DomainError as refused:
        if request.htmx:
            answer = HttpResponse(status=204)
            return trigger_client_event(answer, "toast", {"text": str(refused), "level": "error"})
        messages.error(request, str(refused))
        return redirect(_place(request, screening))
    if request.htmx and len(rows) == 1:
        rows[0].by_candidate = sorted(rows[0].scores.items())
        show = _show(request.POST.get("show", ""))
        context = {**_counts(screening), "row": rows[0], "show": show, "swapped": True}
        return render(request, "scoring/screening/_case.html", context)
    if decision != UNDO:
        if decision == "exclude":
            message = ngettext("%(n)s case excluded.", "%(n)s cases excluded.", len(rows))
        else:
            message = ngettext("%(n)s case kept.", "%(n)s cases kept.", len(rows))
        messages.success(request, message % {"n": len(rows)})
    return redirect(_place(request, screening))


def _place(request: SignedInRequest, screening: Screening) -> str:
    """The address of the list, with the filter and page that the reader had open."""
    page = request.POST.get("page", "")
    query = {"show": _show(request.POST.get("show", "")), **({"page": page} if page.isdecimal() else {})}
    return f"{reverse('scoring:screening', args=[screening.benchmark.slug, screening.public_id])}?{urlencode(query)}"


@require_POST
@signed_in
def screening_close(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """End a screening."""
    screening = get_screening(request.user, slug, public_id)
    try:
        close_screening(screening=screening, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
    return redirect("scoring:screening", slug, public_id)
