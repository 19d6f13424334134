"""Cases with questions that a physician has open: to one other, or spread over the group."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.dashboard.people import people_of
from annotation.models import Batch, LabelTask
from annotation.services import label_handover as services
from consilium.lib.errors import DomainError
from consilium.lib.htmx import SignedInRequest
from consilium.lib.order import natural

SPREAD = "spread"


def hand_over_cases(request: SignedInRequest, batch: Batch) -> HttpResponse:
    """What would move of ``physician`` (a pseudonym) and to whom it may go; POST moves it. A dialog to htmx."""
    people = people_of(batch.group.benchmark, names=True)
    asked = request.POST if request.method == "POST" else request.GET
    physician, to = asked.get("physician", ""), asked.get("to", "")
    holder = next((one for one in people.values() if physician and one.pseudonym == physician), None)
    tasks = services.movable_tasks(batch=batch, holder=holder.user) if holder else []
    if request.method == "POST":
        taker = next((one for one in people.values() if to and one.pseudonym == to), None)
        try:
            if holder is None:
                raise DomainError(_("Nothing was moved: this work has been handed in or moved by now."))
            if taker is None and to != SPREAD:
                raise DomainError(_("Choose who takes the cases, or spread them over the group."))
            number = services.hand_over_labels(
                batch=batch,
                holder=User.objects.get(pk=holder.user),
                to=User.objects.get(pk=taker.user) if taker else None,
                at=timezone.now(),
            )
        except DomainError as refused:
            messages.error(request, str(refused))
        else:
            messages.success(request, _told(number, len(tasks) - number))
        return redirect("annotation:batch", batch.group.benchmark.slug, batch.public_id)
    found = services.takers_of(batch=batch, tasks=tasks)
    load = services.open_in(batch)
    takers = [(people[user], load.get(user, 0), len(fitting)) for user, fitting in found.items()]
    takeable = {task.pk for fitting in found.values() for task in fitting}
    context = {
        "benchmark": batch.group.benchmark,
        "batch": batch,
        "holder": holder,
        "tasks": tasks,
        "drafts": sum(task.status == LabelTask.Status.DRAFT for task in tasks),
        "stay": len(tasks) - len(takeable),
        "takers": sorted(takers, key=lambda one: (-one[2], one[1], natural(one[0].shown))),
    }
    template = "annotation/label_handover.html"
    return render(request, f"{template}#handover" if request.htmx else template, context)


def _told(moved: int, stayed: int) -> str:
    words = ngettext("%(number)d case was handed over.", "%(number)d cases were handed over.", moved)
    words %= {"number": moved}
    if stayed > 0:
        rest = ngettext("%(number)d case stayed where it was.", "%(number)d cases stayed where they were.", stayed)
        words += " " + rest % {"number": stayed}
    return words
