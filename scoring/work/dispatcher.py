"""An event loop in a thread of its own that keeps an endpoint's concurrency full.

The worker's main thread owns the database connection; the loop owns the sockets. `submit` passes requests to the loop,
and `collect` returns their results, one for each request. `scoring.work.turn` calls both.

No request is sent while too many results wait to be written: this bounds the loss when a worker is killed. No request
is sent after too many failures in a row either: the endpoint is then taken to be down.
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

# The main thread is woken for this many results, or after a moment: waking it for each would cost more than the call.
WAKE_AT = 100
# At most this many answers may wait to be written.
MAX_UNWRITTEN = 500
# An endpoint is down after this many failures in a row, or as many as its concurrency if that is more. A response that
# the endpoint cannot process fails with each of its criteria. Where the text may be the reason, the failures must
# therefore be about several responses.
MIN_FAILURES = 20
MIN_RESPONSES = 3
# An endpoint with a wrong key or address refuses every request, so fewer failures are enough.
MIN_REFUSALS = 3
# A waiting request is notified of changes, and checks this often by itself, for changes from outside.
CHECK_EVERY_S = 0.5


class RequestResult(Protocol):
    """The result of a request, as far as the dispatcher uses it.

    ``calls`` is empty if the request was not sent; ``failed``: the endpoint gave no answer; ``about`` identifies the
    response whose text was sent.
    """

    @property
    def calls(self) -> Sequence[Call]: ...
    @property
    def failed(self) -> bool: ...
    @property
    def about(self) -> int: ...


Request = TypeVar("Request")
Result = TypeVar("Result", bound=RequestResult)


class Dispatcher(Generic[Request, Result]):
    """``with Dispatcher(endpoint, ask, unasked, allowed_hosts=…)``; `EndpointRefused` where it may not call.

    ``unasked`` gives the result of a request that was not sent. Leaving the block abandons the requests in flight.
    ``wake`` is set when results are worth collecting; several dispatchers may share it.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        ask: Callable[[ChatClient, Request], Awaitable[Result]],
        unasked: Callable[[Request], Result],
        *,
        allowed_hosts: Collection[str],
        bound_keys: Collection[str] = (),
        allowance: Allowance | None = None,
        wake: threading.Event | None = None,
    ) -> None:
        self._client = ChatClient(endpoint, allowed_hosts=allowed_hosts, bound_keys=bound_keys, allowance=allowance)
        self._ask = ask
        self._unasked = unasked
        self.concurrency = endpoint.concurrency
        self._allowed = endpoint.concurrency
        self.budget_spent = False
        self.down = False
        self.failures_in_a_row = 0
        self._failed_responses: set[int] = set()
        self._probing = False
        self._results: deque[Result] = deque()
        self._unwritten = 0
        self._wake = wake or threading.Event()
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
        self.raise_failure()
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
    def enough(self) -> int:
        """How many outstanding requests keep the endpoint busy while results are written."""
        return self.concurrency * 2

    @property
    def outstanding(self) -> int:
        """Requests that were submitted and whose results were not collected yet."""
        return self._outstanding

    def share(self, active_workers: int) -> None:
        """Share concurrency and limits with the other workers that use the same endpoint at the same time."""
        self._client.meter.share(active_workers)
        self._allowed = max(1, self.concurrency // max(1, active_workers))

    def probe(self) -> None:
        """Send one request at a time until one is answered; give up at the first failure."""
        self._probing = True

    def submit(self, requests: Sequence[Request]) -> None:
        """Pass requests to the loop, which sends them in this order."""
        self.raise_failure()
        assert self._loop is not None
        self._outstanding += len(requests)
        self._loop.call_soon_threadsafe(self._enqueue, requests)

    def collect(self, within_s: float) -> list[Result]:
        """The results since the last time; waits up to ``within_s`` for enough to be worth writing."""
        self._wake.wait(within_s)
        self._wake.clear()
        self.raise_failure()
        return self.results()

    def results(self) -> list[Result]:
        """The results so far, even where the loop has failed since."""
        results = []
        while self._results:
            results.append(self._results.popleft())
        self._outstanding -= len(results)
        return results

    def written(self, answers: int) -> None:
        """Note that ``answers`` of the collected answers have been written."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._forget, answers)

    def close(self) -> None:
        """Drop the requests that were not sent yet; the answers to those in flight can still be collected.

        These come within the endpoint's time-out and one back-off, since nothing is retried.
        """
        assert self._loop is not None
        dropped: concurrent.futures.Future[int] = concurrent.futures.Future()
        self._loop.call_soon_threadsafe(self._drop, dropped)
        self._outstanding -= dropped.result(timeout=10)

    def _forget(self, answers: int) -> None:
        self._unwritten -= answers
        self._notify()

    def _notify(self) -> None:
        """Wake the requests that must wait, once."""
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

    def raise_failure(self) -> None:
        """Raise the error that ended the loop, if one did."""
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
            while self._must_wait(number):
                assert self._changed is not None
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), CHECK_EVERY_S)
            request = await queue.get()
            if self._must_wait(number):  # its share was reduced while it waited for a request
                queue.put_nowait(request)
                continue
            await client.handshake()
            try:
                result = await self._ask(client, request)
            except RequestNotSent as error:
                # No further request may be sent; those in flight still count.
                self.budget_spent = self.budget_spent or isinstance(error, BudgetSpent)
                result = self._unasked(request)
            self._count(result)
            self._unwritten += len(result.calls)
            self._results.append(result)
            if len(self._results) >= WAKE_AT or queue.empty() or self.down:
                self._wake.set()

    def _count(self, result: Result) -> None:
        """Count a failure or an answer; an endpoint that is down stays down for this worker's turn."""
        if self.down or not result.calls:
            return
        if not result.failed:
            self.failures_in_a_row = 0
            self._failed_responses.clear()
            if self._probing:
                self._probing = False
                self._notify()
            return
        self.failures_in_a_row += 1
        self._failed_responses.add(result.about)
        kind = result.calls[-1].error_kind
        text_may_be_why = may_be_the_text(kind)
        if self._probing:
            self.down = True
        elif not text_may_be_why and not may_pass(kind):
            self.down = self.failures_in_a_row >= MIN_REFUSALS
        elif self.failures_in_a_row >= max(MIN_FAILURES, self.concurrency):
            self.down = not text_may_be_why or len(self._failed_responses) >= MIN_RESPONSES

    def _must_wait(self, number: int) -> bool:
        allowed = 1 if self._probing else self._allowed
        return number >= allowed or self._unwritten >= MAX_UNWRITTEN or self.down
