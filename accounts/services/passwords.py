"""Letting somebody choose a new password without a mail."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str

from accounts.models import User


def password_link(*, user: User) -> str:
    """A link of the kind that "Forgot your password?" mails: it works once, and for ``PASSWORD_RESET_TIMEOUT``.

    It stops working when the person has signed in, or has a new password.
    """
    key = f"{user_pk_to_url_str(user)}-{default_token_generator.make_token(user)}"
    return str(get_adapter().get_reset_password_from_key_url(key))
