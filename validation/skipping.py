"""Skipping a question that a physician cannot judge, and the answers to the script of the pages of questions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_REASON_LENGTH
from validation.models import CoverageDecision, NearMissPair, PairJudgement, SkippedQuestion


def skip_decision(*, decision: CoverageDecision, reason: str, by: User, at: datetime) -> SkippedQuestion:
    """Record that ``by`` cannot decide a question about coverage. `Conflict` where somebody has decided it."""
    with transaction.atomic():
        row = CoverageDecision.objects.select_for_update(of=("self",)).get(pk=decision.pk)
        if row.answer:
            raise Conflict(_already_answered(is_own=row.decided_by_id == by.pk))
        return _store(reason, at, decision=row, physician=by)


def skip_pair(*, pair: NearMissPair, reason: str, by: User, at: datetime) -> SkippedQuestion:
    """Record that ``by`` cannot judge a pair. `Conflict` where they have judged it, or it is settled."""
    with transaction.atomic():
        row = NearMissPair.objects.select_for_update(of=("self",)).get(pk=pair.pk)
        is_own = PairJudgement.objects.filter(pair=row, physician=by).exists()
        if is_own or row.state != NearMissPair.State.PROPOSED:
            raise Conflict(_already_answered(is_own=is_own))
        return _store(reason, at, pair=row, physician=by)


def _store(reason: str, at: datetime, **question: Any) -> SkippedQuestion:
    reason = reason.strip()
    if len(reason) > MAX_REASON_LENGTH:
        raise DomainError(_("This is longer than %(n)d characters.") % {"n": MAX_REASON_LENGTH})
    values = {"reason": reason, "skipped_at": at}
    skipped, _created = SkippedQuestion.objects.get_or_create(**question, defaults=values)
    return skipped


def _already_answered(*, is_own: bool) -> str:
    if is_own:
        return _("You have answered this question. You can change your answer, but not skip it.")
    return _("Someone else has decided this in the meantime.")


# Answers to the page ------------------------------------------------------------------------------------------------


def next_page(request: HttpRequest, view: str, slug: str) -> HttpResponse:
    """Go to the queue: by an address in JSON where the script of the page has sent the form."""
    response = redirect(view, slug)
    return JsonResponse({"next": response.url}) if is_from_script(request) else response


def refusal(request: HttpRequest, error: DomainError, view: str, slug: str) -> HttpResponse | None:
    """The answer to a refusal. None where the page shows it: the form was sent without the script."""
    if error.status_code == 409:  # somebody was quicker; their answer stays
        messages.info(request, str(error))
        return next_page(request, view, slug)
    if is_from_script(request):
        return JsonResponse({"detail": str(error)}, status=error.status_code)
    return None


def is_from_script(request: HttpRequest) -> bool:
    """Whether a script has sent the form, and reads JSON."""
    return request.headers.get("Accept") == "application/json"
