"""``draft_rubrics --benchmark SLUG --recipe NAME [--case KEY …] [--budget B] [--wait] [--out DIR]``."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments
from drafting.models import DraftingRun
from drafting.recipes.selectors import recipe_called
from drafting.runs.building import build, size_of
from drafting.runs.selectors import summary_of
from drafting.runs.services import create_run
from drafting.runs.tables import TABLES
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark, Case
from scoring.management.asking import frame_given, wait_for
from scoring.models import PipelineRun
from scoring.pipelines.runs import replay_run
from scoring.pipelines.selectors import step_progress
from scoring.runs.spending import money_words


class Command(BaseCommand):
    help = (
        "Draft criteria for cases by a recipe: a run, which a Celery worker does. They become suggestions, on which "
        "physicians decide one by one. With --wait the command follows the run to its end, and does the work itself "
        "where no worker takes it. With --replay a run is done again from stored answers, without a request."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--recipe", metavar="NAME")
        parser.add_argument("--recipe-version", type=int, metavar="N", help="default: the newest")
        parser.add_argument("--case", action="append", default=[], metavar="KEY", help="may be repeated")
        parser.add_argument("--tag", default="", help="only cases with this tag")
        parser.add_argument("--cases", type=int, default=0, metavar="N", help="only so many cases, drawn at random")
        parser.add_argument("--draw-seed", type=int, default=0)
        parser.add_argument("--budget", type=Decimal, help="in the currency of the recipe’s prices")
        parser.add_argument("--replay", metavar="RUN", help="the id of a run that has ended, instead of a recipe")
        parser.add_argument("--wait", action="store_true", help="stay until the run has ended")
        add_out_arguments(parser, required=False, more="; implies --wait")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        try:
            run = self._replay(benchmark, options) if options["replay"] else self._begin(benchmark, options)
        except DomainError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{run.public_id}: drafts by {run.recipe_name}, version {run.recipe_version}")
        if options["wait"] or options["out"]:
            wait_for(run)
            self._print_result(run)
            if options["out"]:
                tables = [OutTable(name, table.columns, table.rows(run), table.texts) for name, table in TABLES.items()]
                written = OutFolder(options["out"], options["overwrite"]).write(tables)
                self.stdout.write(f"Written to {options['out']}: {written}")
            if run.status not in (PipelineRun.Status.FINISHED, PipelineRun.Status.INCOMPLETE):
                raise CommandError(run.error or "The run did not finish.")

    def _begin(self, benchmark: Benchmark, options: dict[str, Any]) -> DraftingRun:
        if not options["recipe"]:
            raise CommandError("Name a recipe (--recipe), or a run to replay (--replay).")
        recipe = recipe_called(benchmark, options["recipe"], options["recipe_version"])
        if recipe is None:
            raise CommandError(f"There is no recipe “{options['recipe']}” of this version.")
        frame, cases = frame_given(options), self._cases(benchmark, options["case"])
        size = size_of(build(benchmark, recipe, frame=frame, cases=cases))
        cost = "" if size.cost_at_most is None else money_words(size.cost_at_most, size.currency)
        self.stdout.write(
            f"at most {size.requests:,} requests on {size.cases:,} cases, about {size.tokens_in:,} tokens in"
            f"{f'; at most {cost}' if cost else ''}"
        )
        return create_run(
            benchmark=benchmark,
            recipe=recipe,
            frame=frame,
            cases=cases,
            by=None,
            at=timezone.now(),
            budget=options["budget"],
        )

    def _cases(self, benchmark: Benchmark, keys: list[str]) -> list[int]:
        known = dict(Case.objects.filter(benchmark=benchmark, key__in=keys).values_list("key", "pk"))
        if missing := [key for key in keys if key not in known]:
            raise CommandError(f"There is no case “{missing[0]}”.")
        return [known[key] for key in keys]

    def _replay(self, benchmark: Benchmark, options: dict[str, Any]) -> DraftingRun:
        run = DraftingRun.objects.filter(benchmark=benchmark, public_id=options["replay"]).first()
        if run is None:
            raise CommandError(f"There is no drafting run “{options['replay']}”.")
        return DraftingRun.objects.get(pk=replay_run(run=run, by=None, at=timezone.now()).pk)

    def _print_result(self, run: DraftingRun) -> None:
        run.refresh_from_db()
        progress, summary = step_progress(run, at=timezone.now()), summary_of(run)
        self.stdout.write(
            f"{run.get_status_display()}: {progress.counts.done:,} of {progress.counts.total:,} steps, "
            f"{progress.counts.failed:,} failed, {run.tokens_in:,} tokens in, {run.tokens_out:,} out"
        )
        for kind, number in progress.errors:
            self.stdout.write(f"  {kind}: {number:,}")
        self.stdout.write(
            f"{summary.criteria:,} criteria for {summary.cases:,} cases, {summary.problems:,} with a problem; "
            f"{summary.usable_facts:,} of {summary.facts:,} facts usable, "
            f"{summary.without_fact:,} cases without a usable fact"
        )
        if run.endpoint_kind == "rules":
            self.stdout.write("The answers were given by rules, not by a language model.")
