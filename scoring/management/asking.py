"""What the commands share that let a candidate be asked: its endpoint, its cases, and waiting for the run."""

from __future__ import annotations

import json
import time
from argparse import ArgumentTypeError
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from scoring.generation.due_responses import CaseFrame, frame_of
from scoring.models import PipelineRun
from scoring.pipelines.working import work_on_run

# How long a worker has to take the run before this process does the work itself.
WORKER_HAS_S = 5.0
CONFIG = (
    *("endpoint", "model", "key_env", "temperature", "top_p", "max_tokens", "seed", "concurrency"),
    *("requests_per_minute", "timeout_s", "stop", "extra"),
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


def add_candidate_arguments(parser: CommandParser) -> None:
    """Benchmark, candidate, endpoint, and how the model decodes."""
    parser.add_argument("--benchmark", required=True, metavar="SLUG")
    parser.add_argument("--candidate", required=True, metavar="NAME", help="made where it is not there yet")
    parser.add_argument("--endpoint", required=True, metavar="URL", help="up to /v1; its host must be allowed")
    parser.add_argument("--model", required=True)
    parser.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--top-p", type=float)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--seed", type=int, help="of the model; sample n is asked with seed + n")
    parser.add_argument("--stop", action="append", metavar="TEXT", help="may be repeated")
    parser.add_argument("--extra", type=json_object, metavar="JSON", help="further decoding parameters")
    parser.add_argument("--concurrency", type=int)
    parser.add_argument("--rpm", dest="requests_per_minute", type=float, help="requests a minute at most")
    parser.add_argument("--timeout", dest="timeout_s", type=float, metavar="SECONDS")


def add_case_arguments(parser: CommandParser, *, samples: int) -> None:
    """Which cases, how often, and whether to wait."""
    parser.add_argument("--samples", type=int, default=samples, help="for each case, numbered from 0")
    parser.add_argument("--tag", default="", help="only cases with this tag")
    parser.add_argument("--cases", type=int, default=0, metavar="N", help="only so many cases, drawn at random")
    parser.add_argument("--draw-seed", type=int, default=0)
    parser.add_argument("--wait", action="store_true", help="stay until the run has ended")


def amount(text: str) -> Decimal:
    """An amount of money above 0, from the command line."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(0)
    if not value.is_finite() or value <= 0:
        raise ArgumentTypeError(f"“{text}” is no amount above 0")
    return value


def whole_number(text: str) -> int:
    """A number from 0 to 2³¹ − 1, from the command line."""
    if text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < 2**31:
        return int(text)
    raise ArgumentTypeError(f"“{text}” is no whole number from 0 to {2**31 - 1}")


def config_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were given; the others keep their defaults."""
    return {name: options[name] for name in CONFIG if options[name] is not None}


def frame_given(options: Mapping[str, Any]) -> CaseFrame:
    """Which cases."""
    return frame_of({"tag": options["tag"], "cases": options["cases"], "seed": options["draw_seed"]})


def wait_for(run: PipelineRun) -> None:
    """Wait until a run has ended or is paused; where no worker takes it, do its work."""
    began = time.monotonic()
    # A paused run waits for minutes; a worker resumes it.
    while run.status in (PipelineRun.Status.PENDING, PipelineRun.Status.RUNNING):
        if time.monotonic() - began > WORKER_HAS_S:
            # The lock of the run keeps this process and a worker from doing the same work.
            while work_on_run(run.pk, clock=timezone.now):
                continue
        time.sleep(0.2)
        run.refresh_from_db()
