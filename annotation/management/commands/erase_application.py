"""``erase_application ID --benchmark SLUG``: remove the personal data of an application for good."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.cohort.services import erase_application
from annotation.models import Application
from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = (
        "Erase what an applicant stated and what reviewers wrote about them. Dates and results stay. The id is in the "
        "address of the application's page, and in applications/ of the API. Other applications with the same e-mail "
        "address are named, and are not erased."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", metavar="ID")
        parser.add_argument("--benchmark", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        row = Application.objects.filter(benchmark=benchmark, public_id=options["id"]).first()
        if row is None:
            raise CommandError(f"There is no application {options['id']} to {benchmark.slug}.")
        try:
            others = erase_application(application=row, by=None, at=timezone.now())
        except DomainError as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"application {row.public_id}: personal data erased")
        if others:
            self.stdout.write(
                "Not erased, with the same address (a stranger may have entered it; erase those of the same person):"
            )
        for public_id in others:
            self.stdout.write(f"application {public_id}")
