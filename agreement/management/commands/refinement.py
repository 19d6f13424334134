"""``refinement --benchmark S [--rater run:ID | --grades FILE] [--run ID] --out DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.kinds.refinement import run_called
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.management.refusals import refusals_of
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark
from scoring.selectors.raters import require_verdicts, resolve_rater
from validation.files.refinement_tables import REFINEMENT_COLUMNS
from validation.management.printed_rows import by_rules_words, printed_rows
from validation.models import RefinementRun
from validation.refinement.graded_run import read_graded_run, read_refinement_run
from validation.refinement.grades import grades_file, read_grades
from validation.refinement.inputs import RefinementInputs
from validation.refinement.selectors import grading_runs, reported_runs
from validation.refinement.tables import refinement_files


class Command(BaseCommand):
    help = (
        "What refining responses gained, from the newest run of refinement or the one that --run names, graded by a "
        "rater: the newest run of a judge over its texts where none is named. Writes refinement.csv, every case, "
        "harms, what code found, what is left of a gain at equal length, and the grades themselves. With --grades "
        "these are read from the file of an earlier call, so that a replay elsewhere comes to the same tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument(
            "--run", default="", metavar="ID", help="this run of refinement and no other; with --grades also a replay"
        )
        parser.add_argument("--rater", default="", metavar="RATER", help="run:ID of a judge, or group:NAME")
        parser.add_argument("--grades", type=Path, metavar="FILE", help="refinement_grades.csv of an earlier call")
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        if options["grades"] and options["rater"]:
            raise CommandError("--grades says who graded, so --rater has no place beside it.")
        try:
            inputs = _by_file(benchmark, options) if options["grades"] else _by_rater(benchmark, options)
        except DomainError as error:
            raise CommandError(str(error)) from None
        run = inputs.run
        rule, out = rule_of(options), Path(options["out"])
        files = [*refinement_files(inputs, rule=rule, seed=options["seed"]), grades_file(inputs)]
        settings = {
            "run": run.public_id,
            "base": run.base_name,
            "arms": run.arm_names,
            "models": inputs.config.models,
            "endpoint_kind": inputs.endpoint_kind,
            "rater": inputs.grader.label,
            "split": inputs.config.split,
            "interval": rule.key,
            "seed": options["seed"],
            "input_digest": inputs.digest,
        }
        written = OutFolder(out, options["overwrite"]).write(files, {"settings": settings})
        rows = [row for row in files[0].rows if isinstance(row, dict)]
        if inputs.refining_judges:
            judges = ", ".join(inputs.refining_judges)
            self.stdout.write(f"Not independent: {judges} graded texts that its own model planned or edited.")
        for name, n in inputs.taught_since.items():
            self.stdout.write(f"Taught to the test: {n:,} guiding criteria of {name} grade by now.")
        self.stdout.write(printed_rows("Refinement", rows, "arm", REFINEMENT_COLUMNS[2:-2]))
        if words := by_rules_words(inputs.run, inputs.endpoint_kind):
            self.stdout.write(words)
        self.stdout.write(f"Intervals: {rule.in_words}.")
        self.stdout.write(f"Written to {out}: {written}")


def _run(benchmark: Benchmark, options: dict[str, Any], *, replays: bool = False) -> RefinementRun:
    newest = reported_runs(benchmark, replays=replays).first()
    if not options["run"] and newest is None:
        raise CommandError("There is no run of refinement that has ended. Begin one with the command `refine`.")
    return run_called(benchmark, options["run"] or (newest.public_id if newest else ""), replays=replays)


def _by_rater(benchmark: Benchmark, options: dict[str, Any]) -> RefinementInputs:
    run = _run(benchmark, options)
    graded = grading_runs(run).first()
    if not options["rater"] and graded is None:
        raise CommandError("Nobody has graded these texts. Let a judge grade them, or name a group.")
    rater = resolve_rater(benchmark, options["rater"] or f"run:{graded.public_id if graded else ''}")
    require_verdicts(rater)
    return read_refinement_run(run, rater)


def _by_file(benchmark: Benchmark, options: dict[str, Any]) -> RefinementInputs:
    with refusals_of(options["grades"]):
        grades = read_grades(options["grades"])
    return read_graded_run(_run(benchmark, options, replays=True), grades)
