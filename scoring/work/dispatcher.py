"""An event loop in a thread of its own that keeps an endpoint's concurrency full.

The worker's main thread owns the database connection; the loop owns the sockets. They meet in two places: requests go
in by `submit`, findings come out by `collect`. A finding is what came of one request; `scoring.work.turn`, which calls
both, says result for it. Nothing new is asked while too many findings wait to be written, so that what a killed worker
costs has a bound; nor after too many failures in a row, so that an endpoint that is down is left alone.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from consilium.llm.client import ChatClient
from consilium.llm.endpoint import Endpoint
from consilium.llm.errors import may_be_the_text, may_pass
from consilium.llm.judging import Call
from consilium.llm.meter import Allowance, BudgetSpent, RequestNotSent

# The main thread is woken for this many findings, or after a moment: waking it for each would cost more than the call.
WAKE_AT = 100
# So many answers may wait to be written.
MAX_UNWRITTEN = 500
# An endpoint that fails this often in a row is down (or as often as it has requests in the air, if that is more). One
# response that it cannot take fails with each of its criteria, so there must be several, where that may be the reason.
MIN_FAILURES = 20
MIN_RESPONSES = 3
# One that refuses whatever is asked, for want of a right key or address, does so at once.
MIN_REFUSALS = 3
# A waiting request is notified of changes, and checks this often by itself, for changes from outside.
STAND_ASIDE_S = 0.5


class RequestResult(Protocol):
    """What came of a request, as far as the dispatcher looks at it.

    ``calls`` is empty where nothing was asked; ``failed``: the endpoint left it without an answer; ``about``: whose
    text was asked about.
    """

    @property
    def calls(self) -> Sequence[Call]: ...
    @property
    def failed(self) -> bool: ...
    @property
    def about(self) -> int: ...


Request = TypeVar("Request")
Found = TypeVar("Found", bound=RequestResult)


class Dispatcher(Generic[Request, Found]):
    """``with Dispatcher(endpoint, ask, unasked, allowed_hosts=…)``; `EndpointRefused` where it may not call.

    ``unasked`` makes what is found out of a request that was not asked. Leaving the block lets go of whatever is in
    the air.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        ask: Callable[[ChatClient, Request], Awaitable[Found]],
        unasked: Callable[[Request], Found],
        *,
        allowed_hosts: Collection[str],
        allowance: Allowance | None = None,
    ) -> None:
        self._client = ChatClient(endpoint, allowed_hosts=allowed_hosts, allowance=allowance)
        self._ask = ask
        self._unasked = unasked
        self.concurrency = endpoint.concurrency
        self._allowed = endpoint.concurrency
        self.budget_spent = False
        self.down = False
        self.failures_in_a_row = 0
        self._failed_responses: set[int] = set()
        self._probing = False
        self._findings: deque[Found] = deque()
        self._unwritten = 0
        self._wake = threading.Event()
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._outstanding = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: asyncio.Queue[Request] | None = None
        self._changed: asyncio.Event | None = None
        self._main: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="judge-dispatcher", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        self._raise_failure()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        loop, main = self._loop, self._main
        if loop is not None and main is not None and self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # the loop ended a moment ago
                loop.call_soon_threadsafe(main.cancel)
        self._thread.join(timeout=10)

    @property
    def outstanding(self) -> int:
        """Requests that were submitted and whose findings were not collected yet."""
        return self._outstanding

    def share(self, active_workers: int) -> None:
        """Leave their part of concurrency and limits to the others that ask the same endpoint at the same time."""
        self._client.meter.share(active_workers)
        self._allowed = max(1, self.concurrency // max(1, active_workers))

    def probe(self) -> None:
        """Ask one request at a time until one is answered; the first that fails is enough to give up."""
        self._probing = True

    def submit(self, requests: Sequence[Request]) -> None:
        """Hand requests over; they are asked in this order."""
        self._raise_failure()
        assert self._loop is not None
        self._outstanding += len(requests)
        self._loop.call_soon_threadsafe(self._enqueue, requests)

    def collect(self, within_s: float) -> list[Found]:
        """What was found out since the last time; waits up to ``within_s`` for enough to be worth writing."""
        self._wake.wait(within_s)
        self._wake.clear()
        self._raise_failure()
        return self.findings()

    def findings(self) -> list[Found]:
        """What was found out, even where the loop has failed since."""
        findings = []
        while self._findings:
            findings.append(self._findings.popleft())
        self._outstanding -= len(findings)
        return findings

    def written(self, answers: int) -> None:
        """So many answers of the collected findings are written."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._forget, answers)

    def close(self) -> None:
        """Forget the requests that were not sent yet; the answers to those in the air can still be collected.

        They come within the endpoint's time-out and one back-off: nothing is tried or asked again.
        """
        assert self._loop is not None
        dropped: concurrent.futures.Future[int] = concurrent.futures.Future()
        self._loop.call_soon_threadsafe(self._drop, dropped)
        self._outstanding -= dropped.result(timeout=10)

    def _forget(self, answers: int) -> None:
        self._unwritten -= answers
        self._tell()

    def _tell(self) -> None:
        """Wake all who stand aside, once."""
        if self._changed is not None:
            self._changed.set()
            self._changed.clear()

    def _drop(self, dropped: concurrent.futures.Future[int]) -> None:
        assert self._queue is not None
        self._client.refuse_requests()
        count = 0
        while not self._queue.empty():
            self._queue.get_nowait()
            count += 1
        dropped.set_result(count)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _enqueue(self, requests: Sequence[Request]) -> None:
        assert self._queue is not None
        for request in requests:
            self._queue.put_nowait(request)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except asyncio.CancelledError:
            return
        except BaseException as error:  # handed to the main thread, which raises it
            self._failure = error
        finally:
            self._started.set()
            self._wake.set()

    async def _serve(self) -> None:
        self._queue = asyncio.Queue()
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._main = asyncio.current_task()
        async with self._client as client, asyncio.TaskGroup() as group:
            for number in range(self.concurrency):
                group.create_task(self._work(client, self._queue, number))
            self._started.set()

    async def _work(self, client: ChatClient, queue: asyncio.Queue[Request], number: int) -> None:
        while True:
            while self._stands_aside(number):
                assert self._changed is not None
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), STAND_ASIDE_S)
            request = await queue.get()
            if self._stands_aside(number):  # it waited here while its place was taken away
                queue.put_nowait(request)
                continue
            try:
                finding = await self._ask(client, request)
            except RequestNotSent as error:
                # Nobody may ask for more; what is in the air still counts.
                self.budget_spent = self.budget_spent or isinstance(error, BudgetSpent)
                finding = self._unasked(request)
            self._count(finding)
            self._unwritten += len(finding.calls)
            self._findings.append(finding)
            if len(self._findings) >= WAKE_AT or queue.empty() or self.down:
                self._wake.set()

    def _count(self, finding: Found) -> None:
        """Take note of a failure, or of an answer; once down it stays so for this worker's turn."""
        if self.down or not finding.calls:
            return
        if not finding.failed:
            self.failures_in_a_row = 0
            self._failed_responses.clear()
            if self._probing:
                self._probing = False
                self._tell()
            return
        self.failures_in_a_row += 1
        self._failed_responses.add(finding.about)
        kind = finding.calls[-1].error_kind
        text_may_be_why = may_be_the_text(kind)
        if self._probing:
            self.down = True
        elif not text_may_be_why and not may_pass(kind):
            self.down = self.failures_in_a_row >= MIN_REFUSALS
        elif self.failures_in_a_row >= max(MIN_FAILURES, self.concurrency):
            self.down = not text_may_be_why or len(self._failed_responses) >= MIN_RESPONSES

    def _stands_aside(self, number: int) -> bool:
        allowed = 1 if self._probing else self._allowed
        return number >= allowed or self._unwritten >= MAX_UNWRITTEN or self.down
