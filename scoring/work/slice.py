"""A worker of a slice: claims it, requests what is missing, stops when cancelled, and records its end.

Safe to run twice and to be killed anywhere: the lock goes with the connection, verdicts are unique, and the next
worker asks again what is missing. What a kill costs is the calls in the air and the findings not yet written.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from django.db import DatabaseError, transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.core.i18n import language_of, translate
from consilium.core.jobs import Clock
from consilium.llm.errors import may_pass
from scoring.judges.config import ChatConfig, chat_config
from scoring.models import JudgeRun, RunSlice
from scoring.runs.services import SLICES, settle_run
from scoring.work.chat import chat_dispatcher
from scoring.work.claims import claim_for
from scoring.work.dispatcher import Dispatcher
from scoring.work.missing import Question, Questions, missing_questions, requests_of
from scoring.work.store import JudgedRequest, store_findings

log = structlog.get_logger(__name__)

WRITE_AT = 200  # findings
WRITE_EVERY_S = 1.0
HEARTBEAT_S = 2.0
# Then the task gives its place to others and is enqueued again: it must end well before Celery's time limit.
TASK_BUDGET_S = 300.0
MAX_STARTS_WITHOUT_PROGRESS = 5
COLLECT_WITHIN_S = 0.25
# A task whose time is up waits for what is in the air: the endpoint's time-out, and this for a back-off.
DRAIN_S = 60.0
# Where the endpoint is down the slice rests, each time for longer; a judge's setting says how often before it stops.
PAUSES = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))
# A slice with so recent a heartbeat is at work, and one that was enqueued so recently may soon be.
ACTIVE_FOR = timedelta(seconds=30)
EXPECTED_FOR = timedelta(seconds=10)


class Stopped(Exception):
    """The slice cannot go on, for a reason that is no fault of the program's."""


class EndpointDown(Stopped):
    """The endpoint does not answer, but may do so after a while."""


@dataclass(slots=True)
class Worker:
    """What one task knows while it works on a slice."""

    run: JudgeRun
    row: RunSlice
    clock: Clock
    rng: random.Random
    buffer: list[JudgedRequest] = field(default_factory=list)
    wrote_at: float = field(default_factory=time.monotonic)
    beat_at: float = field(default_factory=time.monotonic)
    counted_at: float = field(default_factory=time.monotonic)
    stored: int = 0
    cancelled: bool = False
    active_workers: int = 1  # workers that ask the same endpoint now, this one among them

    def take(self, findings: Sequence[JudgedRequest], *, now: bool = False) -> int:
        """Keep findings, and write when there are enough or enough time has passed; how many answers were written."""
        self.buffer += findings
        written = 0
        due = len(self.buffer) >= WRITE_AT or time.monotonic() - self.wrote_at > WRITE_EVERY_S
        if self.buffer and (now or due):
            store_findings(self.run, self.buffer, slice_id=self.row.pk, at=self.clock())
            self.stored += sum(len(finding.verdicts) for finding in self.buffer)
            written = sum(len(finding.calls) for finding in self.buffer)
            self.buffer = []
            self.wrote_at = time.monotonic()
            self.check()
        elif time.monotonic() - self.beat_at > HEARTBEAT_S:
            self.check()
        return written

    def check(self) -> None:
        """Say that we are alive, see whether the run is still wanted, and who else asks the same endpoint."""
        at = self.clock()
        fresh = {"starts_without_progress": 0, "pauses": 0} if self.stored else {}
        RunSlice.objects.filter(pk=self.row.pk).update(heartbeat_at=at, **fresh)
        updated = JudgeRun.objects.filter(pk=self.run.pk, status=JudgeRun.Status.RUNNING).update(heartbeat_at=at)
        self.cancelled = not updated
        if time.monotonic() - self.counted_at > HEARTBEAT_S:
            self.count_active_workers()
        self.beat_at = time.monotonic()

    def count_active_workers(self) -> None:
        """How many slices, of this run and of others, ask this endpoint for this model."""
        at = self.clock()
        config = self.run.snapshot.get("config", {})
        others = RunSlice.objects.filter(
            Q(status=RunSlice.Status.RUNNING, heartbeat_at__gt=at - ACTIVE_FOR)
            | Q(status=RunSlice.Status.PENDING, enqueued_at__gt=at - EXPECTED_FOR, resume_at=None),
            run__status__in=JudgeRun.LIVE,
            run__snapshot__config__endpoint=config.get("endpoint"),
            run__snapshot__config__model=config.get("model"),
        )
        self.active_workers = 1 + others.exclude(pk=self.row.pk).count()
        self.counted_at = time.monotonic()


