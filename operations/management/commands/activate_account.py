"""``manage.py activate_account``: let a deactivated account sign in again, for those who run the server."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.people.deactivation import activate_account
from consilium.core.errors import DomainError
from operations.management.commands.deactivate_account import account_of


class Command(BaseCommand):
    """Activates an account."""

    help = "Activate a deactivated account again. Its roles stay stopped until admins give them again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose account."""
        parser.add_argument("email")

    def handle(self, *, email: str, **options: Any) -> None:
        """Activate it, or say why not."""
        person = account_of(email)
        try:
            activate_account(person=person, by=None, at=timezone.now())
        except DomainError as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"{person.email} can sign in again.")
