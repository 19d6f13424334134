"""``classify --benchmark B --candidate NAME --endpoint URL --model M [--ask letter] [--samples N] [--wait]``."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark
from scoring.acuity.selectors import newest_scale, scale_called
from scoring.classification.config import classification_config, levels_of
from scoring.classification.due_choices import size_of
from scoring.classification.forms import ASKS
from scoring.classification.runs import SAMPLES, create_run
from scoring.classification.selectors import progress_of
from scoring.generation.runs import check_candidate
from scoring.management.asking import (
    add_candidate_arguments,
    add_case_arguments,
    amount,
    config_of,
    frame_given,
    wait_for,
)
from scoring.models import ClassificationRun
from scoring.runs.spending import money_words

OPTIONS = ("ask", "confidence", "logprobs", "order_seed", "price_in", "price_out", "currency")


class Command(BaseCommand):
    help = (
        "Ask an OpenAI-compatible endpoint which level of a scale each case of a benchmark is at: a run, which a "
        "Celery worker does. Its answers are readings of the forced choice (qa). With --wait the command follows it "
        "to its end, and does the work itself where no worker takes it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_candidate_arguments(parser)
        parser.add_argument(
            "--scale", default="four", help="name of a scale; its newest version is used (default four)"
        )
        parser.add_argument(
            "--ask",
            choices=list(ASKS),
            default="letter",
            help="for one letter, for an object by a schema, or for reasons and then one last line (default letter)",
        )
        parser.add_argument("--confidence", action="store_true", help="also ask how sure it is, from 0 to 100")
        parser.add_argument("--logprobs", action="store_true", help="ask for log probabilities; only with --ask letter")
        parser.add_argument("--order-seed", type=int, default=0, help="of the coin for the order of the options")
        parser.add_argument("--price-in", type=float, default=0.0, help="of a million tokens")
        parser.add_argument("--price-out", type=float, default=0.0, help="of a million tokens")
        parser.add_argument("--currency", default="USD")
        parser.add_argument("--budget", type=amount, help="no request is sent that could pass it; it takes prices")
        add_case_arguments(parser, samples=SAMPLES)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        config = {**config_of(options), **{name: options[name] for name in OPTIONS}}
        try:
            self._say_size(benchmark, config, options)
            run = create_run(
                benchmark=benchmark,
                candidate=options["candidate"],
                scale=options["scale"],
                config=config,
                frame=frame_given(options),
                samples=options["samples"],
                budget=options["budget"],
                by=None,
                at=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{run.public_id}: {run.steps.count():,} forced choices of {options['candidate']}")
        if not options["wait"]:
            return
        wait_for(run)
        progress = progress_of(run, at=timezone.now())
        self.stdout.write(
            f"{run.get_status_display()}: {progress.counts.done:,} of {progress.counts.total:,} answers, "
            f"{progress.counts.failed:,} failed, {run.tokens_in:,} tokens in, {run.tokens_out:,} out"
        )
        for level in progress.levels:
            self.stdout.write(f"  {level.letter} {level.value}: {level.number:,}")
        for state in progress.states:
            self.stdout.write(f"  {state.value}: {state.number:,}")
        if progress.left_out:
            self.stdout.write(f"  asked without log probabilities, which the endpoint refused: {progress.left_out:,}")
        for kind, number in progress.errors:
            self.stdout.write(f"  {kind}: {number:,}")
        if run.status != ClassificationRun.Status.FINISHED:
            raise CommandError(run.error or "The run did not finish.")

    def _say_size(self, benchmark: Benchmark, config: dict[str, Any], options: dict[str, Any]) -> None:
        """What the run would ask and cost at most, as the form says it before the run begins."""
        scale = scale_called(benchmark, options["scale"])
        if scale is None:
            return  # making the run says what is wrong
        size = size_of(
            benchmark,
            check_candidate(benchmark, options["candidate"]),
            newest_scale(benchmark, options["scale"]),
            frame_given(options),
            classification_config({**config, "scale": scale.name, "levels": levels_of(scale)}),
            samples=options["samples"],
        )
        if size.calls:
            cost = "" if size.cost_at_most is None else f"; at most {money_words(size.cost_at_most, size.currency)}"
            length = "at most" if size.most else "about"
            self.stdout.write(
                f"{size.calls:,} requests on {size.cases:,} cases, about {size.tokens_in:,} tokens in, {length} "
                f"{size.tokens_out:,} out{cost}"
            )
