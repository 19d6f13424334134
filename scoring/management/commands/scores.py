"""``scores --benchmark B --rater R --k K --out DIR``: scores of candidates and of responses, with intervals."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.statistics.bootstrap import RESAMPLES
from consilium.statistics.length_adjustment import DEFAULT_ADJUSTMENT, LengthAdjustment
from rubrics.management.lookups import benchmark_called
from rubrics.selectors.exclusion import excluded_cases
from scoring.runs.selectors import coverage_notes
from scoring.scores import length_adjusted
from scoring.scores.lengths import read_lengths
from scoring.scores.score_tables import (
    FIGURES,
    INTERVALS_COLUMNS,
    RESPONSES_COLUMNS,
    RESPONSES_TEXT,
    SCORES_COLUMNS,
    SCORES_TEXT,
    WORST_COLUMNS,
    WORST_TEXT,
    Scores,
    tables_of,
)
from scoring.scores.scored import read_scored
from scoring.selectors import provenance
from scoring.selectors.raters import resolve_rater


class Command(BaseCommand):
    help = (
        "Score every candidate by a rater: rubric score, Rubric Accuracy, Pass@k, CACS@k and worst-at-k, overall and "
        "for every slice."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument(
            "--rater",
            required=True,
            help="group:NAME[@stage], consensus[:A+B], run:ID, a judge, a jury, jury:A+B[@unanimous]",
        )
        parser.add_argument("--k", type=int, required=True, help="coverage threshold of Pass@k and CACS@k")
        parser.add_argument(
            "--length-centre",
            type=float,
            default=DEFAULT_ADJUSTMENT.centre,
            metavar="N",
            help="characters of a response that the length-adjusted score leaves as it is (default 2000)",
        )
        parser.add_argument(
            "--length-penalty",
            type=float,
            default=DEFAULT_ADJUSTMENT.penalty,
            metavar="P",
            help="what the length-adjusted score takes off for each 500 characters beyond that (default 0.0147)",
        )
        add_out_arguments(parser)
        add_interval_arguments(parser, drawn="the bootstrap, of rubric_score_se in any case")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["k"] < 1:
            raise CommandError("--k must be 1 or more")
        try:
            adjustment = LengthAdjustment(options["length_centre"], options["length_penalty"])
        except ValueError:
            raise CommandError("--length-centre and --length-penalty must be numbers from 0") from None
        rule = rule_of(options)
        benchmark = benchmark_called(options["benchmark"])
        try:
            rater = resolve_rater(benchmark, options["rater"])
            scored = read_scored(benchmark, rater, options["k"], rule=rule, seed=options["seed"])
            scores = tables_of(scored)
        except DomainError as error:
            raise CommandError(str(error)) from None
        if not scores.rows:
            raise CommandError(f"{scores.rater} has decided nothing of the current rubrics of this benchmark.")
        adjusted = length_adjusted.length_adjusted_rows(
            scored, read_lengths(benchmark, scored.sheet.response_ids), adjustment
        )
        out: Path = options["out"]
        raters = provenance.provenance(rater)
        files = OutFolder(out, options["overwrite"]).write(
            [
                OutTable("scores", SCORES_COLUMNS, scores.rows, SCORES_TEXT),
                OutTable("scores_intervals", INTERVALS_COLUMNS, scores.intervals, SCORES_TEXT),
                OutTable("responses", RESPONSES_COLUMNS, scores.responses, RESPONSES_TEXT),
                OutTable("worst_at_k", WORST_COLUMNS, scores.worst_at_k, WORST_TEXT),
                OutTable("length_adjusted", length_adjusted.COLUMNS, adjusted, length_adjusted.TEXT),
                OutTable("scores_raters", provenance.COLUMNS, raters, provenance.TEXT_COLUMNS),
            ]
        )
        self.stdout.write(self._summary(scores))
        self.stdout.write(f"Intervals: {rule.in_words}.")
        self.stdout.write(f"rubric_score_se: deviation over {RESAMPLES:,} resamples, seed {options['seed']}.")
        for line in [*provenance.printed(raters), *coverage_notes(rater.judges)]:
            self.stdout.write(line)
        if excluded := excluded_cases(benchmark).count():
            self.stdout.write(f"{excluded} excluded cases left out.")
        self.stdout.write(f"Written to {out}: {files}")

    def _summary(self, scores: Scores) -> str:
        from rich.console import Console
        from rich.table import Table

        table = Table(title=f"Scores by {scores.rater}, k = {scores.k}", title_justify="left")
        table.add_column("candidate")
        for name in ("n", "rubric score", "accuracy", "pass", "CACS", "invalid", "missing", "undecided", "faulty"):
            table.add_column(name, justify="right")
        for row in scores.scoreboard:
            figures = (
                "–" if row[name] is None else f"{row[name]:.3f}"
                for name in ("rubric_score", "rubric_accuracy", "pass_at_k", "cacs_at_k")
            )
            counts = (str(row[name]) for name in ("n_invalid", "n_missing", "n_undecided", "n_faulty"))
            table.add_row(row["candidate"], str(row["n"]), *figures, *counts)
        text = io.StringIO()
        console = Console(file=text, width=120, force_terminal=self.stdout.isatty(), markup=False, highlight=False)
        console.print(table)
        for row in scores.scoreboard:
            if any(row[name] is None for name in FIGURES):
                console.print(f"{row['candidate']}: {row['note']}", soft_wrap=True)
        console.print(f"Counted as: {scores.rules}.")
        return text.getvalue()
