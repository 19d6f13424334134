"""`coverage_file FILE --out DIR`: how much of the intended content sets of criteria cover. Needs no database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.management.refusals import refusals_of


class Command(BaseCommand):
    help = (
        "Clinical Intent Alignment of sets of criteria from a file: which gold points each of them covers. Writes "
        "coverage.csv, and comparisons.csv with each two sets on the same gold points."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            help="CSV with case, gold, points, and a column for each set: full, partial, none, invalid",
        )
        parser.add_argument(
            "--over",
            choices=("cases", "points"),
            default="cases",
            help="what intervals are over: cases (default), or gold points as in some publications",
        )
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from validation.files.coverage_reading import read_coverage
        from validation.files.coverage_tables import (
            BACKWARD,
            COMPARISON_COLUMNS,
            COVERAGE_COLUMNS,
            TEXT_COLUMNS,
            coverage_tables,
        )
        from validation.management.printed_rows import printed_rows

        rule = rule_of(options)
        with refusals_of(options["file"]):
            file = read_coverage(options["file"])
        tables = coverage_tables(file, rule=rule, over=options["over"])
        files = [
            OutTable("coverage", COVERAGE_COLUMNS, tables.coverage, TEXT_COLUMNS),
            OutTable("comparisons", COMPARISON_COLUMNS, tables.comparisons, TEXT_COLUMNS),
        ]
        written = OutFolder(options["out"], options["overwrite"]).write(files)
        shown = [name for name in COVERAGE_COLUMNS[2:-2] if name not in BACKWARD]
        self.stdout.write(printed_rows("Rubric coverage", tables.coverage, "set", shown))
        self.stdout.write(f"Intervals: {rule.in_words}.")
        self.stdout.write(f"Written to {options['out']}: {written}")
