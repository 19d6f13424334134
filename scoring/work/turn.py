"""A worker's turn at a row of many requests, and the loop that asks them; judge runs and runs of steps share both.

A `Turn` keeps results until they are written, writes a heartbeat, and counts failures. A subclass defines how results
are stored, and how to tell that the run was cancelled. `ask_all` fills a dispatcher with requests, gives the results
to the turn, and stops when the requests are used up, the time is up, the run is cancelled, or the endpoint is down.
How a turn begins and ends differs: see `scoring.work.slice` and `scoring.pipelines.working`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar

from django.db import DatabaseError, connection
from django.db.models import QuerySet

from consilium.core.jobs import Clock
from scoring.work.dispatcher import RequestResult

WRITE_AT = 200  # results
WRITE_EVERY_S = 1.0
HEARTBEAT_S = 2.0
COLLECT_WITHIN_S = 0.25
# After this time the task ends and is enqueued again, so that others get a turn. It must end well before Celery's time
# limit.
TASK_BUDGET_S = 300.0
# A task whose time is up waits for the requests in flight: for the endpoint's time-out, plus this for a back-off.
DRAIN_S = 60.0
# A row whose workers die this often in a row without a result is not started again.
MAX_STARTS_WITHOUT_PROGRESS = 5
MAX_STARTS_IN_ALL = 20  # with those that ended with PostgreSQL
# A row with a heartbeat within this time is at work.
ACTIVE_FOR = timedelta(seconds=30)
# Where the endpoint is down the row pauses, each time for longer; a setting limits the pauses before it stops.
_PAUSES = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))


class TurnStopped(Exception):
    """The row cannot go on, for a reason outside the program; the message gives it."""


class EndpointDown(TurnStopped):
    """The endpoint does not answer, but may do so after a while."""


Request = TypeVar("Request", contravariant=True)
Result = TypeVar("Result", bound=RequestResult)


def pause_after(pauses: int) -> timedelta:
    """How long a row pauses that has paused ``pauses`` times in a row."""
    return _PAUSES[min(pauses, len(_PAUSES) - 1)]


def database_start() -> datetime:
    """When PostgreSQL was started; a recovery from the crash of one of its processes does not change that."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_postmaster_start_time()")
        return cursor.fetchone()[0]


@dataclass(frozen=True, slots=True)
class Starts:
    """How often in succession work on a row began without a result.

    A turn that ended because PostgreSQL was started again, since ``database_start``, could store nothing, whatever its
    work is. It does not count, but for `MAX_STARTS_IN_ALL`: the work itself may be what takes the server down. A turn
    that ended with its connection alone counts, as the end of a worker does.
    """

    number: int
    ended_with_database: int
    database_start: datetime | None

    def seen_at(self, database_start: datetime) -> Starts:
        """The same, with how the last turn ended; ``database_start`` is that of now."""
        is_new = self.number > 0 and self.database_start not in (None, database_start)
        ended = self.ended_with_database if self.number else 0
        return Starts(self.number, ended + is_new, database_start)

    @property
    def counted(self) -> int:
        """How many count against the work."""
        return self.number - self.ended_with_database

    def are_too_many(self, most: int = MAX_STARTS_WITHOUT_PROGRESS) -> bool:
        """Whether there is to be no further one."""
        return self.counted >= most or self.number >= MAX_STARTS_IN_ALL

    def next_fields(self) -> dict[str, Any]:
        """What the row stores as the next turn begins, beside the number."""
        return {"ended_with_database": self.ended_with_database, "database_start": self.database_start}


@dataclass(slots=True)
class Failures:
    """Requests that the endpoint did not answer."""

    total: int = 0
    kind: str = ""  # of the last failure
    last: str = ""  # its kind and message

    def count(self, results: Sequence[RequestResult]) -> None:
        """Count the failed results."""
        for result in results:
            if result.failed:
                call = result.calls[-1]
                self.total += 1
                self.kind, self.last = call.error_kind, f"{call.error_kind}: {call.error}"


class Turn(ABC, Generic[Result]):
    """The state of one task while it holds a row."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.stored = 0  # verdicts, or answers to steps
        self.cancelled = False
        self.active_workers = 1  # workers that ask the same endpoint now, this one among them
        self.failures = Failures()
        self._unwritten: list[Result] = []
        self._wrote_at = self._beat_at = time.monotonic()

    @abstractmethod
    def store(self, results: Sequence[Result]) -> int:
        """Write results in one transaction; return how many verdicts or answers they hold."""

    @abstractmethod
    def heartbeat(self) -> bool:
        """Record that the worker is alive; False where the run is no longer wanted."""

    @abstractmethod
    def others_at_work(self) -> QuerySet[Any]:
        """The other rows whose workers ask the same model of the same endpoint now."""

    def count_active_workers(self) -> None:
        """Set ``active_workers`` to the number of workers that share the endpoint."""
        self.active_workers = 1 + self.others_at_work().count()

    def has_unwritten(self) -> bool:
        """Whether results wait to be written."""
        return bool(self._unwritten)

    def take(self, results: Sequence[Result], *, now: bool = False) -> int:
        """Keep results, write them when enough have come or enough time has passed; return the calls written."""
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


class Asks(Protocol[Request, Result]):
    """A `Dispatcher`, or several behind one front."""

    @property
    def enough(self) -> int: ...
    @property
    def outstanding(self) -> int: ...
    @property
    def down(self) -> bool: ...
    @property
    def budget_spent(self) -> bool: ...
    def share(self, active_workers: int) -> None: ...
    def submit(self, requests: Sequence[Request]) -> None: ...
    def collect(self, within_s: float) -> list[Result]: ...
    def results(self) -> list[Result]: ...
    def written(self, answers: int) -> None: ...
    def close(self) -> None: ...


def ask_all(
    turn: Turn[Result],
    dispatcher: Asks[Request, Result],
    chunks: Iterator[Sequence[Request]],
    *,
    until: float,
    timeout_s: float,
) -> bool:
    """Send all requests and store their results; True if the time, ``until`` by `time.monotonic`, was up first.

    An empty chunk says that nothing can be asked before more answers have come; requests are then in flight.
    ``timeout_s`` is that of the endpoint. Other reasons to stop are in the turn and in the dispatcher. An error in our
    own code does not lose the answers that have arrived.
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
    dispatcher: Asks[Request, Result],
    chunks: Iterator[Sequence[Request]],
    until: float,
    timeout_s: float,
) -> bool:
    """Send requests until none is left or there is a reason to stop; then await those in flight, which may be paid."""
    exhausted = closing = time_is_up = False
    shared_at = float("-inf")
    while True:
        if time.monotonic() - shared_at > HEARTBEAT_S:
            turn.count_active_workers()
            dispatcher.share(turn.active_workers)
            shared_at = time.monotonic()
        # Two chunks at most are in memory, and the loop never waits for the database.
        while not (exhausted or closing) and dispatcher.outstanding <= dispatcher.enough:
            chunk = next(chunks, None)
            exhausted = chunk is None
            if not chunk:
                break
            dispatcher.submit(chunk)
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
