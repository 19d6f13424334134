"""A worker at a slice: takes it, works off what is missing, stops when told, and says how it ended.

Safe to run twice and to be killed anywhere: the lock goes with the connection, verdicts are unique, and the next
worker asks again what is missing. What a kill costs is the calls in the air and the findings not yet written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import structlog
from django.db import DatabaseError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from consilium.lib.errors import DomainError
from consilium.lib.spoken import speaking_to
from scoring.models import Judge, JudgeRun, RunSlice
from scoring.services.runs import settle_run
from scoring.work.chat import chat_dispatcher
from scoring.work.locks import slice_lock
from scoring.work.missing import Question, missing_questions
from scoring.work.store import Finding, store_findings

log = structlog.get_logger(__name__)

WRITE_AT = 200  # findings
WRITE_EVERY_S = 1.0
HEARTBEAT_S = 2.0
# Then the task gives its place to others and is rung again: it must end well before Celery's time limit.
TASK_BUDGET_S = 300.0
BARREN_STARTS = 5
COLLECT_WITHIN_S = 0.25
# How long a task whose time is up waits for what is in the air.
DRAIN_S = 60.0
# An endpoint that fails this often in a row is down.
FEWEST_FAILURES = 20

Clock = Callable[[], datetime]


class Stopped(Exception):
    """The slice cannot go on, for a reason that is no fault of the program's."""


@dataclass(slots=True)
class _Worker:
    """What one task knows while it works on a slice."""

    run: JudgeRun
    row: RunSlice
    clock: Clock
    buffer: list[Finding] = field(default_factory=list)
    wrote_at: float = field(default_factory=time.monotonic)
    beat_at: float = field(default_factory=time.monotonic)
    stored: int = 0
    cancelled: bool = False

    def take(self, findings: Sequence[Finding], *, now: bool = False) -> None:
        """Keep findings, and write when there are enough of them or enough time has passed."""
        self.buffer += findings
        due = len(self.buffer) >= WRITE_AT or time.monotonic() - self.wrote_at > WRITE_EVERY_S
        if self.buffer and (now or due):
            self.check()
            store_findings(self.run, self.buffer, at=self.clock())
            self.stored += sum(1 for finding in self.buffer if finding.outcome)
            self.buffer = []
            self.wrote_at = time.monotonic()
        if time.monotonic() - self.beat_at > HEARTBEAT_S:
            self.check()

    def check(self) -> None:
        """Say that we are alive, and see whether the run is still wanted."""
        at = self.clock()
        RunSlice.objects.filter(pk=self.row.pk).update(heartbeat_at=at, **({"barren_starts": 0} if self.stored else {}))
        wanted = JudgeRun.objects.filter(pk=self.run.pk, status=JudgeRun.Status.RUNNING).update(heartbeat_at=at)
        self.cancelled = not wanted
        self.beat_at = time.monotonic()


def work_on_slice(run_id: int, number: int, *, clock: Clock, budget_s: float = TASK_BUDGET_S) -> bool:
    """Work on a slice; True where it has to be rung for again because the time was up."""
    with slice_lock(run_id, number) as held:
        if not held:
            return False
        worker = _begin(run_id, number, clock)
        if worker is None:
            return False
        with speaking_to(worker.run.created_by):
            again = _work_to_the_end(worker, budget_s)
    if not again:
        settle_run(run_id=run_id, at=clock())
    return again


