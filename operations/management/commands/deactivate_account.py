"""``manage.py deactivate_account``: end the access of an account, for those who run the server."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.models import User
from annotation.people.deactivation import deactivate_account
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_REASON_LENGTH
from operations.views.accounts import only_admin


class Command(BaseCommand):
    """Deactivates an account."""

    help = (
        "Deactivate an account: it is signed out and cannot sign in, its API tokens are revoked, its invitations are "
        "withdrawn, and its roles in all benchmarks are stopped. Its work stays."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose account, and why."""
        parser.add_argument("email")
        parser.add_argument("--reason", required=True, help="kept in the security log")

    def handle(self, *, email: str, reason: str, **options: Any) -> None:
        """Deactivate it, or say why not."""
        if not reason.strip() or len(reason) > MAX_REASON_LENGTH:
            raise CommandError(f"The reason must have 1 to {MAX_REASON_LENGTH} characters.")
        person = account_of(email)
        try:
            kept = deactivate_account(person=person, reason=reason.strip(), by=None, at=timezone.now())
        except DomainError as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"{person.email} can no longer sign in.")
        if kept:
            self.stderr.write(only_admin(kept))


def account_of(email: str) -> User:
    """The account with the address; `CommandError` where there is none."""
    person = User.objects.filter(email__iexact=email.strip()).exclude(email="").first()
    if person is None:
        raise CommandError(f"No account has the address {email.strip()}.")
    return person