def work_on_slice(
    run_id: int, number: int, *, clock: Clock, rng: random.Random | None = None, budget_s: float = TASK_BUDGET_S
) -> bool:
    """Work on a slice; True where it has to be enqueued again because the time was up.

    ``rng`` says where a later pass over the run begins; the first goes in order.
    """
    with SLICES.hold(run_id, number) as held:
        if not held:
            return False
        worker = _begin(run_id, number, clock, rng or random.Random())
        if worker is None:
            return False
        with language_of(worker.run.created_by):
            again = _work_to_the_end(worker, budget_s)
    if not again:
        settle_run(run_id=run_id, at=clock())
    return again


def _work_to_the_end(worker: Worker, budget_s: float) -> bool:
    """Work, and write down how it ended; True where the time was up."""
    again = False
    try:
        again = worker.run.judge.kind_info.work(worker, time.monotonic() + budget_s)
    except EndpointDown as down:
        _pause(worker, str(down))
    except (Stopped, DomainError) as stopped:
        _end(worker, RunSlice.Status.STOPPED, reason=translate(stopped.args[0]))
    except DatabaseError:
        raise  # nothing can be written down; the sweep enqueues it again
    except Exception as error:
        log.exception("judge_slice_failed", run=worker.run.public_id, slice=worker.row.number)
        reason = _("The worker failed (%(error)s); its log says more.") % {"error": type(error).__name__}
        _end(worker, RunSlice.Status.STOPPED, reason=reason, failed=True)
    else:
        if again:
            _end(worker, RunSlice.Status.PENDING)
        elif worker.cancelled:
            _end(worker, RunSlice.Status.STOPPED)
        else:
            _end(worker, RunSlice.Status.DONE)
    return again


@transaction.atomic
def _begin(run_id: int, number: int, clock: Clock, rng: random.Random) -> Worker | None:
    """Mark run and slice as running; None where nothing is to be done."""
    at = clock()
    run = JudgeRun.objects.select_for_update().filter(pk=run_id).select_related("judge").first()
    row = RunSlice.objects.filter(run_id=run_id, number=number, status__in=RunSlice.OPEN).first()
    able = JudgeRun.Status.PENDING, JudgeRun.Status.RUNNING, JudgeRun.Status.PAUSED
    if run is None or row is None or run.status not in able or (row.resume_at and row.resume_at > at):
        return None
    if row.starts_without_progress >= MAX_STARTS_WITHOUT_PROGRESS:
        row.status, row.failed = RunSlice.Status.STOPPED, True
        with language_of(run.created_by):
            row.reason = _("The worker died %(times)s times here without a single verdict; its log says more.") % {
                "times": row.starts_without_progress
            }
        row.save(update_fields=["status", "failed", "reason"])
        transaction.on_commit(lambda: settle_run(run_id=run_id, at=clock()))
        return None
    JudgeRun.objects.filter(pk=run_id).update(
        status=JudgeRun.Status.RUNNING, heartbeat_at=at, started_at=run.started_at or at, error=""
    )
    run.status = JudgeRun.Status.RUNNING
    row.claim = claim_for(run, row)
    RunSlice.objects.filter(pk=row.pk).update(
        status=RunSlice.Status.RUNNING,
        heartbeat_at=at,
        starts_without_progress=F("starts_without_progress") + 1,
        resume_at=None,
        claim=row.claim,
    )
    return Worker(run, row, clock, rng)


@transaction.atomic
def _end(worker: Worker, status: str, *, reason: str = "", failed: bool = False) -> None:
    at = worker.clock()
    RunSlice.objects.filter(pk=worker.row.pk, status__in=RunSlice.OPEN).update(
        status=status, reason=reason, failed=failed, heartbeat_at=at, enqueued_at=at, starts_without_progress=0
    )


@transaction.atomic
def _pause(worker: Worker, reason: str) -> None:
    """Rest until the sweep enqueues it again; `settle_run` sees whether the whole run does."""
    at = worker.clock()
    pauses = 0 if worker.stored else worker.row.pauses
    run = JudgeRun.objects.select_for_update().get(pk=worker.run.pk)
    rows = RunSlice.objects.filter(pk=worker.row.pk, status__in=RunSlice.OPEN)
    if run.status == JudgeRun.Status.CANCELLING:
        rows.update(status=RunSlice.Status.STOPPED, reason=reason, heartbeat_at=at)
        return
    rows.update(
        status=RunSlice.Status.PENDING,
        reason=reason,
        heartbeat_at=at,
        starts_without_progress=0,
        pauses=pauses + 1,
        resume_at=at + PAUSES[min(pauses, len(PAUSES) - 1)],
    )


