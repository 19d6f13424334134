"""Jobs: work that a request leaves to a Celery worker. The job is a row of the database; its task only carries the id.

So a task may be lost, may come late and may come twice:

- *Enqueue*: the service that writes the row sends a task once its transaction is committed.
- *Claim*: one conditional ``UPDATE`` makes a worker the only one at the job. ``attempts`` numbers the claims, and every
  later write of the worker names its claim. A worker whose claim is no longer the latest can write nothing.
- *Heartbeat*: while the worker computes, a thread writes every `HEARTBEAT_S` that it is alive and how far it is.
- *Sweep*: every few seconds, beat enqueues jobs again whose task was lost, or whose worker has stopped its heartbeat
  for `LOST_AFTER`. The worker of such a job may still run. After `MAX_ATTEMPTS` lost workers the job
  fails. A worker that still runs finds that out at its next heartbeat, and writes nothing.

To add a kind of job:

1. Derive its model from `Job`, or from `BaseJob` where a share of progress and one text of error do not fit. Give the
   model an index on ``created_at`` with the condition ``status__in=["pending", "running"]`` for the sweep.
2. In the app's services, derive a class from `JobKind`, write its `JobKind.work`, and register an instance::

       class SummaryJobs(JobKind[Summary]):
           model = Summary
           task = "summaries.tasks.write_summary"
           sweep_task = "summaries.tasks.sweep_summaries"
           worker_lost = gettext_lazy("The worker was lost %(times)s times while writing this.")
           crashed = gettext_lazy("The summary failed; the log of the worker has the details.")

           def work(self, attempt: Attempt[Summary]) -> None:
               text = summarize(attempt.job.benchmark, progress=attempt.progress)
               attempt.finish(text=text)

       SUMMARIES = register(SummaryJobs())

3. The service that creates the row calls ``SUMMARIES.enqueue(row)`` in the same transaction.
4. In the app's ``tasks.py``, write two tasks: one calls ``SUMMARIES.run``, the other calls ``SUMMARIES.sweep``. Tasks
   import services. Services never import tasks: they name them.
5. Put the second task into ``CELERY_BEAT_SCHEDULE``. The system check `check_kinds` fails without steps 4 and 5.

Work that is claimed by an advisory lock instead, because one row is worked on in many short turns, is in
`consilium.core.locked_jobs`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

import structlog
from celery import current_app
from django.conf import settings
from django.core import checks
from django.db import connection, models, transaction
from django.db.models import Count, F, Min, Q
from django.db.models.functions import Coalesce
from django.utils.module_loading import autodiscover_modules

from consilium.core.errors import DomainError
from consilium.core.i18n import language_of
from consilium.core.labels import STATUS_LABELS
from consilium.core.transitions import transition

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

logger = structlog.get_logger(__name__)

Clock = Callable[[], datetime]
Values = dict[str, Any]
Progress = Callable[[float], None]  # takes how far the work is: a share from 0 to 1, or bytes

# Below the second after which a page asks again how far a job is, so that each answer can differ from the last.
HEARTBEAT_S = 0.7
PAUSE_S = 0.5  # between looks at a job that another worker does
# A worker without a heartbeat for this long counts as lost. The time leaves room for a restart of the database and for
# a machine that freezes for a while. Too short a time costs a second computation; a longer one costs only waiting.
LOST_AFTER = timedelta(minutes=2)
# A job that waits for this long counts as without a task. If the worker is only busy, a second task costs nothing.
TASK_LOST_AFTER = timedelta(seconds=10)
# Work that is due and makes no progress for this much longer than the sweep allows is shown to the operator.
STALLED_AFTER = timedelta(minutes=2)
# Work that ended three workers would end a fourth.
MAX_ATTEMPTS = 3


def no_progress(_amount: float) -> None:
    """Progress that nobody reads."""


class JobStatus(models.TextChoices):
    """States of a job; its row exists before any task."""

    PENDING = "pending", STATUS_LABELS["pending"]
    RUNNING = "running", STATUS_LABELS["running"]
    DONE = "done", STATUS_LABELS["done"]
    REFUSED = "refused", STATUS_LABELS["refused"]
    FAILED = "failed", STATUS_LABELS["failed"]


OPEN = (JobStatus.PENDING, JobStatus.RUNNING)
ENDED_WITHOUT_RESULT = (JobStatus.REFUSED, JobStatus.FAILED)


class BaseJob(models.Model):
    """The columns that a claim needs. A kind adds its own, such as an upload that counts progress in bytes."""

    status = models.CharField(max_length=10, choices=JobStatus.choices, default=JobStatus.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)  # numbers the claims: only the latest may write
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class Job(BaseJob):
    """A job with a share of progress and one text that says why it failed."""

    progress = models.FloatField(default=0.0)  # share done, 0 to 1
    error = models.TextField(blank=True)

    class Meta:
        abstract = True


class Superseded(Exception):
    """The claim is no longer the latest: another worker has the job by now, or the job has failed.

    `JobKind.run` catches it. `JobKind.work` may catch it to clean up, and then raises it again.
    """


JobT = TypeVar("JobT", bound=BaseJob)


def label(job: BaseJob) -> str:
    """The name of a job in logs, without texts that people wrote."""
    return f"{job._meta.label} {job.pk}"


class Attempt(Generic[JobT]):
    """One worker at a job. `JobKind.run` makes it; as a context manager it writes the heartbeat.

    The heartbeat has a thread and a connection of its own: the work may be one transaction, which shows nothing before
    it is committed and may be read-only. Inside a transaction of the caller no other connection sees the row, so there
    `progress` writes the heartbeat itself.
    """

    def __init__(self, kind: JobKind[JobT], job: JobT, clock: Clock) -> None:
        self.job = job
        self._kind = kind
        self.clock = clock
        self._amount = 0.0
        self._is_superseded = False
        self.is_finished = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if not connection.in_atomic_block:
            self._thread = threading.Thread(target=self._beat, name=f"heartbeat of {label(job)}", daemon=True)

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def progress(self, amount: float) -> None:
        """Note how far the work is, in the unit of the kind; `Superseded` if the claim is no longer the latest."""
        self._amount = amount
        if self._thread is None:
            self._write()
        if self._is_superseded:
            raise Superseded

    def finish(self, **values: Any) -> None:
        """Write the result; `Superseded` if the claim is no longer the latest.

        Call it in one transaction with whatever else belongs to the result: `Superseded` then takes all of it back.
        """
        self.stop()  # the heartbeat must not wait for the row that this transaction now writes
        if not self._kind.end(self.job, at=self.clock(), **{"status": JobStatus.DONE, **values}):
            raise Superseded
        self.is_finished = True

    def stop(self) -> None:
        """Write no more heartbeats, and wait for a write that may be under way."""
        self._stop.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()

    def _write(self) -> None:
        values = self._kind.progress_values(self._amount)
        if not self._kind.held(self.job).update(heartbeat_at=self.clock(), **values):
            self._is_superseded = True

    def _beat(self) -> None:
        try:
            while not self._is_superseded and not self._stop.wait(HEARTBEAT_S):
                self._write()
        finally:
            connection.close()


@dataclass(frozen=True, slots=True)
class Backlog:
    """Open work of a kind: how much waits, how much runs, and how much has made no progress though it is due.

    ``stalled_since`` is when the oldest of the last was due, or was last worked on.
    """

    waiting: int = 0
    running: int = 0
    stalled: int = 0
    stalled_since: datetime | None = None


class JobKind(Generic[JobT]):
    """How jobs of one model run. A subclass sets ``model``, ``task`` and the two messages, and writes `work`."""

    model: type[JobT]
    task: ClassVar[str]  # the dotted name of the Celery task that calls `run`
    sweep_task: ClassVar[str]  # the dotted name of the Celery task that calls `sweep`
    worker_lost: ClassVar[_StrOrPromise]  # shown when all attempts are used up; has %(times)s
    crashed: ClassVar[_StrOrPromise]  # shown when `work` raises anything but a `DomainError`
    lost_after: ClassVar[timedelta] = LOST_AFTER
    related: ClassVar[tuple[str, ...]] = ("benchmark", "created_by")  # read together with the job

    # What a kind may override ---------------------------------------------------------------------------------------

    def work(self, attempt: Attempt[JobT]) -> None:
        """Do the work and call ``attempt.finish``. `DomainError` says why it cannot be done."""
        raise NotImplementedError

    def blank_values(self) -> Values:
        """The fields, beside status and times, of a job that nobody has worked on yet."""
        return {"progress": 0.0, "error": ""}

    def progress_values(self, amount: float) -> Values:
        """The fields that say how far a job is."""
        return {"progress": min(max(amount, 0.0), 1.0)}

    def error_values(self, message: str) -> Values:
        """The fields that say why a job failed."""
        return {"error": message}

    def refusal_values(self, error: DomainError) -> Values:
        """The fields of a job that ``work`` refused, among them its status."""
        return {"status": JobStatus.FAILED, **self.error_values(str(error))}

    def ended(self, job: JobT, *, status: str, at: datetime) -> None:
        """Notify those whom the end of a job concerns, in the transaction that writes the end.

        ``job`` is as its worker read it; ``status`` is the new one.
        """

    # What services and tasks call -----------------------------------------------------------------------------------

    def enqueue(self, job: JobT) -> None:
        """Send a task for the job once the transaction is committed."""
        enqueue(self.task, job.pk)

    def restart(self, job: JobT) -> None:
        """Try a refused or failed job again, in the caller's transaction; `Conflict` if it is neither."""
        values: Values = {"attempts": 0, "started_at": None, "finished_at": None, **self.blank_values()}
        transition(job, source=ENDED_WITHOUT_RESULT, target=JobStatus.PENDING, **values)
        self.enqueue(job)

    def claim(self, *, job_id: int, at: datetime) -> JobT | None:
        """Take a job that waits, or whose worker was lost; None where there is nothing to do.

        Of several callers one gets the job. A job whose workers were lost `MAX_ATTEMPTS` times fails.
        """
        rows = self.model._default_manager.filter(pk=job_id)
        claimable = rows.filter(Q(status=JobStatus.PENDING) | self._worker_is_lost(at))
        message = self.worker_lost % {"times": MAX_ATTEMPTS}
        lost = claimable.filter(attempts__gte=MAX_ATTEMPTS)
        with transaction.atomic():
            if lost.update(status=JobStatus.FAILED, finished_at=at, **self.error_values(message)):
                self.ended(rows.select_related(*self.related).get(), status=JobStatus.FAILED, at=at)
                return None
        values = {"status": JobStatus.RUNNING, "started_at": at, "heartbeat_at": at, "attempts": F("attempts") + 1}
        is_claimed = claimable.update(**values, **self.blank_values())
        return rows.select_related(*self.related).get() if is_claimed else None

    def run(self, *, job_id: int, clock: Clock) -> None:
        """Do a job if there is something to do: safe to call any number of times, from any number of workers.

        Messages of the job are in the language of the user who created it.
        """
        job = self.claim(job_id=job_id, at=clock())
        if job is None:
            return
        with language_of(job.created_by):
            self._run(job, clock)

    def completed(self, *, job_id: int, clock: Clock, waiting: Progress = no_progress) -> JobT:
        """Do a job at once, or wait for the worker that has claimed it; the row as it then is, done or failed.

        ``waiting`` is called between looks at it.
        """
        while True:
            self.run(job_id=job_id, clock=clock)
            job = self.model._default_manager.get(pk=job_id)
            if job.status not in OPEN:
                return job
            if job.status == JobStatus.RUNNING:
                waiting(0.0)
                time.sleep(PAUSE_S)

    def unfinished(self, *, at: datetime) -> list[int]:
        """The ids of jobs that nobody works on though they are due: their task, or their worker, was lost."""
        task_is_lost = Q(status=JobStatus.PENDING, created_at__lt=at - TASK_LOST_AFTER)
        rows = self.model._default_manager.filter(task_is_lost | self._worker_is_lost(at))
        return list(rows.order_by("created_at").values_list("pk", flat=True))

    def sweep(self, *, at: datetime) -> int:
        """Enqueue unfinished jobs again; returns their number."""
        unfinished = self.unfinished(at=at)
        for job_id in unfinished:
            tasks()[self.task].delay(job_id)
        return len(unfinished)

    def backlog(self, *, at: datetime) -> Backlog:
        """How much is open; stalled is what the sweep should have brought to a worker by ``at``."""
        waits = Q(status=JobStatus.PENDING, created_at__lt=at - STALLED_AFTER)
        stalled = waits | self._worker_is_lost(at - STALLED_AFTER)
        since = Coalesce("heartbeat_at", "created_at")
        counts = self.model._default_manager.filter(status__in=OPEN).aggregate(
            waiting=Count("pk", filter=Q(status=JobStatus.PENDING)),
            running=Count("pk", filter=Q(status=JobStatus.RUNNING)),
            stalled=Count("pk", filter=stalled),
            stalled_since=Min(since, filter=stalled),
        )
        return Backlog(**counts)

    # --------------------------------------------------------------------------------------------------------------

    def held(self, job: JobT) -> models.QuerySet[JobT]:
        """The row, as long as the claim that ``job`` was read with is the latest; else nothing.

        The number of a claim is not enough: a restarted job counts from 1 again, and an old worker may still run.
        """
        return self.model._default_manager.filter(
            pk=job.pk, status=JobStatus.RUNNING, attempts=job.attempts, started_at=job.started_at
        )

    @transaction.atomic
    def end(self, job: JobT, *, at: datetime, status: str, **values: Any) -> bool:
        """Write how a claimed job ended, and notify; False if the claim is no longer the latest."""
        if not self.held(job).update(status=status, finished_at=at, **values):
            return False
        self.ended(job, status=status, at=at)
        return True

    def _worker_is_lost(self, at: datetime) -> Q:
        return Q(status=JobStatus.RUNNING, heartbeat_at__lt=at - self.lost_after)

    def _run(self, job: JobT, clock: Clock) -> None:
        try:
            with Attempt(self, job, clock) as attempt:
                self.work(attempt)
            if not attempt.is_finished:
                raise RuntimeError(f"{type(self).__name__}.work has not called finish")
        except Superseded:
            logger.info("job_superseded", job=label(job), attempt=job.attempts)
        except DomainError as error:
            self.end(job, at=clock(), **self.refusal_values(error))
        except Exception:
            self.end(job, at=clock(), status=JobStatus.FAILED, **self.error_values(str(self.crashed)))
            raise


