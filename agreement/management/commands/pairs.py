"""`pairs --benchmark S [--set A …] [--no-rubric] [--trials 3] [--endpoint URL --model M --group G] --out DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agreement.kinds.pairs import run_called, trial_tables
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.statistics.trials import MARGIN, DecisionRule
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark
from scoring.management.asking import wait_for
from scoring.management.run_arguments import add_run_arguments, settings_given
from validation.files.pair_tables import PAIR_COLUMNS
from validation.management.printed_rows import by_rules_words, printed_rows
from validation.models import PairGroup, RubricSet, TrialRun
from validation.trials.building import Which
from validation.trials.config import TRIALS
from validation.trials.inputs import read_trials
from validation.trials.selectors import reported_runs
from validation.trials.services import create_run


class Command(BaseCommand):
    help = (
        "Whether rubric sets tell a reference from a near miss, from the newest run of trials that has these sets. "
        "With --endpoint and --model a run is begun where there is none, and followed to its end. Writes pairs.csv, "
        "pair_comparisons.csv, mutation.csv, lists of unnoticed errors and of criteria, and every trial."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_run_arguments(parser, needs_endpoint=False)
        parser.add_argument("--set", action="append", default=[], metavar="NAME", help="to try; may be repeated")
        parser.add_argument("--no-rubric", action="store_true", help="also judged without a rubric")
        parser.add_argument("--trials", type=int, default=None, help=f"in each order (default {TRIALS})")
        parser.add_argument("--group", action="append", default=[], metavar="NAME", help="of pairs (default: all)")
        parser.add_argument(
            "--which", choices=Which.values, default=str(Which.CONFIRMED), help="which pairs of the groups"
        )
        parser.add_argument("--run", default="", metavar="ID", help="this run and no other; it may be a replay")
        parser.add_argument(
            "--rule", choices=[str(rule) for rule in DecisionRule], default=str(DecisionRule.SIGN),
            help="what decides a trial (default sign)",
        )  # fmt: skip
        parser.add_argument("--margin", type=float, default=MARGIN, help=f"with --rule margin (default {MARGIN})")
        parser.add_argument(
            "--self-consistency", action="store_true", help="also the AUROC of the pairs’ own decisions"
        )
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["margin"] < 1:
            raise CommandError("--margin must be a number from 0 to below 1")
        benchmark = benchmark_called(options["benchmark"])
        try:
            run = self._run(benchmark, options)
            inputs = read_trials(run_called(benchmark, run.public_id, replays=True))
        except DomainError as error:
            raise CommandError(str(error)) from None
        rule, out = rule_of(options), Path(options["out"])
        tables = trial_tables(
            inputs,
            decided_by=options["rule"],
            margin=options["margin"],
            self_consistency=options["self_consistency"],
            rule=rule,
        )
        files = tables.files()
        settings = {
            "run": run.public_id,
            "sets": list(inputs.series.values()),
            "model": inputs.config.model,
            "endpoint_kind": inputs.endpoint_kind,
            "trials": inputs.config.trials,
            "decided_by": options["rule"],
            "interval": rule.key,
            "input_digest": inputs.digest,
        }
        written = OutFolder(out, options["overwrite"]).write(files, {"settings": settings})
        shown = [name for name in PAIR_COLUMNS[3:-2] if name != "auroc_self" or options["self_consistency"]]
        rows = [row for row in files[0].rows if isinstance(row, dict)]
        self.stdout.write(printed_rows("Near-miss pairs", rows, "set", shown))
        if words := by_rules_words(inputs.run, inputs.endpoint_kind):
            self.stdout.write(words)
        self.stdout.write(f"Intervals: {rule.in_words}.")
        self.stdout.write(f"Written to {out}: {written}")

    def _run(self, benchmark: Benchmark, options: dict[str, Any]) -> TrialRun:
        """The newest run that fits, or a new one where an endpoint is given."""
        for run in reported_runs(benchmark, replays=bool(options["run"])):
            if options["run"]:
                if run.public_id == options["run"]:
                    return run
            elif self._fits(run, options):
                return run
        if options["run"] or not (options["endpoint"] and options["model"]):
            raise CommandError(
                "No run of trials that has ended fits. Begin one on the page, by the API, or here with --endpoint and "
                "--model."
            )
        groups = PairGroup.objects.filter(benchmark=benchmark)
        known = {group.name: group for group in groups}
        if missing := [name for name in options["group"] if name not in known]:
            raise CommandError(f"There is no group of pairs “{missing[0]}”.")
        run = create_run(
            benchmark=benchmark,
            groups=[known[name] for name in options["group"]] or list(groups),
            which=options["which"],
            sets=[_set_called(benchmark, name) for name in options["set"]],
            config={
                **settings_given(options),
                "trials": options["trials"] or TRIALS,
                "no_rubric": options["no_rubric"],
            },
            budget=options["budget"],
            by=None,
            at=timezone.now(),
        )
        self.stdout.write(f"{run.public_id}: {run.steps.count():,} trials of {run.model_name}")
        wait_for(run)
        return run

    def _fits(self, run: TrialRun, options: dict[str, Any]) -> bool:
        """Whether a run has what was asked for; what was not named may be anything."""
        return (
            options["model"] in ("", run.model_name)
            and set(options["set"]) <= set(run.set_names)
            and (run.has_no_rubric or not options["no_rubric"])
            and options["trials"] in (None, run.trials)
            and set(options["group"]) <= set(run.frame.get("groups", []))
        )


def _set_called(benchmark: Benchmark, name: str) -> RubricSet:
    rubric_set = RubricSet.objects.finished().filter(benchmark=benchmark, name=name).first()
    if rubric_set is None:
        raise CommandError(f"There is no rubric set “{name}”.")
    return rubric_set
