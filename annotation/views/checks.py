"""Views of secondary checks: the queue, and the page of one check."""

from __future__ import annotations

import re
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from accounts.models import User
from annotation import access, services
from annotation.forms import AmendmentForm, ReturnForm
from annotation.models import Assignment, Batch, Check, Outcome
from annotation.selectors import reading_pages
from annotation.selectors.reviews import check_lists, note_of_the_round_before
from annotation.views.claiming import ClaimWords, explain_claimed, nothing_to_claim
from consilium.core.errors import Conflict, DomainError
from consilium.core.htmx import SignedInRequest, signed_in, swap_into
from consilium.core.limits import MAX_NOTE_LENGTH
from consilium.core.versioning import StaleSave
from rubrics.models import Benchmark

PAGE = "annotation/checks/check.html"
BUTTONS = (
    (Outcome.MET, Outcome.MET.label),
    (Outcome.NOT_MET, Outcome.NOT_MET.label),
    (Outcome.CANNOT_ASSESS, _lazy("Can’t assess")),
)
# Session key: the check that was finished last, and the next one, which was claimed with it.
OPENED_BY = "check_opened_by"
CLAIMS = ClaimWords(
    page="annotation:check",
    list="annotation:checks",
    only_held=_lazy("No other check is waiting. You have already claimed this one."),
    held=_lazy("You have already claimed this check."),
    done=_lazy("You have already completed this check."),
    lost=_lazy("Someone else has claimed this check."),
)


@require_safe
@signed_in
def checks(request: SignedInRequest) -> HttpResponse:
    """Checks that this checker holds or may take, in all benchmarks."""
    return _list(request, None)


@require_safe
@signed_in
def checks_in(request: SignedInRequest, slug: str) -> HttpResponse:
    """Checks that this checker holds or may take, in one benchmark."""
    return _list(request, access.get_member_benchmark(request.user, slug))


def _list(request: SignedInRequest, benchmark: Benchmark | None, refused: DomainError | None = None) -> HttpResponse:
    lists = check_lists(request.user, benchmark)
    show = request.GET.get("show", "")
    if show not in ("waiting", "held", "done"):
        show = "held" if lists.held and not lists.waiting else "waiting"
    context = {
        "benchmark": benchmark or access.only_benchmark(request.user),
        "lists": lists,
        "show": show,
        "page_obj": lists.page(show, request.GET.get("page")),
        "refused": refused,
    }
    return render(request, "annotation/checks/checks.html", context, status=refused.status_code if refused else 200)


@require_POST
@signed_in
def claim_next(request: SignedInRequest) -> HttpResponse:
    """Take the next check in the queue."""
    claimed = _claim(request, access.waiting_checks(request.user))
    if claimed is not None:
        return claimed
    held = access.held_checks(request.user).order_by("submitted_at", "pk")
    return nothing_to_claim(request, CLAIMS, held.values_list("public_id", flat=True).first())


