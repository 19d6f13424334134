"""`agreement_file LABELS [--judge [NAME=]FILE …] --out DIR`: figures from label files alone. Needs no database."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.management.theme_options import add_theme_arguments, theme_files
from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.management.refusals import refusals_of
from consilium.statistics.intervals import IntervalRule

Rows = Sequence[Mapping[str, Any]]
JUDGE_WIDTH = 16  # of a column of a judge on the terminal, where there are many


class Command(BaseCommand):
    help = (
        "Compare judges with physicians, each physician with the others, and the physicians among themselves, from "
        "files of HealthBench's meta-evaluation form. Writes agreement.csv, physicians.csv and ceiling.csv; "
        "agreement.csv of several judges has a first column judge."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("labels", type=Path, help="JSONL file of physicians' labels")
        parser.add_argument(
            "--judge",
            action="append",
            metavar="[NAME=]FILE",
            help="JSONL file of a judge's verdicts on the same items; several times for several judges, which are "
            "called as the file is unless a NAME is given",
        )
        add_theme_arguments(parser)
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from agreement.label_files.label_tables import (
            AGREEMENT_COLUMNS,
            CEILING_COLUMNS,
            PHYSICIANS_COLUMNS,
            TEXT_COLUMNS,
            agreement_rows,
            label_tables,
        )
        from agreement.label_files.reading import read_judge, read_labels

        rule = rule_of(options)
        paths = judge_files(options["judge"])
        judges = {}
        with refusals_of(options["labels"]):
            labels = read_labels(options["labels"])
        for name, path in paths.items():
            with refusals_of(path):
                judges[name] = read_judge(path, labels)

        tables = label_tables(labels, None, rule=rule)
        agreements = {name: agreement_rows(labels, judge, rule=rule) for name, judge in judges.items()}
        several = len(agreements) > 1
        out: Path = options["out"]
        files = [
            OutTable("physicians", PHYSICIANS_COLUMNS, tables.physicians, TEXT_COLUMNS),
            OutTable("ceiling", CEILING_COLUMNS, tables.ceiling, TEXT_COLUMNS),
        ]
        if agreements:
            columns = ("judge", *AGREEMENT_COLUMNS) if several else AGREEMENT_COLUMNS
            rows = [{"judge": name, **row} for name, own in agreements.items() for row in own]
            files.insert(0, OutTable("agreement", columns, rows, TEXT_COLUMNS))
        files += theme_files(labels, judges, options, rule)
        written = OutFolder(out, options["overwrite"]).write(files)

        headings = list(agreements) if several else ["judge against physicians"]
        shown = dict(zip(headings, agreements.values(), strict=False))
        self.stdout.write(self._tables(shown, tables.ceiling, rule))
        for name, judge in judges.items():
            who = f"{name}: " if several else ""
            if several and judge.n_lacking:
                self.stdout.write(
                    f"{who}{judge.n_lacking} of {len(labels.keys)} items have no verdict, which counts against it."
                )
            if judge.n_elsewhere:
                self.stdout.write(
                    f"{who}{judge.n_elsewhere} verdicts are about items that the label file does not have."
                )
        self.stdout.write(f"Written to {out}: {written}")

    def _tables(
        self,
        agreements: Mapping[str, Sequence[Mapping[str, Any]]],
        ceiling: Sequence[Mapping[str, Any]],
        rule: IntervalRule,
    ) -> str:
        """The figures of all items, and MF1 by category, as text; the rows of each judge by its heading."""
        from rich.console import Console
        from rich.table import Table

        from consilium.statistics.two_raters import COEFFICIENTS

        columns = [*agreements.items(), ("physicians' ceiling", ceiling)]
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
        # All judges have the same pairs, which stand once before them.
        with_pairs = {0, len(columns) - 1}
        for place, (title, _) in enumerate(columns):
            if place in with_pairs:
                by_category.add_column("pairs", justify="right", no_wrap=True)
            by_category.add_column(title, justify="right", max_width=12)
        for lines in zip(*(rows[1:] for _, rows in columns), strict=True):
            cells = [
                cell
                for place, row in enumerate(lines)
                for cell in ([_number(row["n_pairs"])] if place in with_pairs else []) + [_number(row["mf1"])]
            ]
            by_category.add_row(lines[0]["slice"], *cells)

        text = io.StringIO()
        width = 120 + JUDGE_WIDTH * max(0, len(agreements) - 4)
        console = Console(file=text, width=width, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(overall, by_category, sep="\n")
        remarks = [f"{title}: {rows[0]['note']}" for title, rows in columns if rows[0]["note"]]
        for remark in remarks:
            console.print(remark)
        console.print(f"Intervals: {rule.in_words}.", soft_wrap=True)
        return text.getvalue()


def judge_files(given: Sequence[str | Path] | str | Path | None) -> dict[str, Path]:
    """The file of each judge by its name; `CommandError` where two have one name.

    A judge is called as its file is, without the ending, unless ``NAME=FILE`` says otherwise. A file whose own name
    has an equals sign is that file.
    """
    values = [given] if isinstance(given, str | Path) else given or []
    files: dict[str, Path] = {}
    for value in map(str, values):
        name, equals, path = value.partition("=")
        if not equals or Path(value).exists():
            name, path = Path(value).stem, value
        if not name.strip() or not path:
            raise CommandError(f"--judge {value}: give FILE, or NAME=FILE.")
        if name in files:
            raise CommandError(f"Two judges are called “{name}”: give each a name of its own, as --judge NAME=FILE.")
        files[name] = Path(path)
    return files


def _number(value: float | int | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.6f}"
