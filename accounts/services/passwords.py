"""Links to choose a new password, by mail or for whoever runs the server to pass on."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.utils import translation

from accounts.models import User


def password_link(*, user: User) -> str:
    """A link of the kind that "Forgot your password?" mails: it works once, and for ``PASSWORD_RESET_TIMEOUT``.

    It stops working when the person has signed in, or has a new password.
    """
    key = f"{user_pk_to_url_str(user)}-{default_token_generator.make_token(user)}"
    return str(get_adapter().get_reset_password_from_key_url(key))


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
