"""``manage.py grant_rights ROLE``: what the role of web, worker and beat may do in the database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from consilium.core.errors import DomainError
from operations import rights


class Command(BaseCommand):
    """Grants rights to a database role that owns nothing."""

    help = (
        "Let a database role, which owns no table, run web, worker and beat: it may read and change rows, add to the "
        "audit trail, and nothing else. Run it as the owner of the tables, after each migrate."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The role."""
        parser.add_argument("role", metavar="ROLE")

    def handle(self, *, role: str, verbosity: int, **options: Any) -> None:
        """Grant, and say what."""
        try:
            numbers = rights.grant(role=role)
        except DomainError as error:
            raise CommandError(str(error)) from error
        if verbosity:
            for words, number in sorted(numbers.items()):
                self.stdout.write(f"{role}: {words} on {number} tables")
