"""The page of replications: the tables and figures of a paper with their states, and their files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from agreement.models import Replication, Report
from agreement.replication import services
from agreement.replication.building import State
from agreement.replication.choosing import Choices, Options
from agreement.replication.files import (
    TABLE_ENDINGS,
    ArtefactStatus,
    artefacts_table,
    counts_of,
    made_of,
    packed,
    published_table,
    table_text,
)
from agreement.replication.forms import ReplicationForm
from agreement.replication.gaps import ADMIN_VIEWS, Gap
from agreement.replication.making import planned
from agreement.replication.manifest import FIGURE, TABLE
from agreement.replication.papers import PAPERS
from agreement.replication.published import NO_ROW, SEVERAL_ROWS, read_published
from agreement.replication.summary import Summary
from agreement.reports.download_views import as_file
from agreement.reports.files import TABLE_FORMATS
from agreement.reports.tables import Table
from consilium.core.errors import DomainError, ImportRefused
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.i18n import listed, translate
from consilium.core.jobs import OPEN, JobStatus
from rubrics.access import get_benchmark, is_admin
from rubrics.models import Benchmark

Context = dict[str, Any]


def get_replication(user: User | AnonymousUser, slug: str, public_id: str) -> Replication:
    """A replication on a benchmark that ``user`` runs, else 404."""
    rows = Replication.objects.filter(benchmark=get_benchmark(user, slug)).select_related("benchmark", "created_by")
    return get_object_or_404(rows, public_id=public_id)


def finished(user: User | AnonymousUser, slug: str, public_id: str) -> Replication:
    """The same, if it is done."""
    replication = get_replication(user, slug, public_id)
    if replication.status != JobStatus.DONE:
        raise Http404
    return replication


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def replication(request: SignedInRequest, slug: str) -> HttpResponse:
    """The tables and figures of the paper in the address with their states; a POST makes them."""
    benchmark = get_benchmark(request.user, slug)
    paper = PAPERS.get(request.GET.get("paper", ""), next(iter(PAPERS.values())))
    newest = services.newest_replication(benchmark, paper.key)
    options = Options.of_json(newest.options) if newest else Options()
    posted = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ReplicationForm(benchmark, options, *posted)
    refused: ImportRefused | None = None
    if posted and form.is_valid():
        file = form.cleaned_data["published"]
        try:
            services.start_replication(
                benchmark=benchmark,
                paper=paper.key,
                options=form.options(),
                published=read_published(file, paper) if file else None,
                by=request.user,
                at=timezone.now(),
            )
        except ImportRefused as error:
            refused = error
        except DomainError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            return redirect(f"{reverse('agreement:replication', args=[slug])}?paper={paper.key}")
    context: Context = {
        "benchmark": benchmark,
        "papers": PAPERS.values(),
        "paper": paper,
        "form": form,
        "is_filled": options != Options(),
        "refused": refused,
        **_state_of(benchmark, paper.key, newest, administers=is_admin(request.user, benchmark)),
    }
    return render(request, "agreement/replication/replication.html", context, status=422 if posted else 200)


def _state_of(benchmark: Benchmark, paper: str, newest: Replication | None, *, administers: bool) -> Context:
    """The newest replication if it is open or failed, and the rows of the newest that is done; else of the plan."""
    done = services.newest_replication(benchmark, paper, JobStatus.DONE)
    context: Context = {"newest": newest if newest and newest.status != JobStatus.DONE else None, "done": done}
    context["open"] = bool(newest and newest.status in OPEN)
    if done is None:
        statuses = plan_of(benchmark, paper)
    else:
        statuses = made_of(done)
        context["summary"] = Summary(done, statuses)
        context["beside"] = [
            {
                **row,
                "has_row": row["note"] != NO_ROW,
                "has_several": row["note"] == SEVERAL_ROWS,
                "ours_cell": _number(row["ours"]),
                "difference_cell": _number(row["difference"]),
            }
            for row in published_table(done, statuses).dicts()
        ]
    rows = [(status.state, _row(benchmark, status, administers=administers)) for status in statuses]
    context["rows"] = [row for state, row in rows if state != State.NOT_FROM_DATA]
    context["others"] = [row for state, row in rows if state == State.NOT_FROM_DATA]
    counts = counts_of(statuses)
    context["counts"] = [(state_label(state), counts[state]) for state in _BADGES if counts[state]]
    return context


def _number(value: float | None) -> str:
    """A number with as many decimals as help to compare it with a published one."""
    return "" if value is None else f"{value:.4g}"


def plan_of(benchmark: Benchmark, paper: str, options: Options | None = None) -> list[ArtefactStatus]:
    """What can be made of a paper, before anything is computed."""
    outcomes = planned(PAPERS[paper], Choices(benchmark, options or Options()))
    return made_of(Replication(benchmark=benchmark, paper=paper, result=list(outcomes)))


def state_label(state: State) -> str:
    """The word for a state, in the language of the reader."""
    return str(_LABELS[state])


_LABELS = {
    State.MADE: gettext_lazy("Made"),
    State.IN_PART: gettext_lazy("In part"),
    State.LACKS_DATA: gettext_lazy("Lacks data"),
    State.CAN_BE_MADE: gettext_lazy("Can be made"),
    State.NOT_FROM_DATA: gettext_lazy("Not made from data"),
}
_FORMS = {TABLE: gettext_lazy("Table"), FIGURE: pgettext_lazy("of a paper", "Figure")}
# The class of a badge for each state that is counted.
_BADGES = {
    State.MADE: "done",
    State.IN_PART: "incomplete",
    State.LACKS_DATA: "not_started",
    State.CAN_BE_MADE: "pending",
}


def _url_of(gap: Gap, benchmark: Benchmark, *, administers: bool) -> str:
    """The page of the next step; empty where there is none that the reader may open."""
    if not gap.view or (gap.view in ADMIN_VIEWS and not administers):
        return ""
    return reverse(gap.view, args=[benchmark.slug])


def _row(benchmark: Benchmark, status: ArtefactStatus, *, administers: bool) -> Context:
    figures = status.built.figures if status.built else []
    names = [report_name(status, report) for report in status.reports]
    several = len({report.pk for report, _figure in figures}) > 1
    return {
        "key": status.artefact.key,
        "title": translate(status.artefact.title),
        "place": status.artefact.place,
        "form": _FORMS[status.artefact.form],
        "badge": _BADGES.get(status.state, ""),
        "state": state_label(status.state),
        "gaps": [
            {
                "what": gap.what_here,
                "how": gap.how_here,
                "command": f"manage.py {gap.command.replace('SLUG', benchmark.slug)}" if gap.command else "",
                "url": _url_of(gap, benchmark, administers=administers),
            }
            for gap in status.gaps
        ],
        "reports": list(zip(status.reports, names, strict=True)),
        "table_files": [(ending, TABLE_FORMATS[ending].label) for ending in TABLE_ENDINGS] if status.table else [],
        "figures": [(report, figure, report_name(status, report) if several else "") for report, figure in figures],
    }


def report_name(status: ArtefactStatus, report: Report) -> str:
    """What tells a report from the others of an artefact, such as its judge; empty where it is the only one."""
    if len(status.reports) < 2:
        return ""
    value = report.parameters.get(status.artefact.by)
    return listed(map(str, value)) if isinstance(value, list) else str(value or report.public_id)


@require_safe
@signed_in
def freshness(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The inputs of the reports that a replication used, hashed as they stand now, where a change was recorded."""
    replication = finished(request.user, slug, public_id)
    summary = Summary(replication, made_of(replication))
    stale, unsure = summary.checked()
    context: Context = {
        "benchmark": replication.benchmark,
        "done": replication,
        "summary": summary,
        "is_checked": True,
        "findings": [
            (is_certain, len(reports), [_named(status) for status in summary.made_of(reports)])
            for is_certain, reports in ((True, stale), (False, unsure))
            if reports
        ],
    }
    return render(request, "agreement/replication/_freshness.html", context)