# The registry ---------------------------------------------------------------------------------------------------------


class Kind(Protocol):
    """What the registry knows of a kind, whichever way its work is claimed."""

    @property
    def task(self) -> str: ...
    @property
    def sweep_task(self) -> str: ...
    def backlog(self, *, at: datetime) -> Backlog: ...


KindT = TypeVar("KindT", bound=Kind)
_kinds: dict[str, Kind] = {}  # by the name of the task


def register(kind: KindT) -> KindT:
    """Add a kind to the registry; `ValueError` if another kind has its task."""
    if kind.task in _kinds:
        raise ValueError(f"{kind.task} belongs to another kind of job")
    _kinds[kind.task] = kind
    return kind


def kinds() -> tuple[Kind, ...]:
    """All kinds; those of apps that this process has not used yet are registered first."""
    tasks()
    return tuple(_kinds.values())


def enqueue(task: str, *arguments: Any) -> None:
    """Send the task with that dotted name once the transaction is committed; `KeyError` if there is no such task.

    Where the broker is away, that is logged and not raised: the row is committed, and the sweep finds it.
    """
    tasks()[task].delay_on_commit(*arguments)


@cache
def tasks() -> Mapping[str, Any]:
    """The product's Celery tasks by name. The first call imports the ``tasks`` module of every app."""
    autodiscover_modules("tasks")  # Celery's own loader would run all system checks as well
    return current_app.tasks


@checks.register
def check_kinds(**_options: Any) -> list[checks.CheckMessage]:
    """A system check: both tasks of every kind are there, and beat enqueues the second."""
    known = tasks()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    errors: list[checks.CheckMessage] = []
    for kind in _kinds.values():
        for task in (kind.task, kind.sweep_task):
            if task not in known:
                errors.append(checks.Error(f"There is no Celery task {task}.", obj=kind, id="consilium.E002"))
        if kind.sweep_task not in scheduled:
            message = f"CELERY_BEAT_SCHEDULE has no {kind.sweep_task}: lost jobs would stay lost."
            errors.append(checks.Error(message, obj=kind, id="consilium.E003"))
    return errors
