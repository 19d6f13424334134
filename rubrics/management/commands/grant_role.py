"""``manage.py grant_role``: let somebody run, write or audit a benchmark, such as one that was just imported."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from rubrics.models import AuthoringRole, BenchmarkRole
from rubrics.services import give_authoring_role, grant_role


class Command(BaseCommand):
    """Grants a role in a benchmark."""

    help = "Let a person run a benchmark as admin or researcher, or write or audit it as author or auditor."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The benchmark, the person, and the role."""
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--email", required=True)
        roles = [*BenchmarkRole.Role.values, *AuthoringRole.Role.values]
        parser.add_argument("--role", choices=roles, default=BenchmarkRole.Role.ADMIN.value)

    def handle(self, *, benchmark: str, email: str, role: str, **options: Any) -> None:
        """Look up the benchmark and the person, then grant the role."""
        row = benchmark_called(benchmark)
        person = User.objects.filter(email__iexact=email).first()
        if person is None:
            raise CommandError(f"Nobody has the address {email}; make an account with add_person first.")
        try:
            if role in AuthoringRole.Role.values:
                give_authoring_role(benchmark=row, user=person, role=role, at=timezone.now())
            else:
                grant_role(benchmark=row, user=person, role=role)
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{person.email} has a part in “{row.title}” as {role}.")
