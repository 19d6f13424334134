"""`compare_judges --benchmark B --reference R --judge A --judge B --out DIR`: two judges against one reference."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.kinds import comparison
from agreement.reports.endpoint_facts import marked
from agreement.reports.numbers import PValue
from agreement.reports.tables import Row, tables_for_files
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.statistics.intervals import IntervalRule
from rubrics.management.lookups import benchmark_called
from scoring.selectors.provenance import printed


class Command(BaseCommand):
    help = (
        "Hold two judges, or any two raters, against one reference on the same pairs, and write comparison.csv, "
        "slices.csv, disagreement.csv and comparison_raters.csv: MF1 of each, their difference with its interval, "
        "McNemar's test for pairs and for cases. A rater is written as for the command agreement."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument("--reference", required=True, help="the rater that both are held against")
        parser.add_argument("--judge", action="append", required=True, help="twice: judge A, then judge B")
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        judges: list[str] = options["judge"]
        if len(judges) != 2:
            raise CommandError("--judge is given twice: judge A, then judge B")
        rule = rule_of(options)
        benchmark = benchmark_called(options["benchmark"])
        given = {"reference": options["reference"], "judge_a": judges[0], "judge_b": judges[1]}
        try:
            complete = comparison.complete(benchmark, given)
            result = marked(benchmark, comparison.compute(benchmark, **complete, rule=rule))
        except DomainError as error:
            raise CommandError(str(error)) from None
        out: Path = options["out"]
        files = OutFolder(out, options["overwrite"]).write(tables_for_files(result.tables, "comparison_raters"))
        self.stdout.write(self._summary(result.tables["comparison"].dicts(), result.facts, rule))
        for note in result.notes:
            self.stdout.write(note)
        for line in printed(result.facts["raters"]):
            self.stdout.write(line)
        self.stdout.write(f"Written to {out}: {files}")

    def _summary(self, rows: list[Row], facts: Row, rule: IntervalRule) -> str:
        """The figures over all pairs and for each candidate, as text."""
        from rich.console import Console
        from rich.table import Table

        shown = Table(
            title=f"A: {facts['judge_a']}, B: {facts['judge_b']}, against {facts['reference']}", title_justify="left"
        )
        shown.add_column("", overflow="fold")
        for name in ("pairs", "MF1 A", "MF1 B", "A less B", "95%", "only A", "only B", "p, cases", "p, exact"):
            shown.add_column(name, justify="right", no_wrap=True)
        for row in rows:
            ends = row["difference_low"], row["difference_high"]
            shown.add_row(
                row["slice"].removeprefix("candidate:"),
                f"{row['n_pairs']:,}",
                *(_number(row[name]) for name in ("mf1_a", "mf1_b", "difference")),
                "" if None in ends else f"{ends[0]:.3f} to {ends[1]:.3f}",
                f"{row['only_a_right']:,}",
                f"{row['only_b_right']:,}",
                PValue.of(row, "p_clustered").shown or "–",
                PValue.of(row, "p_exact").shown or "–",
            )
        text = io.StringIO()
        console = Console(file=text, width=140, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(shown)
        if rows[0]["note"]:
            console.print(rows[0]["note"], soft_wrap=True)
        console.print(
            f"Intervals: {rule.in_words}. p over cases: McNemar's test after Obuchowski, from 10 cases on.",
            soft_wrap=True,
        )
        return text.getvalue()


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
