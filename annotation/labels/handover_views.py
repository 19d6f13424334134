"""Views that hand a physician's open cases with label questions to one other physician, or to the group."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import ngettext

from accounts.models import User
from annotation.dashboard.names import people_of
from annotation.labels import handover
from annotation.models import Batch
from annotation.views.case_handover import called, handover_dialog, handover_message, refuse_nobody, taker_of
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest


def hand_over_cases(request: SignedInRequest, batch: Batch) -> HttpResponse:
    """What would move of ``physician`` (a pseudonym) and to whom it may go; POST moves it. htmx gets a dialog."""
    people = people_of(batch.group.benchmark, names=True)
    params = request.POST if request.method == "POST" else request.GET
    holder = called(people, params.get("physician", ""))
    tasks = handover.movable_tasks(batch=batch, holder=holder.user) if holder else []
    is_coding = handover.is_coding(batch)
    if request.method == "POST":
        try:
            number = handover.hand_over_labels(
                batch=batch,
                holder=User.objects.get(pk=refuse_nobody(holder).user),
                to=taker_of(people, params.get("to", "")),
                at=timezone.now(),
            )
        except DomainError as refused:
            messages.error(request, str(refused))
        else:
            say = responses_message if is_coding else handover_message
            messages.success(request, say(number, len(tasks) - number))
        return redirect("annotation:batch", batch.group.benchmark.slug, batch.public_id)
    return handover_dialog(
        request,
        "annotation/codes/handover.html" if is_coding else "annotation/labels/handover.html",
        batch=batch,
        holder=holder,
        people=people,
        tasks=tasks,
        takers=handover.takers_of(batch=batch, tasks=tasks),
        load=handover.open_in(batch),
    )


def responses_message(moved: int, stayed: int) -> str:
    """Message about how many responses to code moved and how many stayed."""
    words = ngettext("%(number)d response was handed over.", "%(number)d responses were handed over.", moved)
    words %= {"number": moved}
    if stayed > 0:
        rest = ngettext("%(number)d response was not moved.", "%(number)d responses were not moved.", stayed)
        words += " " + rest % {"number": stayed}
    return words
