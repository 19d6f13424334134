"""``generate --benchmark B --candidate NAME --endpoint URL --model M [--samples N] [--wait]``."""

from __future__ import annotations

import json
import time
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from scoring.generation.due_responses import frame_of
from scoring.generation.runs import SETTING, create_run
from scoring.generation.selectors import progress_of
from scoring.models import GenerationRun
from scoring.pipelines.working import work_on_run

# With --wait: how long a worker has to take the run before this process does the work itself.
WORKER_HAS_S = 5.0
CONFIG = (
    *("endpoint", "model", "key_env", "temperature", "top_p", "max_tokens", "seed", "concurrency"),
    *("requests_per_minute", "timeout_s"),
)


def json_object(text: str) -> dict[str, Any]:
    """A JSON object from the command line."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ArgumentTypeError(f"“{text}” is no JSON object")
    return value


class Command(BaseCommand):
    help = (
        "Ask an OpenAI-compatible endpoint for responses to the cases of a benchmark: a run, which a Celery worker "
        "does. With --wait the command follows it to its end, and does the work itself where no worker takes it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--candidate", required=True, metavar="NAME", help="made where it is not there yet")
        parser.add_argument("--endpoint", required=True, metavar="URL", help="up to /v1; its host must be allowed")
        parser.add_argument("--model", required=True)
        parser.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")
        parser.add_argument("--system-prompt", type=Path, metavar="FILE")
        parser.add_argument("--temperature", type=float)
        parser.add_argument("--top-p", type=float)
        parser.add_argument("--max-tokens", type=int)
        parser.add_argument("--seed", type=int, help="of the model; sample n is asked with seed + n")
        parser.add_argument("--stop", action="append", metavar="TEXT", help="may be repeated")
        parser.add_argument("--extra", type=json_object, metavar="JSON", help="further decoding parameters")
        parser.add_argument("--concurrency", type=int)
        parser.add_argument("--rpm", dest="requests_per_minute", type=float, help="requests a minute at most")
        parser.add_argument("--timeout", dest="timeout_s", type=float, metavar="SECONDS")
        parser.add_argument("--samples", type=int, default=1, help="for each case, numbered from 0")
        parser.add_argument("--setting", default=SETTING)
        parser.add_argument("--tag", default="", help="only cases with this tag")
        parser.add_argument("--cases", type=int, default=0, metavar="N", help="only so many cases, drawn at random")
        parser.add_argument("--draw-seed", type=int, default=0)
        parser.add_argument("--wait", action="store_true", help="stay until the run has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        # An option that is not given keeps the default of the settings.
        config = {name: options[name] for name in (*CONFIG, "stop", "extra") if options[name] is not None}
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
                frame=frame_of({"tag": options["tag"], "cases": options["cases"], "seed": options["draw_seed"]}),
                samples=options["samples"],
                setting=options["setting"],
                by=None,
                at=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{run.public_id}: {run.steps.count():,} responses of {options['candidate']}")
        if not options["wait"]:
            return
        self._wait(run)
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

    def _wait(self, run: GenerationRun) -> None:
        began = time.monotonic()
        # A paused run waits for minutes; a worker resumes it.
        while run.status in (GenerationRun.Status.PENDING, GenerationRun.Status.RUNNING):
            if time.monotonic() - began > WORKER_HAS_S:
                # The lock of the run keeps this process and a worker from doing the same work.
                while work_on_run(run.pk, clock=timezone.now):
                    continue
            time.sleep(0.2)
            run.refresh_from_db()
