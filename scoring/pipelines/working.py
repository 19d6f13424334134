"""A Celery worker's work on a run of steps, from its task to the end of the turn.

It may run twice and be killed at any point: the lock is released with the connection, a step is done once, and the next
worker reads again which steps are ready. A kill costs the requests in flight and the answers not yet written. The loop
that sends requests is shared with judge runs: `scoring.work.turn`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

import structlog
from django.db import DatabaseError, transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consilium.core.among import Among
from consilium.core.errors import DomainError
from consilium.core.i18n import language_of, translate
from consilium.core.jobs import Clock
from consilium.llm.errors import may_pass
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.asking import Asker
from scoring.pipelines.kind import KINDS, AnyKind, EndpointUse
from scoring.pipelines.preparing import COLUMNS, Preparer
from scoring.pipelines.requesting import Dispatchers, address_of
from scoring.pipelines.runs import PIPELINES
from scoring.pipelines.settling import make_ready, name_of
from scoring.pipelines.steps import NOT_STORED, PendingStep, StepResult
from scoring.pipelines.storing import store_results
from scoring.run_notices import notify_of_pipeline
from scoring.work.claims import BUDGET_USED_UP
from scoring.work.turn import (
    ACTIVE_FOR,
    MAX_STARTS_WITHOUT_PROGRESS,
    TASK_BUDGET_S,
    Starts,
    Turn,
    ask_all,
    database_start,
    pause_after,
)

log = structlog.get_logger(__name__)

State, Status = PipelineStep.State, PipelineRun.Status
CHUNK = 200


class PipelineTurn(Turn[StepResult]):
    """A worker's turn at a run of steps."""

    def __init__(self, run: PipelineRun, clock: Clock, starts: int) -> None:
        super().__init__(clock)
        self.run = run
        self.kind: AnyKind = KINDS[run.kind]
        self.starts = starts  # in a row without an answer, including this one
        self.may_recover: list[int] = []  # steps whose failure may be temporary
        # Steps that became ready in this turn, and all that ever did.
        self.ready: deque[int] = deque()
        self.became_ready: set[int] = set()

    @cached_property
    def settings(self) -> Any:
        """The settings of the run; `DomainError` where the operator no longer allows them."""
        return self.kind.settings_of(self.run, may_call=not self.run.replay)

    @cached_property
    def uses(self) -> Mapping[str, EndpointUse]:
        """The endpoints of the run."""
        return self.kind.endpoints(self.settings)

    @cached_property
    def asker(self) -> Asker:
        """Asks, and reads the answers."""
        tries = max((use.endpoint.retry.attempts for use in self.uses.values()), default=1)
        return Asker(self.kind, self.settings, billed_tries=1 if self.run.budget is None else tries)

    @property
    def pauses(self) -> int:
        """How often the run has rested since its last answer."""
        return 0 if self.stored else self.starts - 1

    def store(self, results: Sequence[StepResult]) -> int:
        """Write the results; return how many steps an answer ended."""
        results = [self.asker.read(result) for result in results]
        self.may_recover += [result.step.id for result in results if result.failed and may_pass(result.error_kind)]
        stored = store_results(self.run, self.kind, self.settings, self.uses, results, at=self.clock())
        self.ready.extend(stored.ready)
        self.became_ready.update(stored.ready)
        return stored.answers

    def heartbeat(self) -> bool:
        """Write the run's heartbeat; False where it was cancelled."""
        fresh = {"attempts": 0} if self.stored else {}
        running = PipelineRun.objects.filter(pk=self.run.pk, status=Status.RUNNING)
        return bool(running.update(heartbeat_at=self.clock(), **fresh))

    def others_at_work(self) -> QuerySet[PipelineRun]:
        """The other runs that ask an endpoint of this run for the same model."""
        others = PipelineRun.objects.filter(
            status=Status.RUNNING, heartbeat_at__gt=self.clock() - ACTIVE_FOR, asks__overlap=self.run.asks
        )
        return others.exclude(pk=self.run.pk)

    def money_left(self) -> float | None:
        """What the run may still spend; None without a budget."""
        if self.run.budget is None:
            return None
        row = PipelineRun.objects.values("spent", "reserved").get(pk=self.run.pk)
        return max(0.0, float(self.run.budget) - row["spent"] - row["reserved"])

    def reserve(self, requests: Sequence[PendingStep]) -> None:
        """Note before requests go out what they can cost, so that a kill cannot hide it."""
        if self.run.budget is not None and requests:
            most = sum(item.most for item in requests)
            PipelineRun.objects.filter(pk=self.run.pk).update(reserved=F("reserved") + most)


