"""Starts and makes replications. The row is stored before its task is enqueued; a worker claims it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext_lazy

from accounts.models import User
from agreement.models import Replication
from agreement.replication.choosing import Choices, Options, check_options
from agreement.replication.making import make
from agreement.replication.papers import PAPERS
from agreement.replication.published import PublishedValue
from agreement.services import software
from consilium.core.jobs import OPEN, Attempt, Clock, JobKind, register
from rubrics.models import Benchmark
from rubrics.services.beginning import unfinished_or_new
from rubrics.services.job_notices import END_OF_JOB, notify_of_end


@transaction.atomic
def start_replication(
    *,
    benchmark: Benchmark,
    paper: str,
    options: Options,
    at: datetime,
    by: User | None,
    published: Sequence[PublishedValue] | None = None,
) -> tuple[Replication, bool]:
    """The identical replication that waits or is being made, and False; else a new one, and True.

    `DomainError` where an option names what the benchmark does not have. Without ``published`` the values stay that
    were given to the newest replication of the paper.
    """
    check_options(benchmark, options)
    kept = newest_replication(benchmark, paper)
    values = kept.published if published is None and kept else [value.as_json() for value in published or ()]
    same = Replication.objects.filter(
        benchmark=benchmark, paper=paper, options=options.as_json(), published=values, status__in=OPEN
    )
    return unfinished_or_new(
        benchmark=benchmark,
        unfinished=lambda: same,
        create=lambda: _created(
            benchmark=benchmark, paper=paper, options=options.as_json(), published=values, created_by=by, created_at=at
        ),
    )


def _created(**fields: Any) -> Replication:
    replication = Replication.objects.create(**fields)
    REPLICATIONS.enqueue(replication)
    return replication


def newest_replication(benchmark: Benchmark, paper: str, *statuses: str) -> Replication | None:
    """The newest replication of a paper, of those with one of the ``statuses`` where some are given."""
    rows = Replication.objects.filter(benchmark=benchmark, paper=paper).select_related("benchmark", "created_by")
    return (rows.filter(status__in=statuses) if statuses else rows).first()


class ReplicationJobs(JobKind[Replication]):
    """Replications: a worker computes their reports, and writes what became of each artefact."""

    model = Replication
    task = "agreement.tasks.run_replication"
    sweep_task = "agreement.tasks.sweep_replications"
    worker_lost = gettext_lazy("The worker stopped unexpectedly %(times)s times while computing this.")
    crashed = gettext_lazy("The computation failed. See the worker log for details.")

    def work(self, attempt: Attempt[Replication]) -> None:
        """Make the reports, and store the state of each artefact."""
        replication = attempt.job
        choices = Choices(replication.benchmark, Options.of_json(replication.options))
        result = make(
            PAPERS[replication.paper],
            choices,
            clock=attempt.clock,
            progress=attempt.progress,
            replication=replication,
        )
        attempt.finish(progress=1.0, result=result, software=software())

    def ended(self, job: Replication, *, status: str, at: datetime) -> None:
        """Notify who requested it; the admins, too, if it failed."""
        notify_of_end(
            benchmark=job.benchmark,
            by=job.created_by_id,
            begun_at=job.created_at,
            what="replication",
            end=END_OF_JOB[status],
            url=f"{reverse('agreement:replication', args=[job.benchmark.slug])}?paper={job.paper}",
            at=at,
            name=job.get_paper_display(),
        )


REPLICATIONS = register(ReplicationJobs())


def run(*, replication_id: int, clock: Clock) -> None:
    """Make a replication if it is there to be made; safe to call any number of times, from any number of workers."""
    REPLICATIONS.run(job_id=replication_id, clock=clock)


def completed(*, replication: Replication, clock: Clock) -> Replication:
    """Make a replication at once, or wait for the worker that has claimed it; the row as it then is."""
    if replication.status in OPEN:
        REPLICATIONS.completed(job_id=replication.pk, clock=clock)
        replication = Replication.objects.select_related("benchmark", "created_by").get(pk=replication.pk)
    return replication
