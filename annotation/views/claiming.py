"""The answer to a claim where there is nothing to claim; checks and adjudications share it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from consilium.core.htmx import SignedInRequest


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """A kind of work that is claimed from a list, and what its people are told."""

    page: str  # the view of one piece, by its public id
    list: str
    only_held: str | Promise  # nothing else waits, but they hold one
    held: str | Promise
    done: str | Promise
    lost: str | Promise  # somebody else was quicker


def nothing_to_claim(request: SignedInRequest, words: ClaimWords, held: str | None) -> HttpResponse:
    """Open the piece that the person holds already (``held``, its public id); without one the list, with the reason."""
    if held is not None:
        messages.info(request, str(words.only_held))
        return redirect(words.page, held)
    messages.info(request, _("Nothing is left to claim. Someone else may just have claimed it."))
    return redirect(words.list)


def explain_claimed(
    request: SignedInRequest,
    words: ClaimWords,
    public_id: str,
    *,
    held: QuerySet[Any],
    done: QuerySet[Any],
    get_missed: Callable[[Any, str], object],
) -> HttpResponse:
    """Open the piece if it is among the person's ``held`` or ``done``; say that somebody else has it.

    ``get_missed`` raises 404 where the person could never have claimed it.
    """
    for rows, message in ((held, words.held), (done, words.done)):
        if rows.exists():
            messages.info(request, str(message))
            return redirect(words.page, public_id)
    get_missed(request.user, public_id)
    messages.warning(request, str(words.lost))
    return redirect(words.list)
