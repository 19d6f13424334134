"""`refinement_file FILE --out DIR`: what refining responses gained. Needs no database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.management.refusals import refusals_of


class Command(BaseCommand):
    help = "Scores of responses before and after refinement, from a file. Writes refinement.csv."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, help="CSV with case, base, refined, and arm, length_base, length_refined if given"
        )
        parser.add_argument(
            "--upper-bound",
            metavar="ARM",
            help="arm that the others are held against (default: gold, where there is it)",
        )
        add_out_arguments(parser)
        add_interval_arguments(parser, drawn="the bootstrap, and of the signs of more than 20 cases")

    def handle(self, *args: Any, **options: Any) -> None:
        from validation.files.refinement_reading import read_refinement
        from validation.files.refinement_tables import (
            REFINEMENT_COLUMNS,
            TEXT_COLUMNS,
            UPPER_BOUND,
            refinement_rows,
        )
        from validation.management.printed_rows import printed_rows

        rule = rule_of(options)
        with refusals_of(options["file"]):
            file = read_refinement(options["file"])
        upper_bound = options["upper_bound"]
        if upper_bound is not None and upper_bound not in [arm.name for arm in file.arms]:
            raise CommandError(f"--upper-bound: the file has no arm “{upper_bound}”")
        rows = refinement_rows(file, rule=rule, seed=options["seed"], upper_bound=upper_bound or UPPER_BOUND)
        tables = [OutTable("refinement", REFINEMENT_COLUMNS, rows, TEXT_COLUMNS)]
        written = OutFolder(options["out"], options["overwrite"]).write(tables)
        shown = [name for name in REFINEMENT_COLUMNS[2:-2] if name != "new_numbers"]
        self.stdout.write(printed_rows("Refinement", rows, "arm", shown))
        if file.unused:
            self.stdout.write(f"Columns that were not read: {', '.join(file.unused)}")
        self.stdout.write(f"Intervals: {rule.in_words}.")
        self.stdout.write(f"Written to {options['out']}: {written}")
