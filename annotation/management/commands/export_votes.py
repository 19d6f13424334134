"""``export_votes --benchmark SLUG [--scale NAME] --out FILE``."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.acuity.votes import VOTE_COLUMNS, VOTE_TEXT, cast_votes, questions_on, vote_rows
from annotation.imports.acuity_votes import only_scale
from consilium.core.csvfile import write_csv
from consilium.core.errors import DomainError
from rubrics.acuity.stored import scale_of
from rubrics.management.lookups import benchmark_called
from rubrics.models import AcuityScale


class Command(BaseCommand):
    """Physicians' votes on how urgent cases are, as a file that ``import_votes`` takes."""

    help = "Write physicians' votes on how urgent cases are to CSV, in the columns of import_votes."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which votes, and where to."""
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument(
            "--scale", default="", metavar="NAME", help="a scale of the benchmark (default: its only one)"
        )
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the votes that were handed in, one of each physician on a case, and say how many they are."""
        benchmark = benchmark_called(options["benchmark"])
        try:
            name = options["scale"] or only_scale(benchmark)
        except DomainError as error:
            raise CommandError(str(error)) from error
        scale = AcuityScale.objects.filter(benchmark=benchmark, name=name).order_by("-version").first()
        if scale is None:
            raise CommandError(f"There is no scale “{name}” in this benchmark.")
        votes = cast_votes(questions_on(benchmark, scale))
        try:
            rows = vote_rows(votes, benchmark, scale_of(scale))
            write_csv(options["out"], VOTE_COLUMNS, rows, text_columns=VOTE_TEXT)
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        self.stdout.write(f"{options['out']}: {len(votes)} votes on the scale {scale}")
