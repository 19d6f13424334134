"""A worker's turn at a row of many requests, and the loop that asks them; judge runs and generation runs share both.

A `Turn` keeps results until they are written, writes a heartbeat, and counts what failed. A subclass says how results
are stored, and how its row is found wanted or cancelled. `ask_all` fills a dispatcher with requests, gives the results
to the turn, and stops when the requests are used up, the time is up, the run is cancelled, or the endpoint is down.
How a turn begins and ends differs: see `scoring.work.slice` and `scoring.generation.working`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from django.db import DatabaseError
from django.db.models import QuerySet

from consilium.core.jobs import Clock
from scoring.work.dispatcher import Dispatcher, RequestResult

WRITE_AT = 200  # results
WRITE_EVERY_S = 1.0
HEARTBEAT_S = 2.0
COLLECT_WITHIN_S = 0.25
# Then the task gives its place to others and is enqueued again: it must end well before Celery's time limit.
TASK_BUDGET_S = 300.0
# A task whose time is up waits for the requests in flight: the endpoint's time-out, and this for a back-off.
DRAIN_S = 60.0
# A worker that dies so often in a row without a result is not started again.
MAX_STARTS_WITHOUT_PROGRESS = 5
# A row with so recent a heartbeat is at work.
ACTIVE_FOR = timedelta(seconds=30)
# Where the endpoint is down the row rests, each time for longer; a setting says how often before it stops.
_PAUSES = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))


class TurnStopped(Exception):
    """The row cannot go on; the message says why, and it is no fault of the program."""


class EndpointDown(TurnStopped):
    """The endpoint does not answer, but may do so after a while."""


Request = TypeVar("Request")
Result = TypeVar("Result", bound=RequestResult)


def pause_after(pauses: int) -> timedelta:
    """How long a row rests that has rested ``pauses`` times in a row."""
    return _PAUSES[min(pauses, len(_PAUSES) - 1)]


@dataclass(slots=True)
class Failures:
    """Requests that the endpoint left without an answer."""

    total: int = 0
    kind: str = ""  # of the last failure
    last: str = ""  # its kind and message

    def count(self, results: Sequence[RequestResult]) -> None:
        """Take note of the results that failed."""
        for result in results:
            if result.failed:
                call = result.calls[-1]
                self.total += 1
                self.kind, self.last = call.error_kind, f"{call.error_kind}: {call.error}"


class Turn(ABC, Generic[Result]):
    """What one task knows while it holds a row."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.stored = 0  # verdicts or responses
        self.cancelled = False
        self.active_workers = 1  # workers that ask the same endpoint now, this one among them
        self.failures = Failures()
        self._unwritten: list[Result] = []
        self._wrote_at = self._beat_at = time.monotonic()

    @abstractmethod
    def store(self, results: Sequence[Result]) -> int:
        """Write results in one transaction; how many verdicts or responses they hold."""

    @abstractmethod
    def heartbeat(self) -> bool:
        """Write that the worker is alive; False where the run is no longer wanted."""

    @abstractmethod
    def others_at_work(self) -> QuerySet[Any]:
        """The other rows whose workers ask the same model of the same endpoint now."""

    def count_active_workers(self) -> None:
        """Note in ``active_workers`` how many share the endpoint."""
        self.active_workers = 1 + self.others_at_work().count()

    def take(self, results: Sequence[Result], *, now: bool = False) -> int:
        """Keep results, and write when there are enough or enough time has passed; how many calls were written."""
        self.failures.count(results)
        self._unwritten += results
        written = 0
        is_due = len(self._unwritten) >= WRITE_AT or time.monotonic() - self._wrote_at > WRITE_EVERY_S
        if self._unwritten and (now or is_due):
            self.stored += self.store(self._unwritten)
            written = sum(len(result.calls) for result in self._unwritten)
            self._unwritten = []
            self._wrote_at = time.monotonic()
            self._check()
        elif time.monotonic() - self._beat_at > HEARTBEAT_S:
            self._check()
        return written

    def _check(self) -> None:
        self.cancelled = not self.heartbeat()
        self._beat_at = time.monotonic()


def ask_all(
    turn: Turn[Result],
    dispatcher: Dispatcher[Request, Result],
    chunks: Iterator[Sequence[Request]],
    *,
    until: float,
    timeout_s: float,
) -> bool:
    """Ask all requests and store their results; True where the time, ``until`` by `time.monotonic`, was up first.

    ``timeout_s`` is that of the endpoint. What else stopped it is in the turn and in the dispatcher. A fault of our own
    does not throw away what was answered.
    """
    try:
        time_is_up = _ask(turn, dispatcher, chunks, until, timeout_s)
    except DatabaseError:
        raise  # nothing can be written
    except Exception:
        turn.take(dispatcher.results(), now=True)
        raise
    turn.take(dispatcher.results(), now=True)
    return time_is_up


def _ask(
    turn: Turn[Result],
    dispatcher: Dispatcher[Request, Result],
    chunks: Iterator[Sequence[Request]],
    until: float,
    timeout_s: float,
) -> bool:
    """Ask until nothing is left or there is a reason to stop; then await the requests in flight, which may be paid."""
    exhausted = closing = time_is_up = False
    shared_at = float("-inf")
    while True:
        if time.monotonic() - shared_at > HEARTBEAT_S:
            turn.count_active_workers()
            dispatcher.share(turn.active_workers)
            shared_at = time.monotonic()
        # Two chunks at most are in memory, and the loop never waits for the database.
        while not (exhausted or closing) and dispatcher.outstanding <= dispatcher.concurrency * 2:
            chunk = next(chunks, None)
            exhausted = chunk is None
            dispatcher.submit(chunk or [])
        if dispatcher.outstanding == 0:
            return time_is_up
        dispatcher.written(turn.take(dispatcher.collect(COLLECT_WITHIN_S)))
        now = time.monotonic()
        if not closing and (now > until or turn.cancelled or dispatcher.down or dispatcher.budget_spent):
            time_is_up = now > until
            closing, until = True, now
            dispatcher.close()
        if closing and now > until + timeout_s + DRAIN_S:
            return time_is_up
