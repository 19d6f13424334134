"""Shows an admin, after an invitation, that it was mailed, or the link to pass on."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from accounts.models import PasswordLink
from accounts.services.invitations import IssuedInvitation


def after_inviting(
    request: HttpRequest, *, issued: IssuedInvitation | None, benchmark: Any, back: str, sent: str = ""
) -> HttpResponse:
    """Redirect to ``back`` with a message that says how the person is told, or show the link without a mail server.

    ``issued`` is None where the person has signed in before and no warning is needed. ``sent`` replaces the usual
    sentence about a mail. The link is only in this response: a message on the next page would be kept in a cookie or
    the session until it is read.
    """
    if issued is not None and issued.link:
        context = {"invitation": issued.invitation, "link": issued.link, "benchmark": benchmark, "back": back}
        response = render(request, "accounts/invitations/link.html", context)
        add_never_cache_headers(response)
        return response
    if issued is not None and issued.warning:
        messages.error(request, issued.warning)  # stays on the page until it is closed
    elif issued is not None:
        messages.info(request, _how_invited(issued, sent))
    return redirect(back)


def show_password_link(
    request: HttpRequest, *, link: str, record: PasswordLink, benchmark: Any, back: str
) -> HttpResponse:
    """The page with a link to a new password; the link is only in this response."""
    days = settings.PASSWORD_RESET_TIMEOUT // 86_400
    context = {"record": record, "link": link, "days": days, "benchmark": benchmark, "back": back}
    response = render(request, "accounts/invitations/password_link.html", context)
    add_never_cache_headers(response)
    return response


def _how_invited(issued: IssuedInvitation, sent: str) -> str:
    email = {"email": issued.invitation.user.email}
    if issued.way == "mail":
        return sent or _("An invitation is being sent to %(email)s.") % email
    if issued.way == "link_before":
        return _("A link for %(email)s already exists. If it is lost, create another with “New link”.") % email
    text = _(
        "No mail server is set up, and %(email)s already has a password or another role. Ask the server "
        "administrator for a link."
    )
    return text % email
