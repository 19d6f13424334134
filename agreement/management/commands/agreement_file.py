"""`agreement_file LABELS [--judge JUDGE] --out DIR`: agreement figures from label files alone. Needs no database."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.management.refusals import refusals_of
from consilium.statistics.intervals import IntervalRule


class Command(BaseCommand):
    help = (
        "Compare a judge with physicians, each physician with the others, and the physicians among themselves, from "
        "files of HealthBench's meta-evaluation form. Writes agreement.csv, physicians.csv and ceiling.csv."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("labels", type=Path, help="JSONL file of physicians' labels")
        parser.add_argument("--judge", type=Path, help="JSONL file of a judge's verdicts on the same items")
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from agreement.label_files.label_tables import (
            AGREEMENT_COLUMNS,
            CEILING_COLUMNS,
            PHYSICIANS_COLUMNS,
            TEXT_COLUMNS,
            label_tables,
        )
        from agreement.label_files.reading import read_judge, read_labels

        rule = rule_of(options)
        judge = None
        with refusals_of(options["labels"]):
            labels = read_labels(options["labels"])
        if options["judge"] is not None:
            with refusals_of(options["judge"]):
                judge = read_judge(options["judge"], labels)

        tables = label_tables(labels, judge, rule=rule)
        out: Path = options["out"]
        files = [
            OutTable("physicians", PHYSICIANS_COLUMNS, tables.physicians, TEXT_COLUMNS),
            OutTable("ceiling", CEILING_COLUMNS, tables.ceiling, TEXT_COLUMNS),
        ]
        if tables.agreement is not None:
            files.insert(0, OutTable("agreement", AGREEMENT_COLUMNS, tables.agreement, TEXT_COLUMNS))
        written = OutFolder(out, options["overwrite"]).write(files)

        self.stdout.write(self._tables(tables, rule))
        if judge is not None and judge.n_elsewhere:
            self.stdout.write(f"{judge.n_elsewhere} verdicts are about items that the label file does not have.")
        self.stdout.write(f"Written to {out}: {written}")

    def _tables(self, tables: Any, rule: IntervalRule) -> str:
        """The figures of all items, and MF1 by category, as text."""
        from rich.console import Console
        from rich.table import Table

        from consilium.statistics.two_raters import COEFFICIENTS

        columns = [("physicians' ceiling", tables.ceiling)]
        if tables.agreement is not None:
            columns.insert(0, ("judge against physicians", tables.agreement))
        overall = Table(title="All items", title_justify="left")
        overall.add_column("")
        for title, _ in columns:
            overall.add_column(title, justify="right")
        shown = [
            ("pairs", "n_pairs"),
            ("responses", "n_responses"),
            ("cases", "n_cases"),
            ("balanced F1", "f1_balanced"),
            ("F1 met", "f1_met"),
            ("F1 not met", "f1_not_met"),
            ("MF1", "mf1"),
            ("  95% from", "mf1_low"),
            ("  to", "mf1_high"),
            ("  effective cases", "mf1_effective"),
            *(
                (coefficient.plain_name, coefficient.key)
                for coefficient in COEFFICIENTS
                if not coefficient.is_conservative
            ),
        ]
        if any(rows[0].get("n_invalid") for _, rows in columns):
            shown.append(("pairs without a verdict", "n_invalid"))
        for label, column in shown:
            overall.add_row(label, *(_number(rows[0].get(column)) for _, rows in columns))

        by_category = Table(title="MF1 by category", title_justify="left")
        by_category.add_column("category", overflow="fold")
        for title, _ in columns:
            by_category.add_column("pairs", justify="right", no_wrap=True)
            by_category.add_column(title, justify="right", max_width=12)
        for lines in zip(*(rows[1:] for _, rows in columns), strict=True):
            cells = [cell for row in lines for cell in (_number(row["n_pairs"]), _number(row["mf1"]))]
            by_category.add_row(lines[0]["slice"], *cells)

        text = io.StringIO()
        console = Console(file=text, width=120, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(overall, by_category, sep="\n")
        remarks = [f"{title}: {rows[0]['note']}" for title, rows in columns if rows[0]["note"]]
        for remark in remarks:
            console.print(remark)
        console.print(f"Intervals: {rule.in_words}.", soft_wrap=True)
        return text.getvalue()


def _number(value: float | int | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.6f}"
