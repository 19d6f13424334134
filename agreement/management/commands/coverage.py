"""`coverage --benchmark S --set A [--against B] --judge M [--gold G] [--endpoint URL] [--ask-physicians] --out DIR`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agreement.kinds.coverage import run_called
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark
from scoring.management.asking import wait_for
from validation.coverage.inputs import read_coverage
from validation.coverage.selectors import reported_runs
from validation.coverage.services import ask_physicians, create_run
from validation.coverage.tables import coverage_files
from validation.files.coverage_tables import CASES, COVERAGE_COLUMNS, POINTS
from validation.management.printed_rows import by_rules_words, printed_rows
from validation.models import CoverageRun, RubricSet

SETTINGS = ("key_env", "temperature", "max_tokens", "concurrency", "requests_per_minute", "timeout_s")


class Command(BaseCommand):
    help = (
        "How much of the intended content rubric sets cover, from the newest run that measured them by the model "
        "--judge. With --endpoint a run is begun where there is none, and followed to its end. Writes coverage.csv, "
        "comparisons.csv, controls, lists of what sets lack, and what physicians decided."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument("--set", required=True, metavar="NAME", help="the set to measure")
        parser.add_argument("--against", default="", metavar="NAME", help="a second set on the same gold points")
        parser.add_argument("--judge", required=True, metavar="MODEL", help="the model that answers")
        parser.add_argument("--gold", default="", metavar="NAME", help="the gold set (default: that of the newest run)")
        parser.add_argument("--run", default="", metavar="ID", help="this run and no other; it may be a replay")
        parser.add_argument("--endpoint", default="", metavar="URL", help="up to /v1: begin a run where there is none")
        parser.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")
        parser.add_argument("--temperature", type=float)
        parser.add_argument("--max-tokens", type=int)
        parser.add_argument("--concurrency", type=int)
        parser.add_argument("--rpm", dest="requests_per_minute", type=float, help="requests a minute at most")
        parser.add_argument("--timeout", dest="timeout_s", type=float, metavar="SECONDS")
        parser.add_argument(
            "--ask-physicians", action="store_true", help="add the questions to physicians that are due, as on the page"
        )
        parser.add_argument("--over", choices=(CASES, POINTS), default=CASES, help="what intervals are over")
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        names = [name for name in (options["set"], options["against"]) if name]
        try:
            run = self._run(benchmark, names, options)
            if options["ask_physicians"]:
                n = ask_physicians(run=run, at=timezone.now())
                self.stdout.write(f"{run.public_id}: {n:,} more questions wait for physicians")
            inputs = read_coverage(run_called(benchmark, run.public_id, replays=True))
        except DomainError as error:
            raise CommandError(str(error)) from None
        rule, out = rule_of(options), Path(options["out"])
        files = coverage_files(inputs, rule=rule, over=options["over"])
        settings = {
            "run": run.public_id,
            "sets": inputs.names,
            "gold": inputs.config.gold.name,
            "model": inputs.config.model,
            "endpoint_kind": str(inputs.endpoint_kind),
            "over": options["over"],
            "interval": rule.key,
            "input_digest": inputs.digest,
        }
        written = OutFolder(out, options["overwrite"]).write(files, {"settings": settings})
        shown = COVERAGE_COLUMNS[2:-2]
        rows = [row for row in files[0].rows if isinstance(row, dict)]
        self.stdout.write(printed_rows("Rubric coverage", rows, "set", shown))
        if words := by_rules_words(inputs.run, inputs.endpoint_kind):
            self.stdout.write(words)
        self.stdout.write(f"Intervals: {rule.in_words}.")
        self.stdout.write(f"Written to {out}: {written}")

    def _run(self, benchmark: Benchmark, names: Sequence[str], options: dict[str, Any]) -> CoverageRun:
        """The newest run that fits, or a new one where an endpoint is given."""
        for run in reported_runs(benchmark, replays=bool(options["run"])):
            fits = run.model_name == options["judge"] and set(names) <= set(run.set_names)
            if fits and options["gold"] in ("", run.gold_name) and options["run"] in ("", run.public_id):
                return run
        if not options["endpoint"]:
            raise CommandError(
                "No run that has ended measured these sets by this model. Begin one on the page, by the API, or here "
                "with --endpoint and --gold."
            )
        if not options["gold"]:
            raise CommandError("--gold names the set whose criteria are the gold points.")
        config = {name: options[name] for name in SETTINGS if options[name] is not None}
        run = create_run(
            benchmark=benchmark,
            gold=_set_called(benchmark, options["gold"]),
            sets=[_set_called(benchmark, name) for name in names],
            config={**config, "endpoint": options["endpoint"], "model": options["judge"]},
            by=None,
            at=timezone.now(),
        )
        self.stdout.write(f"{run.public_id}: {run.steps.count():,} answers of {run.model_name}")
        wait_for(run)
        return run


def _set_called(benchmark: Benchmark, name: str) -> RubricSet:
    rubric_set = RubricSet.objects.finished().filter(benchmark=benchmark, name=name).first()
    if rubric_set is None:
        raise CommandError(f"There is no rubric set “{name}”.")
    return rubric_set
