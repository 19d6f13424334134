"""``export_run RUN --out FILE``."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from consilium.core.errors import DomainError
from scoring.management.lookups import pipeline_run_called
from scoring.pipelines.archive import write_archive


class Command(BaseCommand):
    """A run of steps as one file."""

    help = "Write a run of steps (such as one that generated responses) with all requests and answers as one archive."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which run, and where to."""
        parser.add_argument("run", metavar="RUN", help="its id, as in the address of its page")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file beside its place, and move it there once it is whole."""
        run = pipeline_run_called(options["run"])
        partial = options["out"].with_name(f"{options['out'].name}.part")
        try:
            with partial.open("wb") as file:
                write_archive(run, file)
            partial.replace(options["out"])
        except DomainError as error:
            partial.unlink(missing_ok=True)
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        self.stdout.write(f"{options['out']}: {run.steps.count():,} steps of run {run.public_id}")
