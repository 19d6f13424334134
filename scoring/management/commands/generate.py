"""``generate --benchmark B --candidate NAME --endpoint URL --model M [--framing N] [--samples N] [--wait]``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from scoring.generation.runs import SETTING, create_run
from scoring.generation.selectors import progress_of
from scoring.management.asking import add_candidate_arguments, add_case_arguments, config_of, frame_given, wait_for
from scoring.models import GenerationRun


class Command(BaseCommand):
    help = (
        "Ask an OpenAI-compatible endpoint for responses to the cases of a benchmark: a run, which a Celery worker "
        "does. With --wait the command follows it to its end, and does the work itself where no worker takes it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_candidate_arguments(parser)
        parser.add_argument("--system-prompt", type=Path, metavar="FILE")
        parser.add_argument(
            "--framing",
            type=int,
            metavar="VERSION",
            help="of the benchmark's framing: the message around cases that are bare descriptions",
        )
        parser.add_argument("--setting", default=SETTING)
        add_case_arguments(parser, samples=1)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        config = config_of(options)
        if options["system_prompt"] is not None:
            try:
                config["system_prompt"] = options["system_prompt"].read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"The system prompt cannot be read: {error}") from None
        try:
            run = create_run(
                benchmark=benchmark,
                candidate=options["candidate"],
                config=config,
                frame=frame_given(options),
                samples=options["samples"],
                setting=options["setting"],
                framing=options["framing"],
                by=None,
                at=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{run.public_id}: {run.steps.count():,} responses of {options['candidate']}")
        if not options["wait"]:
            return
        wait_for(run)
        progress = progress_of(run, at=timezone.now())
        self.stdout.write(
            f"{run.get_status_display()}: {progress.counts.done:,} of {progress.counts.total:,} responses, "
            f"{progress.counts.failed:,} failed, {progress.truncated:,} cut, {progress.tokens_in:,} tokens in, "
            f"{progress.tokens_out:,} out"
        )
        for kind, number in progress.errors:
            self.stdout.write(f"  {kind}: {number:,}")
        if run.status != GenerationRun.Status.FINISHED:
            raise CommandError(run.error or "The run did not finish.")
