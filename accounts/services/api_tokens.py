"""The API token of a user: one, which a new one replaces. It has all rights of its owner."""

from __future__ import annotations

from django.db import transaction
from rest_framework.authtoken.models import Token

from accounts.models import User


def token_of(user: User) -> Token | None:
    """The token of ``user``, if there is one."""
    return Token.objects.filter(user=user).first()


@transaction.atomic
def make_token(*, user: User) -> Token:
    """Make a token for ``user``; one that was there works no longer."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # two requests at once make one after the other
    revoke_token(user=user)
    return Token.objects.create(user=user)


def revoke_token(*, user: User) -> bool:
    """Delete the token of ``user``; False where there is none."""
    deleted, _by_model = Token.objects.filter(user=user).delete()
    return bool(deleted)
