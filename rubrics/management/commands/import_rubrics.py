"""``import_rubrics FILE --benchmark SLUG --author EMAIL``."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.models import User
from rubrics.management.import_command import ImportCommand


class Command(ImportCommand):
    """Rubrics of cases that are there, as a table."""

    help = "Import rubrics from CSV or XLSX: a row a criterion. Each case whose rows differ gets a draft."
    kind = "rubrics"
    tables = True

    def add_options(self, parser: ArgumentParser) -> None:
        """Whose drafts they are."""
        parser.add_argument("--author", required=True, metavar="EMAIL", help="the physician who wrote them")

    def author(self, options: dict[str, Any]) -> User:
        """The account of the author."""
        user = User.objects.filter(email__iexact=options["author"], is_active=True).first()
        if user is None:
            raise CommandError(f"--author {options['author']}: there is no such account.")
        return user
