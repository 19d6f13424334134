"""``make_pairs --benchmark SLUG --group NAME --endpoint URL --model M [--each N] [--wait]``."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from scoring.management.asking import frame_given, wait_for
from scoring.management.run_arguments import add_run_arguments, settings_given
from scoring.models import PipelineRun
from scoring.pipelines.selectors import step_progress
from scoring.runs.spending import money_words
from validation.making.building import build, size_of
from validation.making.services import create_run
from validation.models import ErrorKind


class Command(BaseCommand):
    help = (
        "Let a model make near-miss pairs of references: a run, which a Celery worker does. The model sees question "
        "and reference, and never a rubric. Physicians judge every pair before it counts. With --wait the command "
        "follows the run to its end, and does the work itself where no worker takes it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_run_arguments(parser)
        parser.add_argument("--group", required=True, metavar="NAME", help="of the pairs; made where it is not there")
        parser.add_argument("--judgements", type=int, choices=(1, 2), default=1, help="physicians for each pair")
        parser.add_argument(
            "--candidate", default="", metavar="NAME", help="whose responses are the references (default: the cases’)"
        )
        parser.add_argument("--kind", action="append", choices=ErrorKind.values, help="of errors; may be repeated")
        parser.add_argument("--each", type=int, default=1, help="pairs of each reference (default 1)")
        parser.add_argument("--tag", default="", help="only cases with this tag")
        parser.add_argument("--cases", type=int, default=0, metavar="N", help="only so many cases, drawn at random")
        parser.add_argument("--draw-seed", type=int, default=0)
        parser.add_argument("--wait", action="store_true", help="stay until the run has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark, frame = benchmark_called(options["benchmark"]), frame_given(options)
        config = {
            **settings_given(options),
            "kinds": options["kind"] or list(ErrorKind.values),
            "each": options["each"],
        }
        budget: Decimal | None = options["budget"]
        try:
            size = size_of(build(benchmark, frame=frame, candidate=options["candidate"], settings=config))
            cost = "" if size.stage.cost_at_most is None else money_words(size.stage.cost_at_most, size.currency)
            self.stdout.write(
                f"{size.stage.requests:,} requests on {size.cases:,} cases, about {size.stage.tokens_in:,} tokens in"
                f"{f'; at most {cost}' if cost else ''}"
            )
            run = create_run(
                benchmark=benchmark,
                group=options["group"],
                judgements_due=options["judgements"],
                frame=frame,
                candidate=options["candidate"],
                config=config,
                budget=budget,
                by=None,
                at=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{run.public_id}: pairs for {run.group_name}")
        if not options["wait"]:
            return
        wait_for(run)
        progress = step_progress(run, at=timezone.now())
        self.stdout.write(
            f"{run.get_status_display()}: {progress.counts.done:,} of {progress.counts.total:,} pairs, "
            f"{progress.counts.failed:,} failed, {run.tokens_in:,} tokens in, {run.tokens_out:,} out"
        )
        for kind, number in progress.errors:
            self.stdout.write(f"  {kind}: {number:,}")
        if run.endpoint_kind == "rules":
            self.stdout.write("The answers were given by rules, not by a language model.")
        if run.status not in (PipelineRun.Status.FINISHED, PipelineRun.Status.INCOMPLETE):
            raise CommandError(run.error or "The run did not finish.")