def _work_to_the_end(worker: _Worker, budget_s: float) -> bool:
    """Work, and write down how it ended; True where the time was up."""
    again = False
    try:
        again = _work(worker, time.monotonic() + budget_s)
    except (Stopped, DomainError) as stopped:
        _end(worker, RunSlice.Status.STOPPED, reason=str(stopped))
    except DatabaseError:
        raise  # nothing can be written down; the sweep rings again
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
def _begin(run_id: int, number: int, clock: Clock) -> _Worker | None:
    """Mark run and slice as running; None where nothing is to be done."""
    at = clock()
    run = JudgeRun.objects.select_for_update().filter(pk=run_id).select_related("judge").first()
    row = RunSlice.objects.filter(run_id=run_id, number=number, status__in=RunSlice.OPEN).first()
    if run is None or row is None or run.status not in (JudgeRun.Status.PENDING, JudgeRun.Status.RUNNING):
        return None
    if row.barren_starts >= BARREN_STARTS:
        row.status, row.failed = RunSlice.Status.STOPPED, True
        with speaking_to(run.created_by):
            row.reason = _("The worker died %(times)s times here without a single verdict; its log says more.") % {
                "times": row.barren_starts
            }
        row.save(update_fields=["status", "failed", "reason"])
        transaction.on_commit(lambda: settle_run(run_id=run_id, at=clock()))
        return None
    JudgeRun.objects.filter(pk=run_id).update(
        status=JudgeRun.Status.RUNNING, heartbeat_at=at, started_at=run.started_at or at
    )
    run.status = JudgeRun.Status.RUNNING
    RunSlice.objects.filter(pk=row.pk).update(
        status=RunSlice.Status.RUNNING, heartbeat_at=at, barren_starts=F("barren_starts") + 1
    )
    return _Worker(run, row, clock)


@transaction.atomic
def _end(worker: _Worker, status: str, *, reason: str = "", failed: bool = False) -> None:
    at = worker.clock()
    RunSlice.objects.filter(pk=worker.row.pk, status__in=RunSlice.OPEN).update(
        status=status, reason=reason, failed=failed, heartbeat_at=at, rung_at=at, barren_starts=0
    )


def _work(worker: _Worker, until: float) -> bool:
    """Work off what is missing; True where the time was up first."""
    slices = worker.run.slices.count()
    chunks = missing_questions(worker.run, worker.row.number, slices)
    if worker.run.judge.kind == Judge.Kind.CHAT:
        return _ask_endpoint(worker, chunks, until)
    return _ask_model(worker, chunks, until)


def _ask_model(worker: _Worker, chunks: Iterator[list[Question]], until: float) -> bool:
    from scoring.work.trained import load_model, predict

    model = load_model(worker.run)
    for chunk in chunks:
        worker.take(predict(model, chunk), now=True)
        if worker.cancelled:
            return False
        if time.monotonic() > until:
            return True
    return False


def _ask_endpoint(worker: _Worker, chunks: Iterator[list[Question]], until: float) -> bool:
    with chat_dispatcher(worker.run) as dispatcher:
        failures = _Failures(limit=max(FEWEST_FAILURES, dispatcher.concurrency))
        exhausted = time_is_up = False
        while True:
            # Two chunks at most are in memory, and the loop never waits for the database.
            while not exhausted and not time_is_up and dispatcher.outstanding <= dispatcher.concurrency * 2:
                chunk = next(chunks, None)
                exhausted = chunk is None
                dispatcher.submit(chunk or [])
            if dispatcher.outstanding == 0:
                break
            findings = dispatcher.collect(COLLECT_WITHIN_S)
            worker.take(findings)
            failures.count(findings)
            if worker.cancelled or failures.too_many:
                break
            if not time_is_up and time.monotonic() > until:
                time_is_up = True
                dispatcher.drop_queued()
            if time.monotonic() > until + DRAIN_S:
                break
        worker.take([], now=True)
    if worker.cancelled:
        return False
    if failures.too_many or (failures.total and (not time_is_up or not worker.stored)):
        raise Stopped(failures.reason)
    return time_is_up


@dataclass(slots=True)
class _Failures:
    """Questions that the endpoint left without an answer. Many in a row mean that it is down: the run stops then."""

    limit: int
    in_a_row: int = 0
    total: int = 0
    last: str = ""

    def count(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            if finding.outcome:
                self.in_a_row = 0
                continue
            self.in_a_row += 1
            self.total += 1
            call = finding.calls[-1] if finding.calls else None
            self.last = f"{call.error_kind}: {call.error}" if call else "unknown"

    @property
    def too_many(self) -> bool:
        return self.in_a_row >= self.limit

    @property
    def reason(self) -> str:
        if self.too_many:
            said = _("The endpoint does not answer: %(n)s requests in a row failed. The last: %(last)s")
            return said % {"n": self.in_a_row, "last": self.last}
        said = _("%(n)s requests failed after their retries. The last: %(last)s")
        return said % {"n": self.total, "last": self.last}
