"""`pairs_file FILE --out DIR`: whether sets of criteria tell a reference from a near miss. Needs no database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.management.refusals import refusals_of
from consilium.statistics.trials import MARGIN, DecisionRule


class Command(BaseCommand):
    help = (
        "Wins, score deltas and AUROC of sets of criteria on near-miss pairs, from a file of trials. Writes pairs.csv, "
        "and pair_comparisons.csv with each two sets on the pairs that both decide."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, help="CSV with pair, order (ref_first, cand_first), trial, total_ref, total_cand, stated"
        )
        parser.add_argument(
            "--rule",
            choices=[str(rule) for rule in DecisionRule],
            default=str(DecisionRule.SIGN),
            help="what decides a trial: the sign of the difference of its totals (default), the same with a margin, or "
            "what the judge stated",
        )
        parser.add_argument(
            "--margin",
            type=float,
            default=None,
            help=f"with --rule margin: a tie up to this share of points_abs (default {MARGIN})",
        )
        parser.add_argument(
            "--trials",
            type=int,
            default=None,
            help="good trials that a pair needs for a decision (default: the number of trials of its fuller order)",
        )
        parser.add_argument(
            "--self-consistency",
            action="store_true",
            help="also the AUROC of the deltas for the pairs' own decisions, which says nothing about being right",
        )
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from validation.files.pair_reading import read_pairs
        from validation.files.pair_tables import (
            PAIR_COLUMNS,
            PAIR_COMPARISON_COLUMNS,
            TEXT_COLUMNS,
            PairOptions,
            pair_tables,
        )
        from validation.management.printed_rows import printed_rows

        rule, decided_by = rule_of(options), DecisionRule(options["rule"])
        margin = MARGIN if options["margin"] is None else options["margin"]
        if options["margin"] is not None and decided_by is not DecisionRule.MARGIN:
            raise CommandError("--margin is for --rule margin")
        if not 0 <= margin < 1:  # nan is neither
            raise CommandError("--margin must be a number from 0 to below 1")
        if options["trials"] is not None and options["trials"] < 1:
            raise CommandError("--trials must be 1 or more")
        with refusals_of(options["file"]):
            file = read_pairs(
                options["file"],
                needs_points=decided_by is DecisionRule.MARGIN,
                needs_stated=decided_by is DecisionRule.STATED,
            )
        tables = pair_tables(
            file,
            PairOptions(decided_by, margin, options["trials"] or 0, has_self_consistency=options["self_consistency"]),
            rule=rule,
        )
        files = [
            OutTable("pairs", PAIR_COLUMNS, tables.pairs, TEXT_COLUMNS),
            OutTable("pair_comparisons", PAIR_COMPARISON_COLUMNS, tables.comparisons, TEXT_COLUMNS),
        ]
        written = OutFolder(options["out"], options["overwrite"]).write(files)
        shown = [name for name in PAIR_COLUMNS[3:-2] if name != "auroc_self" or options["self_consistency"]]
        self.stdout.write(printed_rows("Near-miss pairs", tables.pairs, "set", shown))
        if file.unused:
            self.stdout.write(f"Columns that were not read: {', '.join(file.unused)}")
        self.stdout.write(f"Intervals: {rule.in_words}.")
        self.stdout.write(f"Written to {options['out']}: {written}")
