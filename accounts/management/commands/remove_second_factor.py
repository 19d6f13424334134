"""``manage.py remove_second_factor``: let somebody in who lost their authenticator app, keys and recovery codes."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.models import User
from accounts.services.access_ends import remove_second_factor


class Command(BaseCommand):
    """Removes the second steps of an account."""

    help = (
        "Remove the authenticator app, the passkeys and security keys, and the recovery codes of an account whose "
        "owner lost them. Make sure first, by another way than e-mail, that it is the owner who asks. The security log "
        "records it, and the owner gets an e-mail. Where a second step is required, they set up a new one at once."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose they are."""
        parser.add_argument("email")

    def handle(self, *, email: str, **options: Any) -> None:
        """Remove them; refuse an address without an account, and an account without a second step."""
        user = User.objects.filter(email__iexact=email.strip()).exclude(email="").first()
        if user is None:
            raise CommandError(f"No account has the address {email.strip()}.")
        if not remove_second_factor(user=user, at=timezone.now()):
            raise CommandError(f"{user.email} has no second step.")
        self.stdout.write(f"{user.email} now signs in with the password alone.")
