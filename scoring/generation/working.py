"""A worker of a generation run: requests what is due, stores every second, stops when cancelled, records its end.

Safe to run twice and to be killed anywhere: the lock goes with the connection, a response is unique, and the next
worker asks again what is due. What a kill costs is what was in the air or not yet written.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consilium.core.errors import DomainError
from consilium.core.i18n import language_of, translate
from consilium.core.jobs import Clock
from consilium.llm.client import ChatClient
from consilium.llm.errors import may_pass
from consilium.llm.meter import Allowance
from scoring.generation.asking import Answer, ResponseRequest, ask
from scoring.generation.config import GenerationConfig, generation_config
from scoring.generation.runs import GENERATIONS
from scoring.generation.storing import store_answers
from scoring.models import GenerationItem, GenerationRun
from scoring.work.dispatcher import Dispatcher

log = structlog.get_logger(__name__)

CHUNK = 200
WRITE_EVERY_S = 1.0
HEARTBEAT_S = 2.0
COLLECT_WITHIN_S = 0.25
# Then the task gives its place to others and is enqueued again: it must end well before Celery's time limit.
TASK_BUDGET_S = 300.0
# A task whose time is up waits for what is in the air: the endpoint's time-out, and this for a back-off.
DRAIN_S = 60.0
# Where the endpoint is down the run rests, each time for longer.
PAUSES = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))
# Beyond the pauses: so often may a worker begin in a row without a single response.
MAX_STARTS_WITHOUT_PROGRESS = 5
ACTIVE_FOR = timedelta(seconds=30)

Asking = Dispatcher[ResponseRequest, Answer]


@dataclass(slots=True)
class _Worker:
    """What one task knows while it works on a run."""

    run: GenerationRun
    clock: Clock
    starts: int  # in a row without a response, this one among them
    buffer: list[Answer] = field(default_factory=list)
    wrote_at: float = field(default_factory=time.monotonic)
    beat_at: float = field(default_factory=time.monotonic)
    stored: int = 0
    cancelled: bool = False
    kind: str = ""  # of the last failure
    last: str = ""
    may_recover: list[int] = field(default_factory=list)  # items that failed in a way that may pass

    def take(self, config: GenerationConfig, answers: Sequence[Answer], *, now: bool = False) -> int:
        """Keep answers, and write once a second; how many calls were written."""
        for answer in answers:
            if answer.failed:
                self.kind, self.last = answer.kind, f"{answer.kind}: {answer.error}"
                if may_pass(answer.kind):
                    self.may_recover.append(answer.task.item)
        self.buffer += answers
        written = 0
        if self.buffer and (now or time.monotonic() - self.wrote_at > WRITE_EVERY_S):
            self.stored += store_answers(self.run, config, self.buffer, at=self.clock())
            written = sum(len(answer.calls) for answer in self.buffer)
            self.buffer = []
            self.wrote_at = time.monotonic()
            self.check()
        elif time.monotonic() - self.beat_at > HEARTBEAT_S:
            self.check()
        return written

    def check(self) -> None:
        """Say that we are alive, and see whether the run is still wanted."""
        fresh = {"attempts": 0} if self.stored else {}
        mine = GenerationRun.objects.filter(pk=self.run.pk, status=GenerationRun.Status.RUNNING)
        self.cancelled = not mine.update(heartbeat_at=self.clock(), **fresh)
        self.beat_at = time.monotonic()

    def active_workers(self) -> int:
        """Runs that ask the same model of the same endpoint now, this one among them."""
        others = GenerationRun.objects.filter(
            status=GenerationRun.Status.RUNNING,
            heartbeat_at__gt=self.clock() - ACTIVE_FOR,
            config__endpoint=self.run.config.get("endpoint"),
            config__model=self.run.config.get("model"),
        )
        return 1 + others.exclude(pk=self.run.pk).count()


def work_on_run(run_id: int, *, clock: Clock, budget_s: float = TASK_BUDGET_S) -> bool:
    """Work on a run; True where it has to be enqueued again: the time was up, or it was gone on with meanwhile."""
    with GENERATIONS.hold(run_id) as held:
        if not held:
            return False
        worker = _begin(run_id, clock)
        if worker is None:
            return False
        with language_of(worker.run.created_by):
            return _work_to_the_end(worker, budget_s)


@transaction.atomic
def _begin(run_id: int, clock: Clock) -> _Worker | None:
    """Mark the run as running; None where nothing is to be done."""
    at = clock()
    run = GenerationRun.objects.select_for_update(of=("self",)).filter(pk=run_id).first()
    if run is None or run.status not in GenerationRun.LIVE or (run.resume_at and run.resume_at > at):
        return None
    rows = GenerationRun.objects.filter(pk=run_id)
    if run.attempts >= MAX_STARTS_WITHOUT_PROGRESS + int(run.config.get("pauses", 0)):
        with language_of(run.created_by):
            reason = _("The worker died %(times)s times here without a single response; its log says more.")
            rows.update(
                status=GenerationRun.Status.FAILED,
                error=reason % {"times": run.attempts},
                finished_at=at,
                resume_at=None,
            )
        return None
    rows.update(
        status=GenerationRun.Status.RUNNING,
        heartbeat_at=at,
        started_at=run.started_at or at,
        resume_at=None,
        error="",
        attempts=F("attempts") + 1,
    )
    run.status = GenerationRun.Status.RUNNING
    return _Worker(run, clock, run.attempts + 1)


def _work_to_the_end(worker: _Worker, budget_s: float) -> bool:
    """Work, and write down how it ended; True where the time was up."""
    try:
        config = generation_config(worker.run.config)
        down = _keep_asking(worker, config, time.monotonic() + budget_s)
    except DomainError as refused:
        _end(worker, GenerationRun.Status.INCOMPLETE, translate(refused.args[0]))
        return False
    except DatabaseError:
        raise  # nothing can be written down; the sweep enqueues it again
    except Exception as error:
        log.exception("generation_failed", run=worker.run.public_id)
        reason = _("The worker failed (%(error)s); its log says more.") % {"error": type(error).__name__}
        _end(worker, GenerationRun.Status.FAILED, reason)
        return False
    if worker.cancelled:
        # Whoever cancelled it may have gone on with it while the last answers came.
        return GenerationRun.objects.filter(pk=worker.run.pk, status=GenerationRun.Status.PENDING).exists()
    left = worker.run.items.exclude(status=GenerationItem.Status.DONE)
    due = left.filter(status=GenerationItem.Status.DUE).count()
    if down:
        _endpoint_is_down(worker, config)
    elif due:
        _end(worker, GenerationRun.Status.PENDING)
        return True
    elif failed := left.count():
        reason = ngettext(
            "%(n)s request failed after its tries; “Go on” asks again.",
            "%(n)s requests failed after their tries; “Go on” asks again.",
            failed,
        )
        _end(worker, GenerationRun.Status.INCOMPLETE, reason % {"n": failed})
    else:
        _end(worker, GenerationRun.Status.FINISHED)
    return False


def _endpoint_is_down(worker: _Worker, config: GenerationConfig) -> None:
    if not may_pass(worker.kind):
        reason = _("The endpoint refuses. The last answer: %(last)s") % {"last": worker.last}
        _end(worker, GenerationRun.Status.INCOMPLETE, reason)
        return
    reason = _("The endpoint does not answer. The last failure: %(last)s") % {"last": worker.last}
    pauses = 0 if worker.stored else worker.starts - 1
    if pauses >= config.pauses:
        _end(worker, GenerationRun.Status.INCOMPLETE, reason)
        return
    rest = PAUSES[min(pauses, len(PAUSES) - 1)]
    with transaction.atomic():
        again = worker.run.items.filter(pk__in=worker.may_recover, status=GenerationItem.Status.FAILED)
        again.update(status=GenerationItem.Status.DUE, error_kind="", error="", finished_at=None)
        _end(worker, GenerationRun.Status.PAUSED, reason, resume_at=worker.clock() + rest)


def _end(worker: _Worker, status: str, reason: str = "", *, resume_at: datetime | None = None) -> None:
    """Write down how the turn ended, unless the run was cancelled or resumed meanwhile."""
    at = worker.clock()
    over = status not in GenerationRun.LIVE
    starts = {"attempts": 1 if status == GenerationRun.Status.PAUSED else 0} if worker.stored else {}
    GenerationRun.objects.filter(pk=worker.run.pk, status=GenerationRun.Status.RUNNING).update(
        status=status, error=reason, heartbeat_at=at, resume_at=resume_at, finished_at=at if over else None, **starts
    )


def _keep_asking(worker: _Worker, config: GenerationConfig, until: float) -> bool:
    """Ask until nothing is due, or there is a reason to stop; then await what is in the air, which may be paid for.

    True where the endpoint is down.
    """

    async def ask_model(client: ChatClient, task: ResponseRequest) -> Answer:
        return await ask(client, config, task)

    chunks = _due(worker.run)
    allowance = Allowance(requests_per_minute=config.requests_per_minute, fresh=worker.run.started_at is None)
    with Dispatcher(
        config.for_client(), ask_model, Answer, allowed_hosts=settings.JUDGE_ALLOWED_HOSTS, allowance=allowance
    ) as dispatcher:
        if worker.starts > 1:
            dispatcher.probe()
        try:
            _dispatch(worker, config, dispatcher, chunks, until)
        finally:
            worker.take(config, dispatcher.findings(), now=True)
    return dispatcher.down


def _dispatch(
    worker: _Worker, config: GenerationConfig, dispatcher: Asking, chunks: Iterator[list[ResponseRequest]], until: float
) -> None:
    exhausted = closing = False
    shared_at = 0.0
    while True:
        if time.monotonic() - shared_at > HEARTBEAT_S:
            dispatcher.share(worker.active_workers())
            shared_at = time.monotonic()
        while not (exhausted or closing) and dispatcher.outstanding <= dispatcher.concurrency * 2:
            chunk = next(chunks, None)
            exhausted = chunk is None
            dispatcher.submit(chunk or [])
        if dispatcher.outstanding == 0:
            return
        dispatcher.written(worker.take(config, dispatcher.collect(COLLECT_WITHIN_S)))
        now = time.monotonic()
        if not closing and (now > until or worker.cancelled or dispatcher.down):
            closing, until = True, now
            dispatcher.close()
        if closing and now > until + config.timeout_s + DRAIN_S:
            return


def _due(run: GenerationRun) -> Iterator[list[ResponseRequest]]:
    """What is due, in pieces, each item once."""
    last = 0
    while True:
        rows = run.items.filter(status=GenerationItem.Status.DUE, pk__gt=last).order_by("pk")
        chunk = [
            ResponseRequest(pk, case, sample, conversation)
            for pk, case, sample, conversation in rows.values_list("pk", "case_id", "sample", "case__conversation")[
                :CHUNK
            ]
        ]
        if not chunk:
            return
        last = chunk[-1].item
        yield chunk
