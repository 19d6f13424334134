"""``manage.py add_person``: an account from the command line, such as the first one of a new installation."""

from __future__ import annotations

import getpass
import os
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from accounts.services import person_of
from accounts.services.security_log import record
from consilium.core.errors import DomainError


class Command(BaseCommand):
    """Makes an account, or changes an existing one."""

    help = (
        "Make an account, or set the password and the rights of one that is there. "
        "The password is asked for, or read from the environment variable PASSWORD."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Who the person is, and what they may do."""
        parser.add_argument("email")
        parser.add_argument("--name", default="")
        parser.add_argument("--creates-benchmarks", action="store_true", help="let them make benchmarks")
        parser.add_argument(
            "--operator", action="store_true", help="let them see the state and the records of the server"
        )
        parser.add_argument(
            "--no-password", action="store_true", help='leave it to "Forgot your password?", or to password_link'
        )

    def handle(
        self, *, email: str, name: str, creates_benchmarks: bool, operator: bool, no_password: bool, **options: Any
    ) -> None:
        """Write all of it or nothing."""
        password = None if no_password else os.environ.get("PASSWORD") or getpass.getpass()
        try:
            with transaction.atomic():
                person = person_of(email=email, name=name, way="command")
                if password is not None:
                    validate_password(password, person)
                    person.set_password(password)
                    record("password_changed", at=timezone.now(), user=person, way="command")
                rights = {"is_staff": creates_benchmarks, "is_superuser": operator}
                new = [right for right, is_given in rights.items() if is_given and not getattr(person, right)]
                for right in new:
                    setattr(person, right, True)
                person.save()
                if new:
                    given: dict[str, Any] = dict.fromkeys(new, True)
                    record("rights_changed", at=timezone.now(), user=person, **given)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{person.email} can sign in." if password else f"{person.email} has an account.")
