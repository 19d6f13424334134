"""``import_applications FILE --benchmark SLUG``: applications made elsewhere, all of a file or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.cohort.reading import COLUMNS, read_applications
from annotation.cohort.services import import_applications
from consilium.core.errors import ImportRefused
from rubrics.management.lookups import benchmark_called
from rubrics.parsing.faults import Faults


class Command(BaseCommand):
    help = (
        "Import applications made elsewhere, CSV or JSONL; if a line has an error, nothing is imported. Columns: "
        f"{', '.join(COLUMNS)}. Only email and name are required."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--benchmark", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        faults = Faults()
        try:
            with options["file"].open("rb") as file:
                rows = read_applications(file, faults)
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from error
        try:
            faults.refuse_if_any()
        except ImportRefused as refused:
            for fault in refused.errors:
                self.stderr.write(str(fault))
            raise CommandError(f"{refused.total} faults, nothing was imported.") from refused
        new, known = import_applications(benchmark=benchmark, rows=rows, at=timezone.now())
        self.stdout.write(f"applications: {new} created, {known} unchanged")