def work_on_run(run_id: int, *, clock: Clock, budget_s: float = TASK_BUDGET_S) -> bool:
    """Work on a run; True if it has to be enqueued again: the time was up, or the run was resumed meanwhile."""
    with PIPELINES.hold(run_id) as held:
        if not held:
            return False
        turn = _begin(run_id, clock)
        if turn is None:
            return False
        with language_of(turn.run.created_by):
            return _work_to_the_end(turn, budget_s)


@transaction.atomic
def _begin(run_id: int, clock: Clock) -> PipelineTurn | None:
    """Mark the run as running; None if there is nothing to do.

    What a killed worker had reserved counts as spent: its requests may have been answered and billed.
    """
    at = clock()
    run = PipelineRun.objects.select_for_update(of=("self",)).filter(pk=run_id).first()
    if run is None or run.status not in PipelineRun.LIVE or (run.resume_at and run.resume_at > at):
        return None
    rows = PipelineRun.objects.filter(pk=run_id)
    # Each pause uses up one start as well.
    starts = Starts(run.attempts, run.ended_with_database, run.database_start).seen_at(database_start())
    if starts.are_too_many(MAX_STARTS_WITHOUT_PROGRESS + _pauses(run)):
        with language_of(run.created_by):
            reason = _(
                "The worker stopped unexpectedly %(times)s times here without receiving an answer. See its "
                "log for details."
            )
            rows.update(status=Status.FAILED, error=reason % {"times": starts.number}, finished_at=at, resume_at=None)
            notify_of_pipeline(run, status=Status.FAILED, at=at)
        return None
    rows.update(
        status=Status.RUNNING,
        heartbeat_at=at,
        started_at=run.started_at or at,
        resume_at=None,
        error="",
        attempts=starts.number + 1,
        **starts.next_fields(),
        spent=_spent_with_reserved(run),
        reserved=0.0,
    )
    run.status = Status.RUNNING
    return PipelineTurn(run, clock, starts.counted + 1)


def _spent_with_reserved(run: PipelineRun) -> float:
    """What a run may have spent if every reserved request went out; the meter lets none pass the budget."""
    most = run.spent + run.reserved
    return most if run.budget is None else max(run.spent, min(most, float(run.budget)))


def _pauses(run: PipelineRun) -> int:
    """How often a run pauses while an endpoint is down, longer each time, before it ends incomplete."""
    return int(run.config.get("pauses", 3))


def _work_to_the_end(turn: PipelineTurn, budget_s: float) -> bool:
    """Work, and write down how the turn ended; True if the run has to be enqueued again."""
    try:
        end = _do_steps(turn, time.monotonic() + budget_s)
    except DomainError as refused:
        _end(turn, Status.INCOMPLETE, translate(refused.args[0]))
        return False
    except DatabaseError:
        raise  # nothing can be written down; the sweep enqueues it again
    except Exception as error:
        log.exception("pipeline_failed", run=turn.run.public_id, kind=turn.run.kind)
        reason = _("The worker failed (%(error)s). See its log for details.") % {"error": type(error).__name__}
        _end(turn, Status.FAILED, reason)
        return False
    if turn.cancelled:
        # The run may have been resumed while the last answers arrived.
        return PipelineRun.objects.filter(pk=turn.run.pk, status=Status.PENDING).exists()
    if end == "down":
        _endpoint_is_down(turn)
        return False
    if end == "spent":
        if turn.stored and len({address_of(use) for use in turn.uses.values()}) > 1:
            _end(turn, Status.PENDING)  # the other endpoints have left some
            return True
        _end(turn, Status.INCOMPLETE, str(BUDGET_USED_UP), budget_spent=True)
        return False
    return _settle_run(turn)


def _settle_run(turn: PipelineTurn) -> bool:
    """Write down what the states of the steps say; True if the run has to be enqueued again."""
    if turn.run.steps.filter(state=State.READY).exists():
        _end(turn, Status.PENDING)
        return True
    if missing := turn.run.steps.filter(state=State.FAILED, error_kind=NOT_STORED).select_related("case").first():
        reason = _("A replay sends no requests, and there is no stored answer for “%(step)s” of case %(case)s.")
        _end(turn, Status.FAILED, reason % {"step": name_of(missing), "case": missing.case.key})
    elif failed := turn.run.steps.exclude(state__in=(State.DONE, State.SKIPPED)).count():
        reason = ngettext(
            "%(n)s request failed after all attempts. Select “Continue” to repeat it.",
            "%(n)s requests failed after all attempts. Select “Continue” to repeat them.",
            failed,
        )
        _end(turn, Status.INCOMPLETE, reason % {"n": failed})
    else:
        _end(turn, Status.FINISHED)
    return False


