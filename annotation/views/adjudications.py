"""Views of conflicts and of their adjudication."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation import access, services
from annotation.forms import RulingForm
from annotation.models import Adjudication, RulingOutcome
from annotation.selectors import reading_pages
from annotation.selectors.reviews import adjudication_lists
from annotation.views.checks import BUTTONS as CHECK_BUTTONS
from annotation.views.checks import end_of_queue, next_sheet, refusal, shown_versions
from annotation.views.claiming import ClaimWords, explain_claimed, nothing_to_claim
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.versioning import StaleSave
from rubrics.models import Benchmark

PAGE = "annotation/adjudications/adjudication.html"
BUTTONS = (*CHECK_BUTTONS, (RulingOutcome.FAULTY, _lazy("Faulty")))
CLAIMS = ClaimWords(
    page="annotation:adjudication",
    list="annotation:adjudications",
    only_held=_lazy("No other conflict is waiting. You have already claimed this one."),
    held=_lazy("You have already claimed this conflict."),
    done=_lazy("You have already adjudicated this conflict."),
    lost=_lazy("Someone else has claimed this conflict."),
)


@require_safe
@signed_in
def adjudications(request: SignedInRequest) -> HttpResponse:
    """Conflicts that this adjudicator holds or may claim, in all benchmarks."""
    return _list(request, None)


@require_safe
@signed_in
def adjudications_in(request: SignedInRequest, slug: str) -> HttpResponse:
    """Open conflicts of one benchmark."""
    return _list(request, access.get_member_benchmark(request.user, slug))


def _list(request: SignedInRequest, benchmark: Benchmark | None, refused: DomainError | None = None) -> HttpResponse:
    lists = adjudication_lists(request.user, benchmark)
    show = "done" if request.GET.get("show") == "done" else ""
    context = {
        "benchmark": benchmark or access.only_benchmark(request.user),
        "lists": lists,
        "show": show,
        "page_obj": lists.page(show, request.GET.get("page")),
        "refused": refused,
    }
    return render(
        request, "annotation/adjudications/adjudications.html", context, status=refused.status_code if refused else 200
    )


@require_POST
@signed_in
def claim_next(request: SignedInRequest) -> HttpResponse:
    """Take the conflict of lowest agreement."""
    waiting = access.open_adjudications(request.user)
    claimed = _claim(request, waiting)
    if claimed is not None:
        return claimed
    held = waiting.filter(adjudicator=request.user.pk).order_by("agreement", "pk")
    return nothing_to_claim(request, CLAIMS, held.values_list("public_id", flat=True).first())


@require_POST
@signed_in
def claim(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Take this conflict; where the list was out of date, say who has claimed it."""
    waiting = access.open_adjudications(request.user).filter(public_id=public_id)
    return _claim(request, waiting, wait=True) or explain_claimed(
        request,
        CLAIMS,
        public_id,
        held=waiting.filter(adjudicator=request.user.pk),
        done=access.done_adjudications(request.user).filter(public_id=public_id),
        get_missed=access.get_missed_adjudication,
    )


def _claim(request: SignedInRequest, waiting: QuerySet[Adjudication], *, wait: bool = False) -> HttpResponse | None:
    """The page of the conflict that was claimed; None if there is none to claim."""
    try:
        row = services.claim_adjudication(adjudicator=request.user, waiting=waiting, wait=wait)
    except DomainError as refused:
        return _list(request, None, refused)
    return None if row is None else redirect("annotation:adjudication", row.public_id)


@require_safe
@never_cache
@signed_in
def adjudication(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The response, the raters' votes where they differ, and the rulings; read-only for a finished adjudication."""
    if access.done_adjudications(request.user).filter(public_id=public_id).exists():
        return _page(request, access.get_done_adjudication(request.user, public_id))
    return _page(request, access.get_held_adjudication(request.user, public_id))


def _page(request: SignedInRequest, row: Adjudication, refused: DomainError | None = None) -> HttpResponse:
    context = _context(row, everything=request.GET.get("show") == "all") | {"refused": refused}
    return render(request, PAGE, context, status=refused.status_code if refused else 200)


def _context(row: Adjudication, *, everything: bool) -> dict[str, Any]:
    rows = reading_pages.adjudication_rows(row, everything=everything)
    return {
        "adjudication": row,
        "benchmark": row.group.benchmark,
        "reading": reading_pages.reading_of(row.response.case, row.response.text),
        "rows": rows,
        "outcomes": BUTTONS,
        "everything": everything,
        "conflicts": len(row.criteria),
        "ruled": sum(bool(criterion_row.outcome) for criterion_row in rows),
        "writable": row.status == Adjudication.Status.OPEN,
    }


@require_POST
@signed_in
def rule(request: SignedInRequest, public_id: str, criterion_id: int) -> HttpResponse:
    """Save a ruling, or take it back, and show its row; with status 409 the row as it was saved elsewhere meanwhile."""
    row = access.get_held_adjudication(request.user, public_id)
    form = RulingForm(request.POST)
    status = 200
    try:
        if not form.is_valid():
            raise DomainError(_("The outcome must be met, not met, can’t assess or faulty."))
        services.rule(
            adjudication=row,
            adjudicator=request.user,
            criterion=criterion_id,
            at=timezone.now(),
            **form.cleaned_data,
        )
    except StaleSave as stale:
        status = stale.status_code
    except DomainError as refused:
        return refusal(request, refused)
    shown = reading_pages.adjudication_rows(row, everything=True, criterion=criterion_id)
    context = {"row": shown[0], "adjudication": row, "writable": True, "outcomes": BUTTONS}
    return render(request, "annotation/adjudications/_criterion.html", context, status=status)


@require_POST
@signed_in
def release(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Put the adjudication back for another adjudicator; the rulings made so far remain."""
    row = access.get_held_adjudication(request.user, public_id)
    try:
        services.release_adjudication(adjudication=row, adjudicator=request.user)
    except DomainError as refused:
        return refusal(request, refused) if request.htmx else _page(request, row, refused)
    message = _("Released. Another adjudicator can claim it, and continues from your rulings.")
    return end_of_queue(request, reverse("annotation:adjudications"), message)


@require_POST
@signed_in
def finish(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Finish the adjudication and continue with the next."""
    row = access.get_held_adjudication(request.user, public_id)
    try:
        services.finish_adjudication(
            adjudication=row, adjudicator=request.user, at=timezone.now(), shown=shown_versions(request)
        )
    except DomainError as refused:
        return refusal(request, refused) if request.htmx else _page(request, row, refused)
    message = _("Adjudicated.")
    waiting = access.open_adjudications(request.user).filter(group__benchmark=row.group.benchmark_id)
    held = waiting.filter(adjudicator=request.user.pk)
    try:
        upcoming = services.next_adjudication(adjudicator=request.user, held=held, waiting=waiting)
    except DomainError:
        upcoming = None  # the list shows why there is nothing to take
    if upcoming is None:
        return end_of_queue(request, reverse("annotation:adjudications"), message)
    if not request.htmx:
        messages.success(request, message)
        return redirect("annotation:adjudication", upcoming.public_id)
    context = _context(access.get_held_adjudication(request.user, upcoming.public_id), everything=False)
    return next_sheet(request, f"{PAGE}#sheet", context, message)
