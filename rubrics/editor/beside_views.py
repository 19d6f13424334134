"""Endpoints beside the editors of cases and rubrics: privacy findings and their waivers, and authoring time."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from consilium.core.active_time import MalformedReport, check_reported_seconds
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.own_addresses import own_address
from consilium.core.strict_json import read_json
from rubrics import access
from rubrics.models import AuthoringTime
from rubrics.services.authoring_time import record_time
from rubrics.services.privacy import take_back_waiver, waive_finding


@require_POST
@signed_in
def waive(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Waive a privacy finding, with the reason why the words may stay."""
    case = access.get_case_to_write(request.user, slug, public_id)
    values = {name: request.POST.get(name, "").replace("\r\n", "\n") for name in ("kind", "quote", "reason")}
    try:
        waive_finding(case=case, by=request.user, at=timezone.now(), **values)
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("Kept. The reason is on record."))
    return _back(request, slug, public_id)


@require_POST
@signed_in
def ask_again(request: SignedInRequest, slug: str, public_id: str, waiver: int) -> HttpResponse:
    """Take a waiver back."""
    take_back_waiver(waiver=access.get_waiver(request.user, slug, public_id, waiver))
    return _back(request, slug, public_id)


def _back(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    back = own_address(request, request.POST.get("next", ""))
    return redirect(back) if back else redirect("rubrics:write-case", slug, public_id)


@require_POST
@signed_in
def time(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Add ``{"activity", "seconds"}`` to the time for which the reader had the case open."""
    case = access.get_case_to_time(request.user, slug, public_id)
    try:
        activity, seconds = _time_report(request.body)
    except DomainError as refused:
        return JsonResponse({"detail": str(refused)}, status=refused.status_code)
    record_time(case=case, user=request.user, activity=activity, seconds=seconds, at=timezone.now())
    return HttpResponse(status=204)


def _time_report(body: bytes) -> tuple[str, int]:
    """Activity and seconds of a report of time; `MalformedReport` where no page would send such a body."""
    try:
        report = read_json(body)
        activity, seconds = AuthoringTime.Activity(report["activity"]), report["seconds"]
    except (ValueError, KeyError, TypeError):
        raise MalformedReport from None
    return activity, check_reported_seconds(seconds)
