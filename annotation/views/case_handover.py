"""The dialog that hands over cases, for label questions and for writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.dashboard.names import People, Person
from annotation.models import Batch, LabelTask
from annotation.selectors.case_work import Task
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest
from consilium.core.order import natural

SPREAD = "spread"


def called(people: People, pseudonym: str) -> Person | None:
    """The person with this pseudonym, or None."""
    return next((person for person in people.values() if pseudonym and person.pseudonym == pseudonym), None)


def refuse_nobody(holder: Person | None) -> Person:
    """The holder whose work moves; `DomainError` where there is none, because the requesting page is out of date."""
    if holder is None:
        raise DomainError(_("Nothing was moved: this work has already been submitted or moved."))
    return holder


def taker_of(people: People, to: str) -> User | None:
    """The person who takes the cases, None to spread them; `DomainError` where neither was chosen."""
    taker = called(people, to)
    if taker is None and to != SPREAD:
        raise DomainError(_("Choose who takes over the cases, or spread them over the group."))
    return User.objects.get(pk=taker.user) if taker else None


def handover_dialog(
    request: SignedInRequest,
    template: str,
    *,
    batch: Batch,
    holder: Person | None,
    people: People,
    tasks: Sequence[Task],
    takers: Mapping[int, Sequence[Task]],
    load: Mapping[int, int],
) -> HttpResponse:
    """Show which tasks would move and who may take them; a dialog for htmx requests, otherwise a page."""
    takeable = {task.pk for fitting in takers.values() for task in fitting}
    listed = [(people[user], load.get(user, 0), len(fitting)) for user, fitting in takers.items()]
    context = {
        "benchmark": batch.group.benchmark,
        "batch": batch,
        "holder": holder,
        "tasks": tasks,
        "drafts": sum(task.status == LabelTask.Status.DRAFT for task in tasks),  # the same value in both kinds of task
        "stay": len(tasks) - len(takeable),
        "takers": sorted(listed, key=lambda taker: (-taker[2], taker[1], natural(taker[0].shown))),
    }
    return render(request, f"{template}#handover" if request.htmx else template, context)


def handover_message(moved: int, stayed: int) -> str:
    """Message about how many cases moved and how many stayed."""
    words = ngettext("%(number)d case was handed over.", "%(number)d cases were handed over.", moved)
    words %= {"number": moved}
    if stayed > 0:
        rest = ngettext("%(number)d case was not moved.", "%(number)d cases were not moved.", stayed)
        words += " " + rest % {"number": stayed}
    return words
