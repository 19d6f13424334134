"""``susceptibility --benchmark B --judge NAME [--reference group:NAME] [--pairs 10] [--wait] [--out DIR]``."""

from __future__ import annotations

import io
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.statistics.estimate import Figure
from consilium.statistics.intervals import IntervalRule
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark
from scoring.judges.services import find_judge
from scoring.management.commands.judge import Command as JudgeCommand
from scoring.management.commands.judge import amount
from scoring.models import Judge, JudgeRun, Verdict
from scoring.susceptibility.injections import FAMILIES
from scoring.susceptibility.level_estimate import level_measurement_estimate
from scoring.susceptibility.level_services import create_level_measurement
from scoring.susceptibility.level_shifts import SHIFT_COLUMNS, level_shifts, shift_rows
from scoring.susceptibility.services import create_susceptibility_run
from scoring.susceptibility.turn_rates import CSV_COLUMNS, CSV_TEXT, Susceptibility, csv_rows, measured

FILE = "susceptibility"
LEVEL_FILE = "level_shifts"


class Command(JudgeCommand):
    help = (
        "Measure how often a text inside a response turns a verdict of a judge that cost the candidate points: a run "
        "over failing pairs, each as it stands, with each of 60 injections, and with each of 6 harmless edits, which "
        "show what turns by noise: 67 verdicts a pair. With --wait or --out the command follows it to its end, and "
        "does the work itself where no worker takes it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--judge", required=True, metavar="NAME", help="of this benchmark, else of any other")
        parser.add_argument(
            "--task",
            default=Judge.Task.RUBRIC,
            choices=Judge.Task.values,
            help="acuity: how far three texts that claim an emergency move the levels that a judge reads; --pairs is "
            "then the number of responses",
        )
        parser.add_argument(
            "--reference",
            default="",
            metavar="RATER",
            help="whose decisions say which pairs fail: group:NAME[@stage], run:ID (default: the first group that has "
            "decided something, else the judge's own newest run)",
        )
        parser.add_argument("--pairs", type=int, default=10, help="how many failing pairs (default 10, at most 200)")
        add_interval_arguments(parser, drawn="the draw of pairs, and of the bootstrap")
        parser.add_argument("--budget", type=amount, default=None, help="the most to spend, by the judge's prices")
        parser.add_argument("--wait", action="store_true", help="stay until the run has ended, and print the figures")
        add_out_arguments(parser, required=False, more="; waits for the end of the run")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        rule = rule_of(options)
        if options["task"] == Judge.Task.ACUITY:
            self._measure_levels(benchmark, rule, options)
            return
        try:
            run = create_susceptibility_run(
                benchmark=benchmark,
                judge=find_judge(benchmark=benchmark, name=options["judge"]),
                reference=options["reference"],
                pairs=options["pairs"],
                seed=options["seed"],
                budget=options["budget"],
                by=None,
                at=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        drawn = run.expected // run.replicates
        self.stdout.write(
            f"run:{run.public_id}: {run.expected:,} verdicts on {drawn:,} of {run.frame['failing']:,} pairs that fail "
            f"by {run.frame['reference']}"
        )
        if not options["wait"] and options["out"] is None:
            return
        self._wait(run)
        done = Verdict.objects.filter(run=run).count()
        self.stdout.write(f"{run.get_status_display()}: {done:,} of {run.expected:,} verdicts")
        figures = measured(run, rule=rule)
        self.stdout.write(_summary(figures, self.stdout.isatty()))
        self.stdout.write(f"Intervals: {rule.in_words}.")
        if options["out"] is not None:
            self._write(figures, OutFolder(options["out"], options["overwrite"]))
        if run.status != JudgeRun.Status.FINISHED:
            raise CommandError(run.error or "The run did not finish.")

    def _measure_levels(self, benchmark: Benchmark, rule: IntervalRule, options: dict[str, Any]) -> None:
        try:
            judge = find_judge(benchmark=benchmark, name=options["judge"], task=Judge.Task.ACUITY)
            size, likely = level_measurement_estimate(
                benchmark=benchmark, judge=judge, responses=options["pairs"], seed=options["seed"]
            )
            if likely is not None:
                cost = f", about {likely.cost}" if likely.cost else ""
                self.stdout.write(
                    f"About {likely.requests:,} requests on {size.responses:,} responses, {likely.tokens_in:,} tokens "
                    f"in, {likely.tokens_out:,} out{cost}"
                )
            run = create_level_measurement(
                benchmark=benchmark,
                judge=judge,
                responses=options["pairs"],
                seed=options["seed"],
                budget=options["budget"],
                by=None,
                at=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"run:{run.public_id}: {run.expected:,} readings of {run.items.count():,} responses")
        if not options["wait"] and options["out"] is None:
            return
        self._wait(run)
        shifts = level_shifts(run, rule=rule)
        for row in shifts:
            shift = "–" if row.shift.value is None else f"{row.shift.value:+.2f}"
            moved = f"{row.up} up, {row.down} down, {row.lost} no longer a level"
            self.stdout.write(f"{row.family_words}: shift {shift} levels on {row.n} readings; {moved}")
        self.stdout.write(f"Intervals: {rule.in_words}.")
        if options["out"] is not None:
            folder = OutFolder(options["out"], options["overwrite"])
            files = folder.write([OutTable(LEVEL_FILE, SHIFT_COLUMNS, shift_rows(shifts), ("family", "note"))])
            self.stdout.write(f"Written to {folder.path}: {files}")
        if run.status != JudgeRun.Status.FINISHED:
            raise CommandError(run.error or "The run did not finish.")

    def _write(self, figures: Susceptibility, folder: OutFolder) -> None:
        files = folder.write([OutTable(FILE, CSV_COLUMNS, csv_rows(figures), CSV_TEXT)])
        self.stdout.write(f"Written to {folder.path}: {files}")


def _percent(figure: Figure) -> str:
    return "–" if figure.value is None else f"{100 * figure.value:.1f}%"


def _words(figure: Figure) -> str:
    if figure.value is None:
        return f"undefined ({figure.note})"
    text = _percent(figure)
    if figure.low is not None and figure.high is not None:
        text += f" ({100 * figure.low:.1f}% to {100 * figure.high:.1f}%)"
    return text + (f" ({figure.note})" if figure.note else "")


def _summary(figures: Susceptibility, is_terminal: bool) -> str:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Verdicts turned, by family of injections", title_justify="left")
    table.add_column("family")
    for name in ("n", "turned", "rate", "invalid", "missing"):
        table.add_column(name, justify="right")
    noise = [] if figures.noise is None else [("Harmless edits", figures.noise)]
    families = [(str(FAMILIES[name]), count) for name, count in figures.families]
    for words, count in (("All injections", figures.overall), *families, *noise):
        table.add_row(
            words, str(count.answered), str(count.flips), _percent(count.rate), str(count.invalid), str(count.missing)
        )
    text = io.StringIO()
    console = Console(file=text, width=100, force_terminal=is_terminal, markup=False, highlight=False)
    console.print(table)
    if figures.noise is None:
        turned = f"Injections turned {_percent(figures.overall.rate)} of verdicts; noise was not measured."
    else:
        turned = (
            f"Injections turned {_percent(figures.overall.rate)} of verdicts; "
            f"harmless edits turned {_percent(figures.noise.rate)}."
        )
    console.print(turned)
    console.print(f"Flip rate: {_words(figures.overall.rate)}, n = {figures.overall.answered}")
    if figures.noise is not None:
        console.print(f"Noise rate: {_words(figures.noise.rate)}, n = {figures.noise.answered}")
        console.print(f"Flip rate less noise rate: {_words(figures.difference)}")
    if figures.overall.invalid:
        console.print(f"With invalid answers as flips: {_words(figures.if_invalid_flips)}")
    console.print(
        f"Pairs: {figures.eligible} of {figures.pairs}, on {figures.cases} cases; left out, by the verdict on the "
        f"response as it stands: {figures.control_passed} without a fault, {figures.control_invalid} invalid, "
        f"{figures.control_missing} missing"
    )
    console.print("What exceeds the noise is susceptibility. A low rate is no immunity.")
    return text.getvalue()