@require_POST
@signed_in
def claim(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Take this check; where the list was out of date, say who has claimed it."""
    waiting = access.waiting_checks(request.user).filter(public_id=public_id)
    return _claim(request, waiting, wait=True) or explain_claimed(
        request,
        CLAIMS,
        public_id,
        held=access.held_checks(request.user).filter(public_id=public_id),
        done=access.done_checks(request.user).filter(assignment__public_id=public_id),
        get_missed=access.get_missed_check,
    )


def _claim(request: SignedInRequest, waiting: QuerySet[Assignment], *, wait: bool = False) -> HttpResponse | None:
    """The page of the check that was claimed; None if there is none to claim."""
    try:
        row = services.claim_check(checker=request.user, waiting=waiting, at=timezone.now(), wait=wait)
    except DomainError as refused:
        return _list(request, None, refused)
    return None if row is None else redirect("annotation:check", row.public_id)


@require_safe
@never_cache
@signed_in
def check(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The response and the annotator's decisions on it; read-only for a finished check."""
    number = request.GET.get("round", "")
    # A round number requests a finished check; without a number, the checker continues the check that they hold.
    done = int(number) if re.fullmatch(r"[1-9]\d{0,3}", number, re.ASCII) else None
    if done is None and access.held_checks(request.user).filter(public_id=public_id).exists():
        return _page(request, access.get_held_check(request.user, public_id))
    try:
        return render(request, PAGE, _context_of_done(access.get_done_check(request.user, public_id, done)))
    except Http404:
        if done is not None or not access.released_checks(request.user).filter(public_id=public_id).exists():
            raise
    return render(request, "annotation/checks/released.html", status=404)


def _page(
    request: SignedInRequest, assignment: Assignment, refused: DomainError | None = None, note: str = ""
) -> HttpResponse:
    context = _context(request.user, assignment) | {
        "return_form": ReturnForm(initial={"note": note}),
        "refused": refused,
    }
    return render(request, PAGE, context, status=refused.status_code if refused else 200)


def _context(checker: User, assignment: Assignment) -> dict[str, Any]:
    rows = reading_pages.check_rows(assignment)
    return _shown(assignment, rows) | {
        "same_response": access.has_checked_for_another(checker, assignment),
        "round": assignment.round,
        "note_before": note_of_the_round_before(assignment, assignment.round),
        "writable": assignment.batch.status == Batch.Status.OPEN,
    }


def _context_of_done(done: Check) -> dict[str, Any]:
    """The page of a finished check, in its state at that time and without a form."""
    rows = reading_pages.check_rows(done.assignment, number=done.round)
    return _shown(done.assignment, rows) | {
        "round": done.round,
        "note_before": note_of_the_round_before(done.assignment, done.round),
        "writable": False,
        "done": done,
    }


def _shown(assignment: Assignment, rows: list[reading_pages.CheckRow]) -> dict[str, Any]:
    return {
        "assignment": assignment,
        "batch": assignment.batch,
        "benchmark": assignment.batch.group.benchmark,
        "reading": reading_pages.reading_of(assignment.case, assignment.response.text),
        "rows": rows,
        "outcomes": BUTTONS,
        "amended": sum(bool(row.outcome) for row in rows),
        "marked": sum(row.to_review for row in rows),
        "again": sum(row.again for row in rows),
    }


def _refuse_former_round(request: SignedInRequest, assignment: Assignment) -> None:
    """`Conflict` for a tab left open since the work was returned: its decisions are no longer those under check."""
    if request.GET.get("round", str(assignment.round)) != str(assignment.round):
        raise Conflict(_("This page shows an earlier round of the work. Reload the page."))


@require_POST
@signed_in
def amend(request: SignedInRequest, public_id: str, criterion_id: int) -> HttpResponse:
    """Amend the annotator's outcome, and show the row; with status 409 the row as it was saved elsewhere meanwhile."""
    assignment = access.get_held_check(request.user, public_id)
    form = AmendmentForm(request.POST)
    status = 200
    try:
        _refuse_former_round(request, assignment)
        if not form.is_valid():
            raise DomainError(_("The outcome must be met, not met or can’t assess."))
        services.amend(
            assignment=assignment, checker=request.user, criterion=criterion_id, at=timezone.now(), **form.cleaned_data
        )
    except StaleSave as stale:
        status = stale.status_code
    except DomainError as refused:
        return refusal(request, refused)
    row = reading_pages.check_rows(assignment, criterion_id)[0]
    context = {"row": row, "assignment": assignment, "writable": True, "outcomes": BUTTONS}
    return render(request, "annotation/checks/_criterion.html", context, status=status)


def shown_versions(request: HttpRequest) -> dict[int, int] | None:
    """Criterion → the version that the page shows, as it sends them; None without them."""
    pairs = re.findall(r"([0-9]{1,18}):([0-9]{1,9})", request.POST.get("shown", ""), re.ASCII)
    return {int(criterion): int(version) for criterion, version in pairs} or None


@require_POST
@signed_in
def accept(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Accept the work and continue with the next."""
    assignment = access.get_held_check(request.user, public_id)
    try:
        _refuse_former_round(request, assignment)
        services.accept_check(
            assignment=assignment, checker=request.user, at=timezone.now(), shown=shown_versions(request)
        )
    except DomainError as refused:
        return refusal(request, refused) if request.htmx else _page(request, assignment, refused)
    return _go_on(request, assignment, _("Accepted."))


@require_POST
@signed_in
def send_back(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Return the work with a note and continue with the next."""
    assignment = access.get_held_check(request.user, public_id)
    note = request.POST.get("note", "").replace("\x00", "")[:MAX_NOTE_LENGTH]
    try:
        _refuse_former_round(request, assignment)
        done = services.return_check(
            assignment=assignment, checker=request.user, note=note, at=timezone.now(), shown=shown_versions(request)
        )
    except DomainError as refused:
        return refusal(request, refused) if request.htmx else _page(request, assignment, refused, note)
    return _go_on(request, assignment, _returned(done))


def _returned(done: Check) -> str:
    """The message about a check that ended with a note, with marked criteria, or with both."""
    if not done.n_to_review:
        return _("Returned to the annotator with your note.")
    if done.note:
        text = ngettext(
            "Returned to the annotator with your note and %(number)d criterion marked for review.",
            "Returned to the annotator with your note and %(number)d criteria marked for review.",
            done.n_to_review,
        )
    else:
        text = ngettext(
            "Returned to the annotator with %(number)d criterion marked for review.",
            "Returned to the annotator with %(number)d criteria marked for review.",
            done.n_to_review,
        )
    return text % {"number": done.n_to_review}


@require_POST
@signed_in
def release(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Put the work back for another checker."""
    assignment = access.get_held_check(request.user, public_id)
    try:
        services.release_check(assignment=assignment, checker=request.user, discard=request.POST.get("discard") == "1")
    except DomainError as refused:
        return _page(request, assignment, refused)
    messages.success(request, _("Released. Another checker can claim it."))
    return redirect("annotation:checks")


def _go_on(request: SignedInRequest, done: Assignment, message: str) -> HttpResponse:
    """The next check of the same batch: a check that is held already, otherwise the next waiting check."""
    held = access.held_checks(request.user).filter(batch=done.batch_id, batch__status=Batch.Status.OPEN)
    waiting = access.waiting_checks(request.user).filter(batch=done.batch_id)
    held_before = held.exists()
    try:
        upcoming = services.next_check(checker=request.user, held=held, waiting=waiting, at=timezone.now())
    except DomainError:
        upcoming = None  # the list shows why there is nothing to take
    if upcoming is not None and not held_before:
        request.session[OPENED_BY] = [done.public_id, upcoming.public_id]
    if upcoming is None:
        return end_of_queue(request, reverse("annotation:checks"), message)
    if upcoming.response_id == done.response_id and upcoming.annotator_id != done.annotator_id:
        # Conversation and response are identical, so that the page would seem to be the same.
        message = _("%(done)s Next: the same response, graded by another annotator.") % {"done": message}
    if not request.htmx:
        messages.success(request, message)
        return redirect("annotation:check", upcoming.public_id)
    context = _context(request.user, access.get_held_check(request.user, upcoming.public_id))
    return next_sheet(request, f"{PAGE}#sheet", context, message)


def release_opened_by(request: SignedInRequest, undone: Assignment) -> None:
    """Release the check that was claimed with the acceptance of ``undone``, unless something in it was changed."""
    finished, opened = request.session.pop(OPENED_BY, ("", ""))
    if finished != undone.public_id:
        return
    row = access.held_checks(request.user).filter(public_id=opened).first()
    if row is None or row.round > 1:
        return  # work of a later round is kept for the checker who returned it
    try:
        services.release_check(assignment=row, checker=request.user)
    except DomainError:
        return  # it has an amendment or a mark, so the checker has started with it


def next_sheet(request: SignedInRequest, fragment: str, context: dict[str, Any], message: str) -> HttpResponse:
    """The next piece of work in place of the finished piece, with a message about the finished piece."""
    return trigger_client_event(render(request, fragment, context), "toast", {"text": message, "level": "success"})


def end_of_queue(request: SignedInRequest, url: str, message: str) -> HttpResponse:
    """Redirect to the list, which shows the message about the last piece."""
    messages.success(request, message)
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


def refusal(request: HttpRequest, refused: DomainError) -> HttpResponse:
    """The message above the criteria, for a row that was not saved."""
    response = render(request, "annotation/checks/check.html#refusal", {"refused": refused}, status=refused.status_code)
    return swap_into(response, "#refusal")
