"""``manage.py setup_code``: a code for the first account, where the server was not started by ``manage.py up``."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils import timezone

from accounts.services.first_run import new_setup_code
from consilium.hosts import site_address


class Command(BaseCommand):
    """Prints a code, once."""

    help = "Print a code with which the first account is made on a page. A new code replaces the one before."

    def handle(self, **options: Any) -> None:
        """Print the code, and where to enter it; refuse where somebody has an account."""
        code = new_setup_code(at=timezone.now())
        if not code:
            raise CommandError(
                "Somebody has an account already. Make another with: manage.py add_person ADDRESS --creates-benchmarks"
            )
        self.stdout.write(code)
        self.stderr.write(f"Enter it at {site_address()}{reverse('accounts:first-run')}")
