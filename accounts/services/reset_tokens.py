"""Tokens of links to a new password."""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.tokens import PasswordResetTokenGenerator

from accounts.models import Invitation, PasswordLink, User
from consilium.core import navigation


class AccessAwareTokenGenerator(PasswordResetTokenGenerator):
    """Tokens that end when the account gets access to more, or a newer link is shown to an admin.

    Whoever holds the link chooses the password. An admin who was shown one for their own benchmark must not have a way
    into what the account may do later.
    """

    def _make_hash_value(self, user: AbstractBaseUser, timestamp: int) -> str:
        # While allauth imports that module, it looks for this class.
        from allauth.account.forms import EmailAwarePasswordResetTokenGenerator

        assert isinstance(user, User)
        parts = [
            EmailAwarePasswordResetTokenGenerator()._make_hash_value(user, timestamp),
            *sorted(card.key for card in navigation.home_cards(user)),
            *sorted(set(Invitation.objects.filter(user=user).values_list("scope", flat=True))),
            f"{user.is_staff} {user.is_superuser} {PasswordLink.objects.filter(user=user).count()}",
        ]
        return "|".join(parts)
