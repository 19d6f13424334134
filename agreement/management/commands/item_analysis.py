"""`item_analysis --benchmark B --rater A --rater B --out DIR`: criteria, physicians and responses they differ on."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.kinds.items import compute
from agreement.reports.endpoint_facts import marked
from agreement.reports.tables import Row, tables_for_files
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from rubrics.management.lookups import benchmark_called
from scoring.selectors.provenance import printed

TABLES = ("criteria", "physicians", "attributes", "where", "tail", "raters")


class Command(BaseCommand):
    help = (
        "Find on which criteria and responses two raters differ, and what tells where; writes criteria.csv, "
        "physicians.csv, attributes.csv, where.csv, tail.csv and item_raters.csv. The first --rater is the reference. "
        "A rater is group:NAME[@first|checked|final], physician:PSEUDONYM, consensus[:A+B], run:ID, "
        "jury:A+B+C[@unanimous], "
        "or the name of a judge or of a jury."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument("--rater", action="append", required=True, help="twice: the reference, then the other")
        add_out_arguments(parser)
        add_interval_arguments(parser, drawn="the bootstrap and of the permutations")

    def handle(self, *args: Any, **options: Any) -> None:
        raters: list[str] = options["rater"]
        if len(raters) != 2:
            raise CommandError("--rater is given twice: the reference, then the other")
        rule = rule_of(options)
        benchmark = benchmark_called(options["benchmark"])
        try:
            result = marked(
                benchmark, compute(benchmark, rater_a=raters[0], rater_b=raters[1], rule=rule, seed=options["seed"])
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        out: Path = options["out"]
        files = OutFolder(out, options["overwrite"]).write(
            tables_for_files({name: result.tables[name] for name in TABLES}, "item_raters")
        )
        self.stdout.write(
            self._summary(result.tables["attributes"].dicts(), result.tables["overall"].dicts()[0], result.facts)
        )
        self.stdout.write(f"Intervals: {rule_of(options).in_words}.")
        for note in result.notes:
            self.stdout.write(note)
        for line in printed(result.facts["raters"]):
            self.stdout.write(line)
        self.stdout.write(f"Written to {out}: {files}")

    def _summary(self, attributes: list[Row], overall: Row, facts: Row) -> str:
        """What explains disagreement, and the counts of low values."""
        from rich.console import Console
        from rich.table import Table

        shown = Table(title=f"Where {facts['rater_b']} and {facts['rater_a']} differ", title_justify="left")
        shown.add_column("", overflow="fold")
        for name in ("borne by", "values", "bits", "by chance", "share", "p"):
            shown.add_column(name, justify="right", no_wrap=True)
        for row in attributes:
            shown.add_row(
                row["attribute"],
                row["unit"],
                f"{row['n_values']:,}",
                "–" if row["bits"] is None else f"{row['bits']:.5f}",
                "–" if row["by_chance"] is None else f"{row['by_chance']:.5f}",
                "–" if row["share"] is None else f"{row['share']:.1%}",
                "–" if row["p"] is None else f"{row['p']:.3f}",
            )
        text = io.StringIO()
        console = Console(file=text, width=120, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(shown)
        rate = "undefined" if overall["rate"] is None else f"{overall['rate']:.1%}"
        console.print(
            f"They differ on {rate} of {overall['n_pairs']:,} valid pairs; on half or more of the responses for "
            f"{facts['n_criteria_apart']:,} of {facts['n_criteria']:,} criteria. {facts['n_low']:,} of "
            f"{facts['n_responses']:,} responses have MF1 below {facts['below']}.",
            soft_wrap=True,
        )
        return text.getvalue()