def ask_endpoint(worker: Worker, until: float) -> bool:
    """Request what a slice lacks from its endpoint; True where the time was up first."""
    slices = worker.run.slices.count()
    config = chat_config(worker.run.snapshot["config"])
    # The first pass goes in order; a later one begins anywhere, lest what failed come before all the rest.
    rng = worker.rng if worker.row.calls else None
    chunks = missing_questions(worker.run, worker.row.number, slices, whole=config.together, rng=rng)
    worker.count_active_workers()
    failures = _Failures()
    with chat_dispatcher(worker.run, worker.row) as dispatcher:
        if worker.row.pauses:
            dispatcher.probe()
        try:
            time_is_up = _keep_asking(worker, dispatcher, chunks, failures, config, until)
        except DatabaseError:
            raise
        except Exception:
            worker.take(dispatcher.findings(), now=True)  # a fault of our own: what was answered is not thrown away
            raise
        worker.take(dispatcher.findings(), now=True)
    if worker.cancelled:
        return False
    if dispatcher.down and may_pass(failures.kind) and _pauses_left(worker, config.pauses):
        raise EndpointDown(failures.reason(dispatcher))
    if dispatcher.budget_spent:
        if worker.stored and _others_left_some(worker):
            return True  # another turn, with a larger claim
        raise Stopped(_("The budget is spent: the next request could pass it. What is missing waits for more."))
    if dispatcher.down or (failures.total and (not time_is_up or not worker.stored)):
        raise Stopped(failures.reason(dispatcher))
    return time_is_up


def _keep_asking(
    worker: Worker,
    dispatcher: Dispatcher[Questions, JudgedRequest],
    chunks: Iterator[list[Question]],
    failures: _Failures,
    config: ChatConfig,
    until: float,
) -> bool:
    """Ask until nothing is missing, or there is a reason to stop; then await what is in the air, which may be paid for.

    True where the reason is that the task's time was up.
    """
    exhausted = closing = time_is_up = False
    while True:
        dispatcher.share(worker.active_workers)
        # Two chunks at most are in memory, and the loop never waits for the database.
        while not (exhausted or closing) and dispatcher.outstanding <= dispatcher.concurrency * 2:
            chunk = next(chunks, None)
            exhausted = chunk is None
            dispatcher.submit(list(requests_of(chunk or [], together=config.together)))
        if dispatcher.outstanding == 0:
            return time_is_up
        findings = dispatcher.collect(COLLECT_WITHIN_S)
        failures.count(findings)
        dispatcher.written(worker.take(findings))
        now = time.monotonic()
        if not closing and (now > until or worker.cancelled or dispatcher.down or dispatcher.budget_spent):
            time_is_up = now > until
            closing, until = True, now
            dispatcher.close()
        if closing and now > until + config.timeout_s + DRAIN_S:
            return time_is_up


@transaction.atomic
def _others_left_some(worker: Worker) -> bool:
    """Whether slices that ended since have left more of the budget than this one had claimed."""
    run = JudgeRun.objects.select_for_update().get(pk=worker.run.pk)
    row = RunSlice.objects.get(pk=worker.row.pk)
    return (claim_for(run, row) or 0.0) > (row.claim or 0.0) * (1 + 1e-9)


def _pauses_left(worker: Worker, pauses: int) -> bool:
    return (0 if worker.stored else worker.row.pauses) < pauses


@dataclass(slots=True)
class _Failures:
    """Requests that the endpoint left without an answer."""

    total: int = 0
    kind: str = ""
    last: str = ""

    def count(self, findings: Sequence[JudgedRequest]) -> None:
        for finding in findings:
            if finding.failed:
                call = finding.calls[-1]
                self.total += 1
                self.kind, self.last = call.error_kind, f"{call.error_kind}: {call.error}"

    def reason(self, dispatcher: Dispatcher[Questions, JudgedRequest]) -> str:
        if dispatcher.down and not may_pass(self.kind):
            message = _("The endpoint refuses: %(n)s requests in a row failed. The last: %(last)s")
            return message % {"n": dispatcher.failures_in_a_row, "last": self.last}
        if dispatcher.down:
            message = _("The endpoint does not answer: %(n)s requests in a row failed. The last: %(last)s")
            return message % {"n": dispatcher.failures_in_a_row, "last": self.last}
        message = _("%(n)s requests failed after their retries. The last: %(last)s")
        return message % {"n": self.total, "last": self.last}