def _endpoint_is_down(turn: PipelineTurn) -> None:
    if not may_pass(turn.failures.kind):
        reason = _("The endpoint refuses requests. Last answer: %(last)s") % {"last": turn.failures.last}
        _end(turn, Status.INCOMPLETE, reason)
        return
    reason = _("The endpoint is not responding. Last failure: %(last)s") % {"last": turn.failures.last}
    if turn.pauses >= _pauses(turn.run):
        _end(turn, Status.INCOMPLETE, reason)
        return
    resume_at = turn.clock() + pause_after(turn.pauses)
    try:
        with transaction.atomic():
            make_ready(turn.run, turn.run.steps.filter(pk__in=turn.may_recover, state=State.FAILED))
            _end(turn, Status.PAUSED, reason, resume_at=resume_at)
    except DomainError as refused:  # the operator's list may have changed since the turn began
        _end(turn, Status.INCOMPLETE, translate(refused.args[0]))


def _end(
    turn: PipelineTurn,
    status: str,
    reason: str = "",
    *,
    resume_at: datetime | None = None,
    budget_spent: bool = False,
) -> None:
    """Write down how the turn ended, unless the run was cancelled or resumed meanwhile."""
    at = turn.clock()
    over = status not in PipelineRun.LIVE
    starts = {"attempts": 1 if status == Status.PAUSED else 0} if turn.stored else {}
    with transaction.atomic():
        ended = PipelineRun.objects.filter(pk=turn.run.pk, status=Status.RUNNING).update(
            status=status,
            error=reason,
            heartbeat_at=at,
            resume_at=resume_at,
            finished_at=at if over else None,
            **starts,
        )
        if over and ended:
            notify_of_pipeline(turn.run, status=status, budget_spent=budget_spent, at=at)
        if over and ended and not turn.run.replay:
            KINDS[turn.run.kind].run_ended(turn.run, at=at)


def _do_steps(turn: PipelineTurn, until: float) -> str:
    """Do the steps that are ready and those that follow; *down* or *spent* if that ended it, else an empty text."""
    uses = {} if turn.run.replay else turn.uses
    money = turn.money_left()
    with Dispatchers(
        uses, turn.asker, benchmark=turn.run.benchmark, money=money, fresh=turn.run.started_at is None
    ) as dispatchers:
        if turn.starts > 1:
            dispatchers.probe()
        timeout_s = max((use.endpoint.timeout_s for use in uses.values()), default=0.0)
        ask_all(turn, dispatchers, _requests(turn, dispatchers, until), until=until, timeout_s=timeout_s)
        if not dispatchers.outstanding and turn.run.budget is not None:
            # Every request that went out has its cost written; the others were not sent.
            PipelineRun.objects.filter(pk=turn.run.pk).update(reserved=0.0)
    if dispatchers.down:
        return "down"
    return "spent" if dispatchers.budget_spent else ""


def _requests(turn: PipelineTurn, dispatchers: Dispatchers, until: float) -> Iterator[list[PendingStep]]:
    """The requests of the steps that are ready, then of those that become ready; empty while there are none yet."""
    preparer = Preparer(turn.run, turn.kind, turn.settings, turn.uses)
    # With a budget fewer requests are begun at once: what they can cost is lost to it where the worker is killed.
    size = CHUNK if turn.run.budget is None else min(CHUNK, max(1, dispatchers.concurrency))
    ready = _ready_rows(turn, size)
    while not turn.cancelled and time.monotonic() <= until:
        rows = next(ready)
        if rows:
            pending, results = preparer.prepare(rows, at=turn.clock())
            if results:
                dispatchers.written(turn.take(results))
            if pending:
                turn.reserve(pending)
                yield pending
        elif turn.has_unwritten() and (turn.kind.has_chains or not dispatchers.outstanding):
            dispatchers.written(turn.take([], now=True))  # some of these may make others ready
        elif dispatchers.outstanding:
            yield []
        elif not turn.ready:
            return


def _ready_rows(turn: PipelineTurn, size: int) -> Iterator[list[tuple[Any, ...]]]:
    """The steps that were ready at first in the order of their ids, each once, then those that became ready; for ever.

    An empty list says that there are none at the moment.
    """
    steps = turn.run.steps.filter(state=State.READY)
    last = 0
    while rows := list(steps.filter(pk__gt=last).order_by("pk").values_list(*COLUMNS)[:size]):
        last = rows[-1][0]
        if left := [row for row in rows if row[0] not in turn.became_ready]:
            yield left
    while True:
        ids = [turn.ready.popleft() for _number in range(min(size, len(turn.ready)))]
        yield list(steps.filter(Among("pk", ids)).order_by("pk").values_list(*COLUMNS)) if ids else []
