"""``manage.py password_link``: let somebody choose a new password where no mail can reach them."""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.models import User
from accounts.services.passwords import password_link
from accounts.services.security_log import record

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    """Prints a link, once."""

    help = (
        "Print a link with which a person chooses a new password and is signed in, also while too many wrong passwords "
        "lock them out. Hand it on yourself, by a way that only they read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose password it is."""
        parser.add_argument("email")

    def handle(self, *, email: str, **options: Any) -> None:
        """Print the link; refuse an account that cannot sign in."""
        user = User.objects.filter(email__iexact=email.strip(), is_active=True).exclude(email="").first()
        if user is None:
            raise CommandError(f"No active account has the address {email.strip()}.")
        link = password_link(user=user)
        record("password_link_shown", at=timezone.now(), user=user, way="command")
        logger.info("A link to a new password was made by command", extra={"user": user.pk})
        self.stdout.write(link)
        days = settings.PASSWORD_RESET_TIMEOUT // 86_400
        self.stderr.write(f"The link works once, for {days} days, and until {user.email} signs in another way.")
