"""``manage.py disconnect_sign_on``: make room for a new identity of the same person at the provider."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.services import security_log
from accounts.services.access_ends import end_sessions_and_tokens


class Command(BaseCommand):
    """Disconnects an account from single sign-on."""

    help = (
        "Disconnect an account from its identity at the provider of single sign-on. Its sessions and "
        "API tokens end. The next sign-on with the address connects another one. Do not do this if the address now "
        "belongs to somebody else."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose account."""
        parser.add_argument("email")

    def handle(self, *, email: str, **options: Any) -> None:
        """Disconnect it; refuse where nothing is connected."""
        user = User.objects.filter(email__iexact=email.strip()).exclude(email="").first()
        with transaction.atomic():
            number, _by_model = SocialAccount.objects.filter(user=user).delete() if user else (0, {})
            if not number:
                raise CommandError(f"No account with the address {email.strip()} is connected to single sign-on.")
            assert user is not None
            at = timezone.now()
            end_sessions_and_tokens(user=user, by=None, at=at)
            security_log.record("sign_on_disconnected", at=at, user=user)
        self.stdout.write(f"{email.strip()} is disconnected.")
