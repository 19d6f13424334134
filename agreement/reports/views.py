"""The lists of reports with their forms, and the page of one report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agreement import access, services
from agreement.acuity.inputs import missing_inputs
from agreement.calibration.page import signing
from agreement.exports.forms import ExportForm
from agreement.forms import ReportForm
from agreement.kinds import Kind, kinds_in
from agreement.models import Report
from agreement.reports import presentation
from agreement.reports.naming import ReportNaming, name_report, naming_of
from agreement.selectors.rater_choices import look_once, rater_choices
from consilium.core.commands import CommandForm, form_field
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import OPEN, JobStatus
from rubrics.access import get_benchmark, is_admin

PER_PAGE = 20


@dataclass(frozen=True)
class ReportFormEntry:
    """The form for a new report of one kind. ``open`` if it was just submitted, is asked for, or comes first."""

    kind: Kind
    form: ReportForm
    open: bool


class NamingForm(CommandForm):
    """Name, note and archive of a report."""

    commands = (ReportNaming,)
    note = form_field(ReportNaming, "note", widget=forms.Textarea(attrs={"rows": 3}))
    field_order = ("name", "note", "archived")


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def section(request: SignedInRequest, slug: str, section: str) -> HttpResponse:
    """The reports of a section, and the forms that ask for new ones; ``kind`` in the address opens that form."""
    benchmark = get_benchmark(request.user, slug)
    look_once(benchmark)
    kinds = kinds_in(section)
    sent = request.POST.get("kind") if request.method == "POST" else None
    chosen = next((kind for kind in kinds if kind.value == request.GET.get("kind")), kinds[0])
    entries: list[ReportFormEntry] = []
    status = 200
    for kind in kinds:
        posted = request.POST if sent == kind.value else None
        form = kind.form(benchmark, posted, prefix=kind.value)
        entries.append(ReportFormEntry(kind, form, open=kind.value == sent or (sent is None and kind == chosen)))
        if posted is None:
            continue
        status = 422
        if not form.is_valid():
            continue
        try:
            report, is_new = services.start_report(
                benchmark=benchmark,
                kind=kind.value,
                parameters=form.parameters(),
                seed=form.chosen_seed,
                interval=form.chosen_interval,
                by=request.user,
                at=timezone.now(),
            )
        except DomainError as error:
            refuse(form, error)
            status = error.status_code
        else:
            if not is_new:
                messages.info(request, _("This report is already being computed."))
            return redirect("agreement:report", slug, section, report.public_id)
    everything = Report.objects.filter(benchmark=benchmark, kind__in=[kind.value for kind in kinds])
    everything = everything.select_related("benchmark", "created_by")
    reports, show_archived = everything.current(), request.GET.get("archived") == "1"
    page = Paginator(presentation.listed(everything.archived() if show_archived else reports), PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "benchmark": benchmark,
        "section": section,
        "entries": entries,
        "ready": any(entry.form.ready for entry in entries),
        "page": page,
        "rows": presentation.list_rows(page),
        "show_archived": show_archived,
        "n_archived": everything.archived().count(),
    }
    if section == "agreement":
        context["export"] = ExportForm(rater_choices(benchmark))
    elif section != "validity":
        newest = reports.filter(kind=kinds[0].value, status=JobStatus.DONE).first()
        if status != 200:  # an earlier report below a refused request would look like its answer
            context["refused"] = True
        elif newest:
            context |= presentation.body(newest, **_chosen(request))
        elif section == "calibration":
            context |= signing(benchmark)
        elif section == "acuity":
            context["missing"] = missing_inputs(benchmark)
    return render(request, f"agreement/reports/{section}.html", context, status=status)


def refuse(form: ReportForm, error: DomainError) -> None:
    """Show why the parameters make no report: beside the field that it is about, which the page calls by its label."""
    name = error.field.removeprefix("parameters.")
    if name in form.fields:
        form.add_error(name, str(error).replace(f"“{name}”", f"“{form.fields[name].label}”"))
    else:
        form.add_error(None, str(error))


def _chosen(request: SignedInRequest) -> dict[str, Any]:
    """What the address of a report chooses: the order of its table, a slice, a page of it, figures of its menus."""
    names = (("sort", "sort"), ("part", "slice"), ("page", "page"))
    return {**{name: request.GET.get(key, "") for name, key in names}, "chosen": request.GET.getlist("figure")}


def _of_section(request: SignedInRequest, slug: str, section: str, public_id: str) -> Report:
    report = access.get_report(request.user, slug, public_id)
    if report.section != section:
        raise Http404
    return report


@require_safe
@signed_in
def report(request: SignedInRequest, slug: str, section: str, public_id: str) -> HttpResponse:
    """One report: its figures and tables, or its progress."""
    report = _of_section(request, slug, section, public_id)
    return _report_page(request, report, NamingForm(initial=asdict(naming_of(report))))


@require_POST
@signed_in
def naming(request: SignedInRequest, slug: str, section: str, public_id: str) -> HttpResponse:
    """Give a report a name and a note, archive it, or take it back from the archive."""
    report = _of_section(request, slug, section, public_id)
    form = NamingForm(request.POST)
    status = 422
    if form.is_valid():
        try:
            name_report(report=report, changes=form.cleaned_data, at=timezone.now())
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            messages.success(request, _("Saved."))
            return redirect("agreement:report", slug, section, public_id)
    return _report_page(request, report, form, status=status)


def _report_page(request: SignedInRequest, report: Report, form: NamingForm, status: int = 200) -> HttpResponse:
    context = {
        "benchmark": report.benchmark,
        "report": report,
        "open": report.status in OPEN,
        "naming": form,
        "administers": is_admin(request.user, report.benchmark),  # some next steps are an admin's alone
    }
    if report.status == JobStatus.DONE:
        context |= presentation.body(report, **_chosen(request))
    else:
        context |= presentation.heading(report)
    return render(request, "agreement/reports/report.html", context, status=status)


@require_safe
@signed_in
def progress(request: SignedInRequest, slug: str, section: str, public_id: str) -> HttpResponse:
    """The progress of a report, requested every second while it is open; then the page is reloaded."""
    report = _of_section(request, slug, section, public_id)
    context = {"benchmark": report.benchmark, "report": report, "open": report.status in OPEN}
    response = render(request, "agreement/reports/report.html#report-progress", context)
    if not context["open"]:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@signed_in
def recompute(request: SignedInRequest, slug: str, section: str, public_id: str) -> HttpResponse:
    """The same report once more, as a new one."""
    report = _of_section(request, slug, section, public_id)
    try:
        new_report = services.recompute_report(report=report, by=request.user, at=timezone.now())
    except DomainError as error:
        messages.error(request, str(error))
        return redirect("agreement:report", slug, section, public_id)
    messages.info(request, _("The report is being computed again. The earlier report remains unchanged."))
    return redirect("agreement:report", slug, section, new_report.public_id)
