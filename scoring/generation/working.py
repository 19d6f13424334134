"""A Celery worker's work on a generation run, from its task to the end of the turn.

It may run twice and be killed at any point: the lock is released with the connection, a response is unique, and the
next worker queries again what is due. A kill costs the requests in flight and the responses not yet written. The loop
that sends requests is shared with judge runs: `scoring.work.turn`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, QuerySet
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
from scoring.work.turn import ACTIVE_FOR, MAX_STARTS_WITHOUT_PROGRESS, TASK_BUDGET_S, Turn, ask_all, pause_after

log = structlog.get_logger(__name__)

CHUNK = 200


class GenerationTurn(Turn[Answer]):
    """A worker's turn at a generation run."""

    def __init__(self, run: GenerationRun, clock: Clock, starts: int) -> None:
        super().__init__(clock)
        self.run = run
        self.starts = starts  # in a row without a response, including this one
        self.may_recover: list[int] = []  # items whose failure may be temporary

    @cached_property
    def config(self) -> GenerationConfig:
        """The settings of the run; `DomainError` where the operator no longer allows them."""
        return generation_config(self.run.config)

    @property
    def pauses(self) -> int:
        """How often the run has rested since its last response."""
        return 0 if self.stored else self.starts - 1

    def store(self, results: Sequence[Answer]) -> int:
        """Write responses and the states of their items; return how many responses were created."""
        self.may_recover += [answer.task.item for answer in results if answer.failed and may_pass(answer.kind)]
        return store_answers(self.run, self.config, results, at=self.clock())

    def heartbeat(self) -> bool:
        """Write the run's heartbeat; False where it was cancelled."""
        fresh = {"attempts": 0} if self.stored else {}
        running = GenerationRun.objects.filter(pk=self.run.pk, status=GenerationRun.Status.RUNNING)
        return bool(running.update(heartbeat_at=self.clock(), **fresh))

    def others_at_work(self) -> QuerySet[GenerationRun]:
        """The other runs that ask this endpoint for this model."""
        others = GenerationRun.objects.filter(
            status=GenerationRun.Status.RUNNING,
            heartbeat_at__gt=self.clock() - ACTIVE_FOR,
            config__endpoint=self.run.config.get("endpoint"),
            config__model=self.run.config.get("model"),
        )
        return others.exclude(pk=self.run.pk)


def work_on_run(run_id: int, *, clock: Clock, budget_s: float = TASK_BUDGET_S) -> bool:
    """Work on a run; True if it has to be enqueued again: the time was up, or the run was resumed meanwhile."""
    with GENERATIONS.hold(run_id) as held:
        if not held:
            return False
        turn = _begin(run_id, clock)
        if turn is None:
            return False
        with language_of(turn.run.created_by):
            return _work_to_the_end(turn, budget_s)


@transaction.atomic
def _begin(run_id: int, clock: Clock) -> GenerationTurn | None:
    """Mark the run as running; None if there is nothing to do."""
    at = clock()
    run = GenerationRun.objects.select_for_update(of=("self",)).filter(pk=run_id).first()
    if run is None or run.status not in GenerationRun.LIVE or (run.resume_at and run.resume_at > at):
        return None
    rows = GenerationRun.objects.filter(pk=run_id)
    # Each pause uses up one start as well.
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
    return GenerationTurn(run, clock, run.attempts + 1)


def _work_to_the_end(turn: GenerationTurn, budget_s: float) -> bool:
    """Work, and write down how the turn ended; True if the run has to be enqueued again."""
    try:
        down = _ask_endpoint(turn, time.monotonic() + budget_s)
    except DomainError as refused:
        _end(turn, GenerationRun.Status.INCOMPLETE, translate(refused.args[0]))
        return False
    except DatabaseError:
        raise  # nothing can be written down; the sweep enqueues it again
    except Exception as error:
        log.exception("generation_failed", run=turn.run.public_id)
        reason = _("The worker failed (%(error)s); its log says more.") % {"error": type(error).__name__}
        _end(turn, GenerationRun.Status.FAILED, reason)
        return False
    if turn.cancelled:
        # The run may have been resumed while the last answers arrived.
        return GenerationRun.objects.filter(pk=turn.run.pk, status=GenerationRun.Status.PENDING).exists()
    left = turn.run.items.exclude(status=GenerationItem.Status.DONE)
    due = left.filter(status=GenerationItem.Status.DUE).count()
    if down:
        _endpoint_is_down(turn)
    elif due:
        _end(turn, GenerationRun.Status.PENDING)
        return True
    elif failed := left.count():
        reason = ngettext(
            "%(n)s request failed after its tries; “Go on” asks again.",
            "%(n)s requests failed after their tries; “Go on” asks again.",
            failed,
        )
        _end(turn, GenerationRun.Status.INCOMPLETE, reason % {"n": failed})
    else:
        _end(turn, GenerationRun.Status.FINISHED)
    return False


def _endpoint_is_down(turn: GenerationTurn) -> None:
    if not may_pass(turn.failures.kind):
        reason = _("The endpoint refuses. The last answer: %(last)s") % {"last": turn.failures.last}
        _end(turn, GenerationRun.Status.INCOMPLETE, reason)
        return
    reason = _("The endpoint does not answer. The last failure: %(last)s") % {"last": turn.failures.last}
    if turn.pauses >= turn.config.pauses:
        _end(turn, GenerationRun.Status.INCOMPLETE, reason)
        return
    resume_at = turn.clock() + pause_after(turn.pauses)
    with transaction.atomic():
        again = turn.run.items.filter(pk__in=turn.may_recover, status=GenerationItem.Status.FAILED)
        again.update(status=GenerationItem.Status.DUE, error_kind="", error="", finished_at=None)
        _end(turn, GenerationRun.Status.PAUSED, reason, resume_at=resume_at)


def _end(turn: GenerationTurn, status: str, reason: str = "", *, resume_at: datetime | None = None) -> None:
    """Write down how the turn ended, unless the run was cancelled or resumed meanwhile."""
    at = turn.clock()
    over = status not in GenerationRun.LIVE
    starts = {"attempts": 1 if status == GenerationRun.Status.PAUSED else 0} if turn.stored else {}
    GenerationRun.objects.filter(pk=turn.run.pk, status=GenerationRun.Status.RUNNING).update(
        status=status, error=reason, heartbeat_at=at, resume_at=resume_at, finished_at=at if over else None, **starts
    )


def _ask_endpoint(turn: GenerationTurn, until: float) -> bool:
    """Request the responses that are due; True if the endpoint is down."""
    config = turn.config

    async def ask_model(client: ChatClient, task: ResponseRequest) -> Answer:
        return await ask(client, config, task)

    allowance = Allowance(requests_per_minute=config.requests_per_minute, fresh=turn.run.started_at is None)
    with Dispatcher(
        config.for_client(), ask_model, Answer, allowed_hosts=settings.JUDGE_ALLOWED_HOSTS, allowance=allowance
    ) as dispatcher:
        if turn.starts > 1:
            dispatcher.probe()
        ask_all(turn, dispatcher, _due(turn.run), until=until, timeout_s=config.timeout_s)
    return dispatcher.down


def _due(run: GenerationRun) -> Iterator[list[ResponseRequest]]:
    """The due items in chunks, each item once."""
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
