"""View with which an admin reminds people of their open work in a batch."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from accounts.models import User
from accounts.services.mails import has_mail_server
from annotation import access
from annotation.models import Physician
from annotation.services.reminders import send_reminders
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.own_addresses import own_address


@require_POST
@signed_in
def remind(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Remind everybody with open work, or those whose pseudonyms ``physician`` gives; the answer names them.

    With ``part``, annotator or checker, only of the work of that role.
    """
    batch = access.get_administered_batch(request.user, slug, public_id)
    chosen = request.POST.getlist("physician")
    only = None
    if chosen:
        rows = Physician.objects.filter(benchmark=batch.group.benchmark_id, pseudonym__in=chosen)
        only = set(rows.values_list("user_id", flat=True))
    try:
        reminded = send_reminders(
            batch=batch, by=request.user, at=timezone.now(), only=only, part=request.POST.get("part", "")
        )
    except DomainError as refused:
        messages.error(request, str(refused))
        return redirect(_back(request, slug, public_id))
    if reminded.now:
        messages.success(request, _("Reminded: %(people)s.") % {"people": _names(reminded.now)})
        if not has_mail_server():
            text = _(
                "No mail server is set up, so no email was sent. They see the reminder when they next open Consilium."
            )
            messages.warning(request, text)
    if reminded.already:
        messages.info(request, _("Already reminded today: %(people)s.") % {"people": _names(reminded.already)})
    if reminded.never_signed_in:
        text = ngettext(
            "Not reminded, because this person has never signed in: %(people)s. Send the invitation again.",
            "Not reminded, because these people have never signed in: %(people)s. Send the invitations again.",
            len(reminded.never_signed_in),
        )
        messages.warning(request, text % {"people": _names(reminded.never_signed_in)})
    if not (reminded.now or reminded.already or reminded.never_signed_in):
        messages.info(request, _("No one has open work here."))
    return redirect(_back(request, slug, public_id))


def _names(people: list[User]) -> str:
    return ", ".join(str(person) for person in people)


def _back(request: SignedInRequest, slug: str, public_id: str) -> str:
    """The page that the request came from, if it is on this site; else that of the batch."""
    return own_address(request, request.POST.get("next", "")) or reverse("annotation:batch", args=[slug, public_id])
