"""An event loop in a thread of its own that keeps an endpoint's concurrency full.

The worker's main thread owns the database connection; the loop owns the sockets. They meet in two places: questions go
in by `submit`, findings come out by `collect`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from types import TracebackType
from typing import Self

from consilium.llm.client import ChatClient
from consilium.llm.endpoint import Endpoint
from scoring.work.missing import Question
from scoring.work.store import Finding

# The main thread is woken for this many findings, or after a moment: waking it for each would cost more than the call.
WAKE_AT = 100

Ask = Callable[[ChatClient, Question], Awaitable[Finding]]


class Dispatcher:
    """``with Dispatcher(endpoint, ask, allowed_hosts=…) as dispatcher``; `EndpointRefused` where it may not call.

    Leaving the block lets go of whatever is in the air.
    """

    def __init__(self, endpoint: Endpoint, ask: Ask, *, allowed_hosts: Collection[str]) -> None:
        self._client = ChatClient(endpoint, allowed_hosts=allowed_hosts)
        self._ask = ask
        self.concurrency = endpoint.concurrency
        self._found: deque[Finding] = deque()
        self._wake = threading.Event()
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._outstanding = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: asyncio.Queue[Question] | None = None
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
        """Questions that were submitted and whose findings were not collected yet."""
        return self._outstanding

    def submit(self, questions: Sequence[Question]) -> None:
        """Hand questions over; they are asked in this order."""
        self._raise_failure()
        assert self._loop is not None
        self._outstanding += len(questions)
        self._loop.call_soon_threadsafe(self._enqueue, questions)

    def collect(self, within_s: float) -> list[Finding]:
        """What was found out since the last time; waits up to ``within_s`` for enough to be worth writing."""
        self._wake.wait(within_s)
        self._wake.clear()
        self._raise_failure()
        found = []
        while self._found:
            found.append(self._found.popleft())
        self._outstanding -= len(found)
        return found

    def drop_queued(self) -> None:
        """Forget the questions that were not asked yet; those in the air can still be collected."""
        assert self._loop is not None
        dropped: concurrent.futures.Future[int] = concurrent.futures.Future()
        self._loop.call_soon_threadsafe(self._drop, dropped)
        self._outstanding -= dropped.result(timeout=10)

    def _drop(self, dropped: concurrent.futures.Future[int]) -> None:
        assert self._queue is not None
        count = 0
        while not self._queue.empty():
            self._queue.get_nowait()
            count += 1
        dropped.set_result(count)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _enqueue(self, questions: Sequence[Question]) -> None:
        assert self._queue is not None
        for question in questions:
            self._queue.put_nowait(question)

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
        self._loop = asyncio.get_running_loop()
        self._main = asyncio.current_task()
        async with self._client as client, asyncio.TaskGroup() as group:
            for _ in range(self.concurrency):
                group.create_task(self._work(client, self._queue))
            self._started.set()

    async def _work(self, client: ChatClient, queue: asyncio.Queue[Question]) -> None:
        while True:
            finding = await self._ask(client, await queue.get())
            self._found.append(finding)
            if len(self._found) >= WAKE_AT or queue.empty():
                self._wake.set()
