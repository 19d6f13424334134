"""Links to choose a new password: by mail, shown to an admin, or for whoever runs the server to pass on."""

from __future__ import annotations

import logging
from datetime import datetime

from allauth.account.adapter import get_adapter
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.db import transaction
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.models import Invitation, Notification, PasswordLink, User
from accounts.services.invitations import has_access_elsewhere
from accounts.services.mails import has_mail_server
from accounts.services.notifications import notify
from accounts.services.security_log import record
from consilium.core.errors import Conflict

logger = logging.getLogger(__name__)


def password_link(*, user: User) -> str:
    """A link of the kind that "Forgot your password?" mails: it works once, and for ``PASSWORD_RESET_TIMEOUT``.

    It stops working when the person has signed in, has a new password, or gets access to more
    (`accounts.services.reset_tokens`).
    """
    key = f"{user_pk_to_url_str(user)}-{default_token_generator.make_token(user)}"
    return str(get_adapter().get_reset_password_from_key_url(key))


@transaction.atomic
def link_by_admin(*, user: User, scope: str, title: str, by: User, at: datetime) -> tuple[str, PasswordLink]:
    """A `password_link` for an admin of ``scope`` to pass on, and the record that they have seen it.

    `Conflict` where a mail reaches the person, where the account was never opened, or where it was not opened by an
    invitation to ``scope`` or has access to more: whoever holds the link chooses the password.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if has_mail_server():
        raise Conflict(
            _("A mail server is set up: “Forgot your password?” on the sign-in page emails a link to the person.")
        )
    if not user.is_active or not user.email or not may_sign_in(user):
        raise Conflict(_("This account has no password yet. Create an invitation link instead."))
    opened_here = Invitation.objects.filter(user=user, scope=scope, accepted_at__isnull=False).exists()
    if user.pk == by.pk or not opened_here or has_access_elsewhere(user, scope):
        raise Conflict(_("This account is not used only for this benchmark. Ask the server administrator for a link."))
    row = PasswordLink.objects.create(user=user, scope=scope, title=title, link_shown_to=by, link_shown_at=at)
    notify(
        user=user,
        kind=Notification.Kind.ACCOUNT,
        benchmark_title=title,
        url=reverse("account_change_password"),
        at=at,
        admin=str(by),
    )
    record("password_link_shown", at=at, user=user, by=by, scope=scope, way="page")
    logger.info("A link to a new password was shown to an admin", extra={"user": user.pk, "by": by.pk, "scope": scope})
    return password_link(user=user), row


def may_sign_in(user: User) -> bool:
    """Whether the account was opened: it has a password, or its owner has signed in."""
    return user.last_login is not None or user.has_usable_password()


def mail_password_link(*, user_id: int | None) -> None:
    """Mail a `password_link` to the active account ``user_id``, in its language; do nothing if there is none."""
    if user_id is None:
        return
    user = User.objects.filter(pk=user_id, is_active=True).exclude(email="").first()
    if user is None:
        return
    with translation.override(user.language):
        context = {"user": user, "password_reset_url": password_link(user=user)}
        get_adapter().send_password_reset_mail(user, user.email, context)
