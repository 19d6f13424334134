"""`alternative_test --benchmark B --judge J [--group G] --out DIR`: may a judge stand in for a physician?

With ``--labels FILE --judge FILE`` in place of a benchmark, from label files alone.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.judged import alternative as computing
from agreement.kinds import alternative
from agreement.label_files.reading import read_judge, read_labels
from agreement.reports.endpoint_facts import marked
from agreement.reports.tables import Row, Table, tables_for_files
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.management.refusals import refusals_of
from consilium.statistics.alternative_annotator import EPSILON, MINIMUM_INSTANCES
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = (
        "The alternative annotator test (Calderon, Reichart and Dror 2025): a judge against each physician, before the "
        "other physicians. Of a benchmark, or of files of HealthBench's meta-evaluation form (--labels). Writes "
        "physicians.csv and summary.csv."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--benchmark", help="short name of the benchmark")
        source.add_argument("--labels", type=Path, help="JSONL file of physicians' labels, in place of a benchmark")
        parser.add_argument("--judge", required=True, help="a judge, run:ID or a jury; with --labels its JSONL file")
        parser.add_argument("--group", default="all", help="an expert group (default: all physicians)")
        parser.add_argument("--epsilon", type=float, default=EPSILON, help=f"cost benefit (default {EPSILON})")
        parser.add_argument(
            "--minimum",
            type=int,
            default=MINIMUM_INSTANCES,
            help=f"fewest instances of a physician to be tested (default {MINIMUM_INSTANCES}; the authors use 30)",
        )
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["epsilon"] < 1:
            raise CommandError("--epsilon is a number from 0 to below 1")
        if options["minimum"] < 2:
            raise CommandError("--minimum must be 2 or more")
        try:
            tables, notes = self._of_files(options) if options["labels"] else self._of_benchmark(options)
        except DomainError as error:
            raise CommandError(str(error)) from None
        out: Path = options["out"]
        files = OutFolder(out, options["overwrite"]).write(tables_for_files(tables, "alternative_raters"))
        self.stdout.write(self._summary(tables["physicians"].dicts(), tables["summary"].dicts()[0]))
        self.stdout.write(f"Intervals: {rule_of(options).in_words}.")
        for note in notes:
            self.stdout.write(note)
        self.stdout.write(f"Written to {out}: {files}")

    def _of_benchmark(self, options: dict[str, Any]) -> tuple[Mapping[str, Table], list[str]]:
        benchmark = benchmark_called(options["benchmark"])
        given = {name: options[name] for name in ("judge", "group", "epsilon", "minimum")}
        complete = alternative.complete(benchmark, given)
        result = marked(benchmark, alternative.compute(benchmark, **complete, rule=rule_of(options)))
        return result.tables, result.notes

    def _of_files(self, options: dict[str, Any]) -> tuple[Mapping[str, Table], list[str]]:
        judge_path = Path(options["judge"])
        with refusals_of(options["labels"]):
            labels = read_labels(options["labels"])
        with refusals_of(judge_path):
            judge = read_judge(judge_path, labels)
        labelled = computing.of_files(labels, judge)
        test_result = computing.alternative(
            labelled, epsilon=options["epsilon"], minimum=options["minimum"], rule=rule_of(options)
        )
        return computing.tables_of(test_result, labelled, judge=judge_path.name, group=computing.ALL), []

    def _summary(self, rows: list[Row], summary: Row) -> str:
        """The tested physicians and the results of the test, as text."""
        from rich.console import Console
        from rich.table import Table as Printed

        shown = Printed(title=f"{summary['judge']} and each physician, before the others", title_justify="left")
        shown.add_column("", overflow="fold")
        for name in ("instances", "cases", "rho judge", "rho physician", "p", "adjusted", "wins", "over cases"):
            shown.add_column(name, justify="right", no_wrap=True)
        for row in rows:
            if row["wins"] is None:
                continue
            shown.add_row(
                row["physician"],
                f"{row['n_instances']:,}",
                f"{row['n_cases']:,}",
                *(_number(row[name]) for name in ("rho_judge", "rho_physician", "p", "p_adjusted")),
                _verdict_of_wins(row["wins"]),
                _verdict_of_wins(row["wins_clustered"]),
            )
        text = io.StringIO()
        console = Console(file=text, width=140, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(shown)
        tested, physicians = summary["n_tested"], summary["n_physicians"]
        console.print(
            f"{tested} of {physicians} physicians have {summary['minimum']} instances or more. Winning rate "
            f"{_number(summary['winning_rate'])} (over cases {_number(summary['winning_rate_clustered'])}), average "
            f"advantage {_number(summary['advantage'])}, epsilon {summary['epsilon']:g}.",
            soft_wrap=True,
        )
        console.print(
            {
                None: "No verdict.",
                True: "By this test the judge may stand in for a physician of this group.",
                False: "By this test the judge may not stand in for a physician of this group.",
            }[summary["passes"]],
        )
        if summary["note"]:
            console.print(summary["note"], soft_wrap=True)
        return text.getvalue()


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _verdict_of_wins(wins: bool | None) -> str:
    return "–" if wins is None else "yes" if wins else "no"