def _named(status: ArtefactStatus) -> tuple[str, str]:
    return status.artefact.key, translate(status.artefact.title)


@require_safe
@signed_in
def progress(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The progress of a replication, requested every second while it is open; then the page is loaded again."""
    replication = get_replication(request.user, slug, public_id)
    context = {"benchmark": replication.benchmark, "newest": replication, "open": replication.status in OPEN}
    response = render(request, "agreement/replication/_progress.html", context)
    if not context["open"]:
        response["HX-Refresh"] = "true"
    return response


@require_safe
@signed_in
def archive(request: SignedInRequest, slug: str, public_id: str) -> FileResponse:
    """All files as one ZIP."""
    replication = finished(request.user, slug, public_id)
    return as_file(packed(replication), archive_name(replication), "application/zip")


def archive_name(replication: Replication) -> str:
    """What the ZIP is saved as."""
    return f"replication-{replication.paper}-{replication.public_id}.zip"


@require_safe
@signed_in
def artefacts_csv(request: SignedInRequest, slug: str, paper: str) -> HttpResponseBase:
    """The tables and figures of a paper with their states; before anything is made, what can be made."""
    benchmark = get_benchmark(request.user, slug)
    if paper not in PAPERS:
        raise Http404
    done = services.newest_replication(benchmark, paper, JobStatus.DONE)
    statuses = made_of(done) if done else plan_of(benchmark, paper)
    table = artefacts_table(done or Replication(benchmark=benchmark, paper=paper), statuses)
    return csv_of(table, f"artefacts-{paper}")


@require_safe
@signed_in
def published_csv(request: SignedInRequest, slug: str, public_id: str) -> HttpResponseBase:
    """Values of the paper beside those made here."""
    replication = finished(request.user, slug, public_id)
    return csv_of(published_table(replication, made_of(replication)), "published")


@require_safe
@signed_in
def artefact_table(request: SignedInRequest, slug: str, public_id: str, name: str, ending: str) -> HttpResponseBase:
    """The table of one artefact as CSV, LaTeX or Markdown, with the same bytes as in the ZIP."""
    replication = finished(request.user, slug, public_id)
    if ending not in TABLE_ENDINGS:
        raise Http404
    with translation.override("en"):
        status, table = _status_with_table(replication, name)
        text = "".join(table_text(replication, status, table, ending))
    return _as_download([text], name, ending)


def table_called(replication: Replication, name: str) -> Table:
    """The table of one artefact; 404 where it has none."""
    return _status_with_table(replication, name)[1]


def _status_with_table(replication: Replication, name: str) -> tuple[ArtefactStatus, Table]:
    for status in made_of(replication):
        if status.artefact.key == name and status.table is not None:
            return status, status.table
    raise Http404


def csv_of(table: Table, name: str) -> StreamingHttpResponse:
    """A table as a CSV file to download."""
    return _as_download(table.csv(), name, "csv")


def _as_download(text: Iterable[str], name: str, ending: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(text, content_type=TABLE_FORMATS[ending].content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response
