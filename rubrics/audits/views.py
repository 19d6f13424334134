"""Views of audits for staff: the list, a new one with its draw, and the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.audits import access, report
from rubrics.audits.follow_up import confirm_removal, keep_case
from rubrics.audits.forms import AuditForm
from rubrics.audits.services import (
    auditors_of,
    close_audit,
    plan_audit,
    refuse_too_many_auditors,
    start_audit,
)
from rubrics.models import Benchmark, Case, CaseAudit
from rubrics.slice_words import slice_words
from rubrics.views.benchmarks import csv_response

PER_PAGE = 50
SHOWN_OF_A_DRAW = 12
NEW = "rubrics/audits/new.html"


@require_safe
@signed_in
def audits(request: SignedInRequest, slug: str) -> HttpResponse:
    """The audits of a benchmark, the newest first."""
    benchmark = get_benchmark(request.user, slug)
    rows = report.counted(CaseAudit.objects.filter(benchmark=benchmark)).order_by("-created_at", "-pk")
    context = {
        "benchmark": benchmark,
        "page_obj": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "administers": is_admin(request.user, benchmark),
        "auditors": _auditors(benchmark),
    }
    return render(request, "rubrics/audits/audits.html", context)


def _auditors(benchmark: Benchmark) -> int:
    return auditors_of(benchmark).count()


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_audit(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose how the audit is drawn; a POST draws it."""
    benchmark = get_administered_benchmark(request.user, slug)
    if request.method != "POST":
        return _form(request, benchmark, AuditForm(benchmark=benchmark))
    form = AuditForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        try:
            audit, is_new = start_audit(benchmark=benchmark, terms=form.terms(), by=request.user, at=timezone.now())
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            if not is_new:
                messages.info(request, _("This audit has already been drawn."))
            return redirect("rubrics:audit", slug, audit.public_id)
    return _form(request, benchmark, form, status)


def _form(request: SignedInRequest, benchmark: Benchmark, form: AuditForm, status: int = 200) -> HttpResponse:
    context = {"benchmark": benchmark, "form": form, "auditors": _auditors(benchmark)}
    return render(request, NEW, context, status=status)


@require_safe
@signed_in
def audit_draw(request: SignedInRequest, slug: str) -> HttpResponse:
    """The cases that the form would draw now; nothing is written."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = AuditForm(request.GET, benchmark=benchmark)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid():
        try:
            refuse_too_many_auditors(benchmark, form.cleaned_data["auditors_per_case"])
            draw = plan_audit(benchmark=benchmark, terms=form.terms())
        except DomainError as refused:
            context["problems"] = [str(refused)]
        else:
            context |= {
                "draw": draw,
                "first": draw.cases[:SHOWN_OF_A_DRAW],
                "readings": len(draw.cases) * form.cleaned_data["auditors_per_case"],
            }
    else:
        context["problems"] = [
            f"{form.fields[name].label}: {error}" if name in form.fields else str(error)
            for name, errors in form.errors.items()
            for error in errors
        ]
    return render(request, f"{NEW}#draw", context)


@require_safe
@signed_in
def audit(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The report of an audit, as far as it has come."""
    audit = access.get_audit(request.user, slug, public_id)
    audit_report = report.report_of(audit)
    labels = {f"question:{name}": label for name, label in report.question_labels().items()}
    labels |= {"outcome:sound": _("Sound"), "outcome:revise": _("Revise"), "outcome:remove": _("Remove")}
    context = {
        "benchmark": audit.benchmark,
        "audit": audit,
        "report": audit_report,
        "tables": [
            # Slices in which no case was read yet are only in the file.
            (
                title,
                [(labels.get(rate.name) or slice_words(rate.name), rate) for rate in audit_report.of(kind) if rate.n],
            )
            for title, kind in (
                (_("By outcome"), "outcome"),
                (_("At fault, by question"), "question"),
                (_("Defective, by slice"), "slice"),
            )
        ],
        "defects": report.defects_of(audit),
        "unsubmitted": report.unsubmitted_of(audit),
        "reading": report.being_read_now(audit),
        "drawn": report.drawn_cases(audit),
        "progress": report.counted(CaseAudit.objects.filter(pk=audit.pk)).get(),
        "administers": is_admin(request.user, audit.benchmark),
        "auditors": _auditors(audit.benchmark),
    }
    return render(request, "rubrics/audits/audit.html", context)


@require_safe
@signed_in
def rates_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The rates of the report with their bounds."""
    audit = access.get_audit(request.user, slug, public_id)
    rows = report.rate_rows(report.report_of(audit))
    table = stream_csv(report.RATE_COLUMNS, rows, text_columns=report.RATE_TEXT)
    return csv_response(f"{slug}-audit-{audit.public_id}-rates.csv", table)


@require_safe
@signed_in
def readings_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """What was found on each case."""
    audit = access.get_audit(request.user, slug, public_id)
    table = stream_csv(report.READING_COLUMNS, report.reading_rows(audit), text_columns=report.READING_TEXT)
    return csv_response(f"{slug}-audit-{audit.public_id}-readings.csv", table)


@require_POST
@signed_in
def close(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """End an audit."""
    audit = access.get_administered_audit(request.user, slug, public_id)
    try:
        close_audit(audit=audit, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
    return redirect("rubrics:audit", slug, public_id)


@require_POST
@signed_in
def remove(request: SignedInRequest, slug: str, public_id: str, case: str) -> HttpResponse:
    """Exclude a case that an auditor proposed to remove."""
    done = _("“%(case)s” is now excluded. It stays on record.")
    return _answer_proposal(request, (slug, public_id, case), confirm_removal, done)


@require_POST
@signed_in
def keep(request: SignedInRequest, slug: str, public_id: str, case: str) -> HttpResponse:
    """Keep a case that an auditor proposed to remove."""
    return _answer_proposal(request, (slug, public_id, case), keep_case, _("“%(case)s” stays in the benchmark."))


def _answer_proposal(
    request: SignedInRequest, address: tuple[str, str, str], act: Callable[..., None], done: str
) -> HttpResponse:
    slug, public_id, case = address
    audit = access.get_administered_audit(request.user, slug, public_id)
    row = get_object_or_404(Case.objects.filter(benchmark=audit.benchmark), public_id=case)
    reason = request.POST.get("reason", "").replace("\x00", "")
    try:
        act(audit=audit, case=row, reason=reason, by=request.user, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, done % {"case": row.key})
    return redirect("rubrics:audit", slug, public_id)
