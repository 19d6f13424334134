"""``export_decisions --benchmark SLUG --rater R --out FILE``."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agreement.exports.decisions import export_decisions
from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from scoring.runs.selectors import coverage_notes


class Command(BaseCommand):
    """A rater's decisions as a file that ``import_decisions`` takes."""

    help = "Write what a rater decided to CSV or JSONL (by the name of the file), in the columns of import_decisions."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose decisions, and where to."""
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument(
            "--rater", required=True, metavar="R", help="group:NAME[@first|checked|final], physician:P, …"
        )
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file and say how much is in it."""
        benchmark = benchmark_called(options["benchmark"])
        try:
            export = export_decisions(benchmark=benchmark, rater=options["rater"], out=options["out"])
        except DomainError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        self.stdout.write(f"{options['out']}: {export.written} decisions of {export.rater.label}")
        for note in coverage_notes(export.rater.judges):
            self.stderr.write(f"note: {note}")
        if export.left_out:
            self.stderr.write(f"note: {export.left_out} pairs without an outcome (ties) are left out")
        if export.n_faulty:
            self.stderr.write(f"note: {export.n_faulty} pairs whose criterion was ruled faulty are left out")
