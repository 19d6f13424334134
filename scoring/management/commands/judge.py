"""``judge --benchmark B --judge NAME [--task acuity] [--candidate …] [--batch …] [--budget MONEY] [--wait]``."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from rubrics.models import Candidate
from scoring.judges.services import find_judge
from scoring.management.asking import amount
from scoring.models import Judge, JudgeRun, RunSlice
from scoring.runs.services import RunFrame, create_run
from scoring.runs.spending import spending_of
from scoring.selectors.judges_and_runs import counts_of
from scoring.work.slice import work_on_slice

# With --wait: how long a worker has to take the run before this process does the work itself.
WORKER_HAS_S = 5.0


class Command(BaseCommand):
    help = (
        "Let a judge give its verdicts on the responses of a benchmark: a run, which a Celery worker does. With --wait "
        "the command follows it to its end, and does the work itself where no worker takes it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--judge", required=True, metavar="NAME", help="of this benchmark, else of any other")
        parser.add_argument(
            "--task",
            default=Judge.Task.RUBRIC,
            choices=Judge.Task.values,
            help="rubric: decide criteria; acuity: read which level of care each response advises",
        )
        parser.add_argument("--candidate", action="append", default=[], metavar="NAME", help="may be repeated")
        parser.add_argument("--kind", action="append", default=[], choices=Candidate.Kind.values)
        parser.add_argument(
            "--with-bases", action="store_true", help="also the responses that those of these candidates were made from"
        )
        parser.add_argument("--batch", default="", metavar="ID", help="public id of a batch: only its responses")
        parser.add_argument("--replicates", type=int, default=1)
        parser.add_argument("--sample", type=int, metavar="N", help="only so many responses, drawn at random")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--budget", type=amount, metavar="MONEY", help="the most to spend, in the currency of the judge's prices"
        )
        parser.add_argument("--wait", action="store_true", help="stay until the run has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        if options["sample"] is not None and options["sample"] < 1:
            raise CommandError("--sample is at least 1; leave it out for all responses.")
        if options["seed"] < 0:
            raise CommandError("--seed is not below 0.")
        frame = RunFrame(
            batch=options["batch"],
            candidates=tuple(options["candidate"]),
            kinds=tuple(options["kind"]),
            with_bases=options["with_bases"],
            sample=options["sample"] or 0,
            seed=options["seed"],
        )
        try:
            judge = find_judge(benchmark=benchmark, name=options["judge"], task=options["task"])
            run = create_run(
                benchmark=benchmark,
                judge=judge,
                frame=frame,
                by=None,
                at=timezone.now(),
                replicates=options["replicates"],
                budget=options["budget"],
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        results = "readings" if run.reads_levels else "verdicts"
        self.stdout.write(f"run:{run.public_id}: {run.expected:,} {results} on {run.items.count():,} responses")
        if not options["wait"]:
            return
        self._wait(run)
        counts = counts_of([run])[run.pk]
        self.stdout.write(
            f"{run.get_status_display()}: {counts.done:,} of {run.expected:,} {results}, {counts.invalid:,} invalid"
        )
        spent = spending_of([run])[run.pk]
        if spent.calls:
            cost = f", {spent.cost}" if spent.cost else ""
            self.stdout.write(
                f"{spent.calls:,} requests, {spent.tokens_in:,} tokens in, {spent.tokens_out:,} out{cost}"
            )
        if run.status == JudgeRun.Status.PAUSED:
            raise CommandError(f"Paused; a worker tries again by itself. {run.error}")
        if run.status != JudgeRun.Status.FINISHED:
            raise CommandError(run.error or "The run did not finish.")

    def _wait(self, run: JudgeRun) -> None:
        began = time.monotonic()
        # A paused run waits for minutes; a worker resumes it.
        while run.status in JudgeRun.LIVE and run.status != JudgeRun.Status.PAUSED:
            if time.monotonic() - began > WORKER_HAS_S:
                # The lock of a slice keeps this process and a worker from doing the same work.
                for number in RunSlice.objects.filter(run=run, status__in=RunSlice.OPEN).values_list(
                    "number", flat=True
                ):
                    while work_on_slice(run.pk, number, clock=timezone.now):
                        continue
            time.sleep(0.2)
            run.refresh_from_db()
