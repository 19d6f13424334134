"""``replay_run RUN``."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from consilium.core.errors import DomainError
from scoring.management.lookups import pipeline_run_called
from scoring.models import PipelineRun
from scoring.pipelines.runs import replay_run
from scoring.pipelines.working import work_on_run


class Command(BaseCommand):
    """A run of steps once more, from stored answers."""

    help = (
        "Do a run of steps again from stored answers alone: no request is sent. It fails, naming the step, where an "
        "answer is missing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which run."""
        parser.add_argument("run", metavar="RUN", help="its id, as in the address of its page")

    def handle(self, *args: Any, **options: Any) -> None:
        """Replay it in this process; a worker that takes it first does no harm."""
        run = pipeline_run_called(options["run"])
        try:
            replay = replay_run(run=run, by=None, at=timezone.now())
        except DomainError as error:
            raise CommandError(str(error)) from None
        while replay.status in PipelineRun.LIVE:
            work_on_run(replay.pk, clock=timezone.now)
            replay.refresh_from_db()
        self.stdout.write(f"{replay.public_id}: {replay.get_status_display()}, {replay.steps.count():,} steps")
        if replay.status == PipelineRun.Status.FAILED:
            raise CommandError(replay.error)
