"""The grading page, and the pieces of it that save themselves."""

from __future__ import annotations

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from annotation import access, screens, services
from annotation.forms import DecisionForm
from annotation.models import Assignment, Batch
from consilium.lib.errors import DomainError
from consilium.lib.htmx import SignedInRequest, signed_in, swap_into

PAGE = "annotation/grading.html"


@require_safe
@never_cache
@signed_in
def grade(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Conversation and response on the left, criteria on the right."""
    assignment = access.get_own_assignment(request.user, public_id)
    return _page(request, assignment)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def criterion(request: SignedInRequest, public_id: str, criterion_id: int) -> HttpResponse:
    """One row: as it is saved (GET), or saved and then shown (POST)."""
    assignment = access.get_own_assignment(request.user, public_id)
    if request.method == "POST":
        form = DecisionForm(request.POST)
        try:
            if not form.is_valid():
                raise DomainError(" ".join(str(error) for errors in form.errors.values() for error in errors))
            services.save_decision(
                assignment=assignment, annotator=request.user, change=form.change(criterion_id), at=timezone.now()
            )
        except services.StaleDecision as stale:
            line = screens.one_grading_row(assignment, criterion_id)
            context = {"row": line, "current": stale.current, "assignment": assignment}
            response = render(request, f"{PAGE}#choice", context, status=stale.status_code)
            return swap_into(response, "#choice-body")
        except DomainError as refused:
            return _refusal(request, assignment, refused)
    row = screens.one_grading_row(assignment, criterion_id)
    if row is None:
        raise Http404
    response = render(
        request, f"{PAGE}#criterion", {"row": row, "assignment": assignment, "writable": _writable(assignment)}
    )
    response["X-Decision-Version"] = str(row.version)
    return response


@require_POST
@signed_in
def submit(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Hand the work in and open the next; refused with the list of what is missing."""
    assignment = access.get_own_assignment(request.user, public_id)
    try:
        services.submit(assignment=assignment, annotator=request.user, at=timezone.now())
    except DomainError as refused:
        return _refusal(request, assignment, refused)
    upcoming = services.next_open(annotator=request.user, after=assignment)
    url = reverse("annotation:grade", args=[upcoming.public_id]) if upcoming else reverse("annotation:work")
    return HttpResponseClientRedirect(url) if request.htmx else HttpResponseRedirect(url)


def _page(request: SignedInRequest, assignment: Assignment, refused: DomainError | None = None) -> HttpResponse:
    rows = screens.grading_rows(assignment)
    context = {
        "assignment": assignment,
        "batch": assignment.batch,
        "benchmark": assignment.batch.group.benchmark,
        "reading": screens.reading_of(assignment.case, assignment.response.text),
        "rows": rows,
        "done": sum(bool(row.outcome) for row in rows),
        "flagged": sum(row.flagged for row in rows),
        "place": screens.queue_place(assignment),
        "returned": screens.returned_note(assignment),
        "writable": _writable(assignment),
        "saved_at": screens.last_save(rows),
        "refused": refused,
        "missing": _missing(refused, assignment),
    }
    return render(request, PAGE, context, status=refused.status_code if refused else 200)


def _refusal(request: SignedInRequest, assignment: Assignment, refused: DomainError) -> HttpResponse:
    if not request.htmx:
        assignment.refresh_from_db(fields=["status", "round"])
        return _page(request, assignment, refused)
    context = {"refused": refused, "missing": _missing(refused, assignment)}
    return swap_into(render(request, f"{PAGE}#refusal", context, status=refused.status_code), "#refusal")


def _missing(refused: DomainError | None, assignment: Assignment) -> list[screens.CriterionLine]:
    if not isinstance(refused, services.Unanswered):
        return []
    return screens.criterion_lines(assignment.rubric_id, refused.criteria, assignment.case.language)


def _writable(assignment: Assignment) -> bool:
    return assignment.status in Assignment.OPEN and assignment.batch.status == Batch.Status.OPEN
