"""The auditor's dashboard and form: take a case, note defects, submit the audit."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.strict_json import read_json
from consilium.core.versioning import StaleSave, saved_body, stale_body
from rubrics import cited
from rubrics.audits import access, report
from rubrics.audits.follow_up import consequences_of
from rubrics.audits.services import (
    QUESTIONS,
    AuditClosed,
    AuditFinding,
    FindingsFinal,
    finish,
    put_back,
    save_finding,
    take_case,
)
from rubrics.editor.citation import citations_of
from rubrics.models import AuditItem, CaseAudit
from rubrics.selectors.conversation import turns_of


@require_safe
@signed_in
def dashboard(request: SignedInRequest, slug: str) -> HttpResponse:
    """What waits for an auditor, and what they have handed in."""
    benchmark = access.get_audited_benchmark(request.user, slug)
    data = report.auditor_dashboard(request.user, benchmark)
    context = {
        "benchmark": benchmark,
        "dashboard": data,
        "submitted": consequences_of(data.done),
        "any_open": CaseAudit.objects.filter(benchmark=benchmark, status=CaseAudit.Status.OPEN).exists(),
    }
    return render(request, "rubrics/audits/dashboard.html", context)


@require_POST
@signed_in
def take(request: SignedInRequest, slug: str) -> HttpResponse:
    """Continue with the case under way, or take the next one."""
    benchmark = access.get_audited_benchmark(request.user, slug)
    try:
        item = take_case(auditor=request.user, benchmark=benchmark, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
        item = None
    if item is None:
        return redirect("rubrics:audit-desk", slug)
    return redirect("rubrics:audit-item", slug, item.public_id)


@never_cache  # the browser's Back shows what is stored: a submitted finding is read-only
@require_safe
@signed_in
def item(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """A case with its rubric, and the form beside it."""
    item = access.get_item(request.user, slug, public_id)
    return render(request, "rubrics/audits/item.html", _context(item))


def _context(item: AuditItem) -> dict[str, Any]:
    case = item.case
    rows = list(item.rubric.items.select_related("criterion").order_by("position"))
    citations = [citations_of(row.citations) for row in rows]
    labels, asks = report.question_labels(), _asks()
    is_closed = item.audit.status != CaseAudit.Status.OPEN
    return {
        "benchmark": item.audit.benchmark,
        "item": item,
        "case": case,
        "turns": turns_of(case),
        "rows": list(zip(rows, cited.describe_lists(item.audit.benchmark, citations), strict=True)),
        "questions": [(name, labels[name], asks[name], item.answers.get(name)) for name in QUESTIONS],
        "outcomes": [
            ("sound", _("Sound"), _("The case can stay as it is.")),
            ("revise", _("Revise"), _("The authors receive your reason, with the criteria that you marked.")),
            ("remove", _("Remove"), _("You propose to exclude the case; an admin decides.")),
        ],
        "is_closed": item.done_at is None and is_closed,
        "is_excluded": item.done_at is None and not is_closed and case.excluded_at is not None,
        "writable": item.done_at is None and not is_closed and case.excluded_at is None,
    }


def _asks() -> dict[str, str]:
    return {
        "correctness": _("Is every statement in the case, the reference answer and the criteria clinically correct?"),
        "necessity": _("Does each criterion address something that a good response needs, and is nothing missing?"),
        "consistency": _("Do the criteria and their points fit the case and each other, without contradiction?"),
        "guidelines": _("Do they agree with current guidelines, where these exist?"),
    }


@require_POST
@signed_in
def save(request: SignedInRequest, slug: str, public_id: str) -> JsonResponse:
    """Save ``{"version", "answers", "criteria", "outcome", "comment"}``; the finding may be incomplete.

    Answers 409 with the stored finding where another tab has saved since, and ``{"detail", "final", "closed"}`` where
    it is refused: ``final`` once the case was submitted, ``closed`` once the audit was closed before that.
    """
    item = access.get_item(request.user, slug, public_id)
    return _saved(request, item, hand_in=False)


@require_POST
@signed_in
def submit(request: SignedInRequest, slug: str, public_id: str) -> JsonResponse:
    """Hand the case in, with the same body; the answer has the URL of the next page."""
    item = access.get_item(request.user, slug, public_id)
    return _saved(request, item, hand_in=True)


def _saved(request: SignedInRequest, item: AuditItem, *, hand_in: bool) -> JsonResponse:
    try:
        finding, version = _read(request.body)
    except (ValueError, KeyError, TypeError):
        return JsonResponse({"detail": _("The request does not match the page. Reload the page.")}, status=400)
    try:
        if hand_in:
            finish(item=item, auditor=request.user, finding=finding, version=version, at=timezone.now())
            slug = item.audit.benchmark.slug
            following = take_case(auditor=request.user, benchmark=item.audit.benchmark, at=timezone.now())
            if following is None:
                messages.success(request, _("Submitted. No more cases are waiting for you."))
                return JsonResponse({"next": redirect("rubrics:audit-desk", slug).url})
            messages.success(request, _("Submitted. This is the next case."))
            return JsonResponse({"next": redirect("rubrics:audit-item", slug, following.public_id).url})
        row = save_finding(item=item, auditor=request.user, finding=finding, version=version)
    except StaleSave as stale:
        current = _stored(stale.current)
        body = stale_body(item.public_id, stale, version=current["version"], current=current)
        return JsonResponse(body, status=stale.status_code)
    except DomainError as refused:
        ends = {"final": isinstance(refused, FindingsFinal), "closed": isinstance(refused, AuditClosed)}
        return JsonResponse({"detail": str(refused), **ends}, status=422)
    return JsonResponse(saved_body(item.public_id, version=row.version, current=_stored(row)))


def _read(body: bytes) -> tuple[AuditFinding, int]:
    payload = read_json(body)
    answers, criteria, outcome, comment = (payload[name] for name in ("answers", "criteria", "outcome", "comment"))
    version = payload["version"]
    texts = type(outcome) is str and type(comment) is str and type(version) is int
    if not texts or type(answers) is not dict or not all(type(criterion) is int for criterion in criteria):
        raise ValueError("a field is not of its kind")
    if any(criterion >= 2**63 or criterion < 0 for criterion in criteria):
        raise ValueError("no id of a criterion")
    comment.encode()  # a lone surrogate cannot be stored
    return AuditFinding(answers, criteria, outcome, comment.replace("\x00", "")), version


def _stored(row: AuditItem) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("version", "answers", "criteria", "outcome", "comment")}


@require_POST
@signed_in
def release(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Let any auditor take the case, after the other waiting cases."""
    item = access.get_item(request.user, slug, public_id)
    try:
        put_back(item=item, auditor=request.user)
    except DomainError as refused:
        messages.error(request, str(refused))
        return redirect("rubrics:audit-item", slug, public_id)
    messages.success(request, _("Released. It is offered again after the other waiting cases."))
    return redirect("rubrics:audit-desk", slug)
