"""``split_points --benchmark SLUG (--set NAME --endpoint URL --model M | --run ID) [--freeze NAME] [--out DIR]``."""

from __future__ import annotations

from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from rubrics.management.lookups import benchmark_called
from scoring.management.asking import wait_for
from scoring.management.run_arguments import add_run_arguments, settings_given
from scoring.models import PipelineRun
from scoring.runs.spending import money_words
from validation.models import RubricSet, SplittingRun
from validation.sets.selectors import criterion_count
from validation.sets.storing import SetName
from validation.splitting import selectors
from validation.splitting.building import build, size_of
from validation.splitting.services import create_run, freeze


class Command(BaseCommand):
    help = (
        "Let a model split the criteria of a rubric set into single statements, the gold points: a run with a request "
        "for each case, which a Celery worker does. With --wait, --freeze or --out the command follows the run to its "
        "end, and does the work itself where no worker takes it. Authors may correct the points first; --run then "
        "freezes those of an earlier run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_run_arguments(parser, needs_endpoint=False)
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--set", metavar="NAME", help="the rubric set whose criteria are split")
        source.add_argument("--run", metavar="ID", help="an earlier run: begin none, freeze or write its points")
        parser.add_argument("--wait", action="store_true", help="stay until the run has ended")
        parser.add_argument("--freeze", metavar="NAME", help="make a rubric set of the points")
        add_out_arguments(parser, required=False, more="; points.csv")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        try:
            run = self._earlier(benchmark, options["run"]) if options["run"] else self._begin(benchmark, options)
            if options["set"] and not (options["wait"] or options["freeze"] or options["out"]):
                return
            wait_for(run)
            self._report(run)
            if run.status not in (PipelineRun.Status.FINISHED, PipelineRun.Status.INCOMPLETE):
                raise CommandError(run.error or "The run did not finish.")
            if options["out"]:
                rows = selectors.point_rows(selectors.points_of_run(run))
                table = OutTable("points", selectors.COLUMNS, rows, selectors.TEXT_COLUMNS)
                written = OutFolder(options["out"], options["overwrite"]).write([table])
                self.stdout.write(f"Written to {options['out']}: {written}")
            if options["freeze"]:
                with pghistory.context(url="command split_points"):
                    row = freeze(run=run, name=SetName(options["freeze"]), by=None, at=timezone.now())
                self.stdout.write(
                    f"{row.name}: {row.item_count:,} points of {criterion_count(row):,} criteria, {row.case_count:,} "
                    f"cases, {row.unsplit_count:,} of them not split, {row.corrected_count:,} corrected"
                )
                self.stdout.write(f"digest {row.digest}")
        except DomainError as error:
            raise CommandError(str(error)) from None

    def _earlier(self, benchmark: Any, public_id: str) -> SplittingRun:
        run = SplittingRun.objects.filter(benchmark=benchmark, public_id=public_id).first()
        if run is None:
            raise CommandError(f"There is no run “{public_id}” that splits criteria in {benchmark.slug}.")
        return run

    def _begin(self, benchmark: Any, options: dict[str, Any]) -> SplittingRun:
        gold = RubricSet.objects.finished().filter(benchmark=benchmark, name=options["set"]).first()
        if gold is None:
            raise CommandError(f"There is no rubric set “{options['set']}” in {benchmark.slug}.")
        for name in ("endpoint", "model"):
            if not options[name]:
                raise CommandError(f"--{name} is missing.")
        config = settings_given(options)
        size = size_of(build(benchmark, gold, config))
        cost = "" if size.stage.cost_at_most is None else money_words(size.stage.cost_at_most, size.currency)
        self.stdout.write(
            f"{size.stage.requests:,} requests on {size.criteria:,} criteria, about {size.stage.tokens_in:,} tokens in"
            f"{f'; at most {cost}' if cost else ''}"
        )
        budget = options["budget"]
        run = create_run(benchmark=benchmark, gold=gold, config=config, budget=budget, by=None, at=timezone.now())
        self.stdout.write(f"{run.public_id}: criteria of {run.gold_name}")
        return run

    def _report(self, run: SplittingRun) -> None:
        counts = selectors.counts_of_points(selectors.points_of_run(run))
        self.stdout.write(
            f"{run.get_status_display()}: {counts.criteria:,} criteria, {counts.points:,} points; of {counts.cases:,} "
            f"cases {counts.whole:,} not split, {counts.corrected:,} corrected; {run.tokens_in:,} tokens in, "
            f"{run.tokens_out:,} out"
        )
        if run.endpoint_kind == "rules":
            self.stdout.write("The answers were given by rules, not by a language model.")
