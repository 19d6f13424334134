"""``manage.py load_demo``: the made-up benchmark with people, responses and graded work."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from demo import PASSWORD, SIGN_INS
from demo.load import load_demo


class Command(BaseCommand):
    """Load the demo benchmark; run again, it changes nothing."""

    help = (
        "Load the demo benchmark: made-up cases, candidates, physicians and decisions. Its accounts have a published "
        "password, so do not load it where real work is done."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The endpoint that drafts."""
        parser.add_argument(
            "--rule-endpoint",
            default=settings.RULE_ENDPOINT,
            metavar="URL",
            help="address of manage.py rule_endpoint, which the demo’s recipes ask (RULE_ENDPOINT)",
        )

    def handle(self, *, verbosity: int, rule_endpoint: str, **options: Any) -> None:
        """Load, and name the sign-ins."""
        try:
            loaded = load_demo(at=timezone.now(), rule_endpoint=rule_endpoint)
        except DomainError as error:
            raise CommandError(str(error)) from error
        if verbosity == 0:
            return
        self.stdout.write("Loaded the demo benchmark." if loaded else "The demo benchmark is there already.")
        for role, email, _ in SIGN_INS:
            self.stdout.write(f"  {role}: {email}")
        self.stdout.write(f"  Password of all: {PASSWORD}")
