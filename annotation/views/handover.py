"""Views that hand open work to another annotator, or back to the pool."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from accounts.models import User
from annotation import access
from annotation.dashboard.names import people_of
from annotation.dashboard.pieces import HandOver, Taker, hand_over_of, movable, movable_free
from annotation.labels.handover_views import hand_over_cases
from annotation.models import Assignment, Batch, Slot
from annotation.selectors.unread_work import unread
from annotation.services import slots
from annotation.writing.admin_views import hand_over as hand_over_writing
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in

POOL = "pool"


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def hand_over(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Show how much work would move and who may take it; POST moves it.

    ``piece`` names pieces, also those in the pool, ``physician`` (a pseudonym) all open work of one person, with
    ``unread`` only what is in languages that they do not read. htmx gets the content of a dialog.
    """
    batch = access.get_administered_batch(request.user, slug, public_id)
    if batch.kind == Batch.Kind.LABEL:
        return hand_over_cases(request, batch)
    if batch.kind == Batch.Kind.WRITE:
        return hand_over_writing(request, batch)
    people = people_of(batch.group.benchmark, names=True)
    params = request.POST if request.method == "POST" else request.GET
    physician, pieces = params.get("physician", ""), params.getlist("piece")
    holder = next((person.user for person in people.values() if physician and person.pseudonym == physician), None)
    rows = movable(batch, public_ids=pieces, holder=holder)
    only_unread = holder is not None and bool(params.get("unread"))
    if only_unread:
        rows = unread(rows)
    free = movable_free(batch, codes=pieces) if holder is None else ()
    moved = hand_over_of(batch, rows, people, free=list(free))
    if request.method == "POST":
        gold = Assignment.objects.filter(batch=batch, annotator=holder, purpose=Assignment.Purpose.GOLD)
        beside = unread(gold) if only_unread else gold.none()
        return _move(request, batch, moved, beside=beside, back=_back(batch, physician if holder else ""))
    context = {"benchmark": batch.group.benchmark, "batch": batch, "moved": moved,
               "physician": physician if holder else "", "unread": only_unread, "administers": True}  # fmt: skip
    template = "annotation/handover/handover.html#handover" if request.htmx else "annotation/handover/handover.html"
    return render(request, template, context)


@transaction.atomic
def _move(
    request: SignedInRequest, batch: Batch, moved: HandOver, *, beside: QuerySet[Assignment], back: str
) -> HttpResponse:
    """Move the work; ``beside``, the gold items in the same languages, leave their annotator with it, unnoticed."""
    to, why = request.POST.get("to", ""), ""
    try:
        if not moved.pieces:
            raise DomainError(_("Nothing was moved: this work has already been submitted or moved."))
        if to == POOL:
            assigned = [piece for piece in moved.pieces if isinstance(piece, Assignment)]
            number = slots.release(assignments=assigned, by=request.user, at=timezone.now())
            words = ngettext(
                "%(number)d assignment is back in the pool.", "%(number)d assignments are back in the pool.", number
            ) % {"number": number}
        else:
            taker = next((person for person in moved.takers if person.person.pseudonym == to), None)
            if taker is None:
                raise DomainError(_("Choose who takes over the work, or return it to the pool."))
            user = User.objects.get(pk=taker.person.user)
            left = [piece for piece in moved.pieces if piece not in taker.pieces]
            why = slots.why_not(to=user, batch=batch, pieces=left, at=timezone.now()) if left else ""
            number = _give(batch, taker, user, by=request.user)
            words = ngettext(
                "%(person)s has %(number)d more assignment.", "%(person)s has %(number)d more assignments.", number
            ) % {"person": taker.person.shown, "number": number}
        if beside.exists():
            slots.release(assignments=beside, by=request.user, at=timezone.now())
        stayed = len(moved.pieces) - number - (moved.pooled if to == POOL else 0)
        if stayed:
            words += " " + ngettext(
                "%(number)d assignment was not moved.", "%(number)d assignments were not moved.", stayed
            ) % {"number": stayed}
            words = f"{words} {why}".strip()
        messages.success(request, words)
    except DomainError as refused:
        messages.error(request, str(refused))
    return redirect(back)


@transaction.atomic
def _give(batch: Batch, taker: Taker, user: User, *, by: User) -> int:
    """Give the taker all that they may take, from annotators and from the pool; returns how many pieces."""
    assigned = [piece for piece in taker.pieces if isinstance(piece, Assignment)]
    free = [piece for piece in taker.pieces if isinstance(piece, Slot)]
    number = slots.reassign(assignments=assigned, to=user, by=by, at=timezone.now()) if assigned else 0
    return number + (slots.assign(free=free, batch=batch, to=user, at=timezone.now()) if free else 0)


def _back(batch: Batch, physician: str) -> str:
    url = reverse("annotation:batch", args=[batch.group.benchmark.slug, batch.public_id])
    return f"{url}?{urlencode({'physician': physician})}#pieces" if physician else f"{url}#pieces"
