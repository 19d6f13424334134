"""``import_run FILE [--benchmark SLUG]``."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from consilium.core.errors import DomainError
from scoring.pipelines.archive import read_archive


class Command(BaseCommand):
    """A run of steps from the file that `export_run` wrote."""

    help = (
        "Store a run that was made elsewhere, with its cases. It can be read and replayed (replay_run). Its candidate "
        "gets no responses by it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which file, and which benchmark."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--benchmark", metavar="SLUG", help="default: the archive's own; made where there is none")

    def handle(self, *args: Any, **options: Any) -> None:
        """Store all of it or nothing."""
        try:
            with options["file"].open("rb") as file:
                run = read_archive(file, slug=options["benchmark"], by=None, at=timezone.now())
        except DomainError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from error
        self.stdout.write(f"{run.public_id}: {run.steps.count():,} steps in benchmark {run.benchmark.slug}")
