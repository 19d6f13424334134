"""`calibrate --benchmark B --group G --candidate NAME --out DIR`: the coverage threshold k from physicians' answers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.calibration import calibrating, judge_error
from agreement.calibration.calibrating import KEYS, CalibrationTables, calibrate_group
from agreement.calibration.modes import MODES_COLUMNS, MODES_TEXT
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from rubrics.management.lookups import benchmark_called

if TYPE_CHECKING:
    from rich.table import Table


class Command(BaseCommand):
    help = (
        "Calibrate k of CACS@k on the responses of a candidate of the kind physician, by the decisions of an expert "
        "group (NAME, or NAME@final). Writes calibration.json, sensitivity.csv, sensitivity_all.csv, candidates.csv, "
        "modes.csv, judges.csv, judge_error.csv and judge_order.csv."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument("--group", required=True, help="expert group, with a stage after an @ (default checked)")
        parser.add_argument("--candidate", required=True, help="candidate of the kind physician")
        parser.add_argument(
            "--include-aided", action="store_true", help="also responses written with model references shown"
        )
        add_out_arguments(parser)
        add_interval_arguments(parser, drawn="the bootstrap, and of the draws of judges' errors")

    def handle(self, *args: Any, **options: Any) -> None:
        rule = rule_of(options)
        benchmark = benchmark_called(options["benchmark"])
        try:
            tables = calibrate_group(
                benchmark,
                group=options["group"].removeprefix("group:"),
                candidate=options["candidate"],
                include_aided=options["include_aided"],
                rule=rule,
                seed=options["seed"],
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        out: Path = options["out"]
        files = OutFolder(out, options["overwrite"]).write(
            _tables(tables), {"calibration": {key: tables.calibration[key] for key in KEYS}}
        )
        self.stdout.write(self._summary(tables))
        self.stdout.write(f"Intervals: {rule.in_words}.")
        self.stdout.write(f"Written to {out}: {files}")

    def _summary(self, tables: CalibrationTables) -> str:
        from rich.console import Console
        from rich.table import Table

        row = tables.calibration
        k_range = "" if row["k_low"] is None else f" ({row['k_low']}–{row['k_high']})"
        mean_range = "" if row["mean_low"] is None else f" ({row['mean_low']:.2f}–{row['mean_high']:.2f})"
        facts = Table(title=f"Calibration by {tables.rater}", title_justify="left", show_header=False)
        facts.add_row("k", f"{row['k']}{k_range}")
        facts.add_row("responses", f"{row['n']:,}, with {row['n_criteria']} positive criteria each")
        facts.add_row("mean hits", f"{row['mean']:.2f}{mean_range}")
        facts.add_row("quartiles", f"{row['q1']:g}, {row['median']:g}, {row['q3']:g}")
        facts.add_row("hit rate", f"{row['hit_rate']:.2%}")
        for entry in tables.modes:
            facts.add_row(" ".join(filter(None, (entry["mode"], entry["mode_name"]))), _mode(entry))
        ranks = Table(title="Ranks of the candidates against CACS at k", title_justify="left")
        for name in ("setting", "k", "Spearman", "top 3", "top 5"):
            ranks.add_column(name, justify="left" if name == "setting" else "right")
        for entry in tables.sensitivity:
            figures = ("–" if entry[name] is None else f"{entry[name]:.3f}" for name in ("spearman", "top3", "top5"))
            ranks.add_row(entry["setting"], "" if entry["k"] is None else str(entry["k"]), *figures)
        text = io.StringIO()
        console = Console(file=text, width=120, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(facts, ranks, sep="\n")
        if tables.error.reason:
            console.print(f"Errors of judges: {tables.error.reason}", soft_wrap=True)
        else:
            console.print(_errors(tables))
        for note in tables.notes:
            console.print(note, soft_wrap=True)
        return text.getvalue()


def _tables(tables: CalibrationTables) -> Iterator[OutTable]:
    sensitivity, error = calibrating.SENSITIVITY_TEXT, judge_error.TEXT
    yield OutTable("sensitivity", calibrating.SENSITIVITY_COLUMNS, tables.sensitivity, sensitivity)
    yield OutTable("sensitivity_all", calibrating.SENSITIVITY_ALL_COLUMNS, tables.sensitivity_all, sensitivity)
    yield OutTable("candidates", calibrating.CANDIDATES_COLUMNS, tables.values, calibrating.CANDIDATES_TEXT)
    yield OutTable("modes", MODES_COLUMNS, tables.modes, MODES_TEXT)
    yield OutTable("judges", judge_error.JUDGES_COLUMNS, tables.error.judges, error)
    yield OutTable("judge_error", judge_error.ERROR_COLUMNS, tables.error.error, error)
    yield OutTable("judge_order", judge_error.ORDER_COLUMNS, tables.error.order, error)


def _mode(row: dict[str, Any]) -> str:
    """How many responses were written in a mode, how many of them are graded, and their mean hits."""
    left = "" if row["in_k"] else ", not in k"
    mean = "" if row["mean"] is None else f", mean hits {row['mean']:.2f}"
    return f"{row['n_responses']:,} written, {row['n']:,} graded{mean}{left}"


def _errors(tables: CalibrationTables) -> Table:
    """The judges whose errors are propagated, and how far the order of the candidates holds under them."""
    from rich.table import Table

    table = Table(title="Errors of judges on positive criteria", title_justify="left")
    for name in ("judge", "role", "MF1", "sensitivity", "specificity", "Spearman of the order"):
        table.add_column(name, justify="left" if name in ("judge", "role") else "right")
    for row in tables.error.judges:
        if row["role"]:
            names = ("mf1", "sensitivity", "specificity", "spearman")
            figures = ("–" if row[name] is None else f"{row[name]:.3f}" for name in names)
            table.add_row(row["judge"], row["role"], *figures)
    return table
