"""`agreement --benchmark B --rater A --rater B --out DIR`: two raters of a benchmark on every slice."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.kinds.agreement import compute
from agreement.reports.endpoint_facts import marked
from agreement.reports.tables import Row
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.macro_f1 import MACRO_F1
from consilium.statistics.two_raters import COEFFICIENTS
from rubrics.management.lookups import benchmark_called
from scoring.selectors.provenance import printed


class Command(BaseCommand):
    help = (
        "Compare two raters of a benchmark and write agreement.csv and agreement_raters.csv. The first --rater is the "
        "reference. A rater is group:NAME[@first|checked|final], physician:PSEUDONYM, consensus[:A+B], run:ID, "
        "jury:A+B+C[@unanimous], or the name of a judge or of a jury."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument("--rater", action="append", required=True, help="twice: the reference, then the other")
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        raters: list[str] = options["rater"]
        if len(raters) != 2:
            raise CommandError("--rater is given twice: the reference, then the other")
        rule = rule_of(options)
        benchmark = benchmark_called(options["benchmark"])
        try:
            result = marked(benchmark, compute(benchmark, rater_a=raters[0], rater_b=raters[1], rule=rule))
        except DomainError as error:
            raise CommandError(str(error)) from None
        out: Path = options["out"]
        table = result.tables["agreement"]
        files = OutFolder(out, options["overwrite"]).write(
            [table.for_file("agreement"), result.tables["raters"].for_file("agreement_raters")]
        )
        self.stdout.write(self._summary(result.tables["candidates"].dicts(), result.facts, rule))
        for line in printed(result.facts["raters"]):
            self.stdout.write(line)
        self.stdout.write(f"Written to {out}: {files}; agreement.csv has {len(table.rows):,} rows")

    def _summary(self, rows: list[Row], facts: Row, rule: IntervalRule) -> str:
        """The figures over all pairs and for each candidate, as text."""
        from rich.console import Console
        from rich.table import Table

        shown = Table(title=f"{facts['rater_b']} against {facts['rater_a']}", title_justify="left")
        shown.add_column("", overflow="fold")
        beside_mf1 = [
            coefficient for coefficient in COEFFICIENTS if coefficient.plain_heading and coefficient is not MACRO_F1
        ]
        columns = (
            "pairs",
            "MF1",
            "95%",
            *(coefficient.plain_heading for coefficient in beside_mf1),
            "invalid",
            "missing",
            "cannot",
            "undecided",
        )
        for name in columns:
            shown.add_column(name, justify="right", no_wrap=True)
        for row in rows:
            interval = "" if row["mf1_low"] is None else f"{row['mf1_low']:.3f}–{row['mf1_high']:.3f}"
            shown.add_row(
                row["slice"].removeprefix("candidate:"),
                f"{row['n_pairs']:,}",
                _number(row["mf1"]),
                interval,
                *(_number(row[coefficient.key]) for coefficient in beside_mf1),
                f"{row['n_invalid'] - row['n_missing']:,}",
                f"{row['n_missing']:,}",
                f"{row['n_cannot']:,}",
                f"{row['n_undecided'] + row['n_undecided_by_judge']:,}",
            )
        text = io.StringIO()
        console = Console(file=text, width=140, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(shown)
        if rows[0]["note"]:
            console.print(rows[0]["note"], soft_wrap=True)
        if facts["n_responses"]:
            console.print(
                f"{facts['n_below']} of {facts['n_responses']} responses ({facts['share_below']:.1%}) have MF1 below "
                f"{facts['below']}; median {facts['median']:.3f}.",
                soft_wrap=True,
            )
        console.print(f"Intervals: {rule.in_words}.", soft_wrap=True)
        return text.getvalue()


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
