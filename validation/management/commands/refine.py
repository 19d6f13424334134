"""``refine --benchmark SLUG --candidate NAME --endpoint URL --model M [--set A …] [--self-critique] [--gold] …``."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark
from scoring.management.asking import frame_given, wait_for
from scoring.management.run_arguments import add_run_arguments, settings_given
from scoring.models import PipelineRun
from scoring.pipelines.selectors import step_progress
from scoring.runs.spending import money_words
from validation.models import RefinementRun, RubricSet
from validation.models.refinement import EDIT
from validation.refinement.building import Order, build, size_of
from validation.refinement.checks import NEW_NUMBER
from validation.refinement.services import create_run


class Command(BaseCommand):
    help = (
        "Refine the responses of a candidate: in each arm a model plans edits, guided by a rubric set, by itself or by "
        "gold criteria, and then carries out the plan. Refined texts are responses of derived candidates, which count "
        "nowhere unless they are named. Let a judge grade base and refined responses, then call `refinement`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_run_arguments(parser)
        parser.add_argument("--candidate", required=True, metavar="NAME", help="whose responses are refined")
        parser.add_argument("--set", action="append", default=[], metavar="NAME", help="guides an arm; may be repeated")
        parser.add_argument("--self-critique", action="store_true", help="an arm without criteria")
        parser.add_argument("--gold", action="store_true", help="an arm with all gold criteria, as an upper bound")
        parser.add_argument("--split", action="store_true", help="one half of the gold criteria guides, one grades")
        parser.add_argument(
            "--upper-bound", action="append", default=[], metavar="NAME",
            help="a set that may share criteria with the gold rubric; its arm is labelled an upper bound",
        )  # fmt: skip
        parser.add_argument("--edit-model", default="", metavar="M", help="at the same endpoint (default: --model)")
        parser.add_argument("--tag", default="", help="only cases with this tag")
        parser.add_argument("--cases", type=int, default=0, metavar="N", help="only so many cases, drawn at random")
        parser.add_argument("--draw-seed", type=int, default=0, help="of cases and halves")
        parser.add_argument("--wait", action="store_true", help="stay until the run has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        config = {
            **settings_given(options),
            "edit_model": options["edit_model"],
            "draw_seed": options["draw_seed"],
        }
        order = Order(
            candidate=options["candidate"],
            sets=[_set_called(benchmark, name) for name in options["set"]],
            self_critique=options["self_critique"],
            gold=options["gold"],
            split=options["split"],
            upper_bounds=[_set_called(benchmark, name).public_id for name in options["upper_bound"]],
            frame=frame_given(options),
        )
        try:
            size = size_of(build(benchmark, order, config))
            cost = "" if size.cost_at_most is None else money_words(size.cost_at_most, size.currency)
            self.stdout.write(
                f"{size.requests:,} requests for {size.texts:,} texts on {size.cases:,} cases, about "
                f"{size.tokens_in:,} tokens in{f'; at most {cost}' if cost else ''}"
            )
            run = create_run(
                benchmark=benchmark, order=order, config=config, budget=options["budget"], by=None, at=timezone.now()
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{run.public_id}: {', '.join(run.derived_names)}")
        if options["wait"]:
            self._follow(run)

    def _follow(self, run: RefinementRun) -> None:
        wait_for(run)
        progress = step_progress(run, at=timezone.now())
        self.stdout.write(
            f"{run.get_status_display()}: {progress.counts.done:,} of {progress.counts.total:,} plans and texts, "
            f"{progress.counts.failed:,} failed, {run.tokens_in:,} tokens in, {run.tokens_out:,} out"
        )
        for kind, number in progress.errors:
            self.stdout.write(f"  {kind}: {number:,}")
        new = sum(
            finding["kind"] == NEW_NUMBER
            for findings in run.steps.filter(stage=EDIT).values_list("findings", flat=True)
            for finding in findings or []
        )
        self.stdout.write(f"Numbers with units that nothing accounts for: {new:,}")
        if run.endpoint_kind == "rules":
            self.stdout.write("The answers were given by rules, not by a language model.")
        if run.status not in (PipelineRun.Status.FINISHED, PipelineRun.Status.INCOMPLETE):
            raise CommandError(run.error or "The run did not finish.")


def _set_called(benchmark: Benchmark, name: str) -> RubricSet:
    rubric_set = RubricSet.objects.finished().filter(benchmark=benchmark, name=name).first()
    if rubric_set is None:
        raise CommandError(f"There is no rubric set “{name}”.")
    return rubric_set
