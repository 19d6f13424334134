"""The dispatchers of a turn: one for each endpoint and model, behind what `scoring.work.turn.ask_all` calls."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from threading import Event
from types import TracebackType
from typing import Self

from django.conf import settings

from rubrics.models import Benchmark
from scoring.keys.grants import bound_keys_for
from scoring.pipelines.asking import Asker
from scoring.pipelines.kind import EndpointUse
from scoring.pipelines.steps import PendingStep, StepResult, unasked
from scoring.work.dispatcher import Dispatcher

# With 200 responses in one write, an endpoint that answers 320 in a second ran dry at twice its concurrency of 64.
MIN_AHEAD = 400
StepDispatcher = Dispatcher[PendingStep, StepResult]


class Dispatchers:
    """``with Dispatchers(uses, asker, benchmark=…, money=…, fresh=…)``.

    `EndpointRefused` where an endpoint may not be called, or ``benchmark`` may not use its key.

    ``money`` is what the run may still spend, None without a budget; each endpoint gets an equal part of it. A budget
    is kept even through kills, so a try that may have been billed is not repeated inside a request.
    """

    def __init__(
        self,
        uses: Mapping[str, EndpointUse],
        asker: Asker,
        *,
        benchmark: Benchmark,
        money: float | None,
        fresh: bool,
    ) -> None:
        self._wake = Event()
        self._has_budget = money is not None
        by_address: dict[tuple[str, str], StepDispatcher] = {}
        self._by_name: dict[str, StepDispatcher] = {}
        share = None if money is None else money / max(1, len({address_of(use) for use in uses.values()}))
        for name, use in sorted(uses.items(), key=lambda item: -item[1].endpoint.max_tokens):
            bound_keys = bound_keys_for(benchmark, use.endpoint)
            if address_of(use) not in by_address:
                retry = replace(use.endpoint.retry, repeat_billed=money is None)
                by_address[address_of(use)] = Dispatcher(
                    replace(use.endpoint, retry=retry),
                    asker.ask,
                    unasked,
                    allowed_hosts=settings.JUDGE_ALLOWED_HOSTS,
                    bound_keys=bound_keys,
                    allowance=replace(use.allowance, money=share, fresh=fresh),
                    wake=self._wake,
                )
            self._by_name[name] = by_address[address_of(use)]
        self._all = list(by_address.values())
        self._stack = ExitStack()
        # The dispatcher of each exchange that was collected and not written yet, in the order of both.
        self._collected: deque[StepDispatcher] = deque()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for dispatcher in self._all:
                stack.enter_context(dispatcher)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    @property
    def concurrency(self) -> int:
        """Requests at a time, over all endpoints."""
        return sum(dispatcher.concurrency for dispatcher in self._all)

    @property
    def enough(self) -> int:
        """How many outstanding requests keep the endpoints busy while results are written.

        Many results may wait to be collected during a write. Under a budget fewer requests are begun, because what they
        can cost is lost to it if the worker is killed.
        """
        return max(self.concurrency * 2, 0 if self._has_budget else MIN_AHEAD)

    @property
    def outstanding(self) -> int:
        """Requests that were submitted and whose results were not collected yet."""
        return sum(dispatcher.outstanding for dispatcher in self._all)

    @property
    def down(self) -> bool:
        """Whether one of the endpoints is down."""
        return any(dispatcher.down for dispatcher in self._all)

    @property
    def budget_spent(self) -> bool:
        """Whether one of the endpoints has used up its part of the budget."""
        return any(dispatcher.budget_spent for dispatcher in self._all)

    def share(self, active_workers: int) -> None:
        """Share the limits of every endpoint with this many workers."""
        for dispatcher in self._all:
            dispatcher.share(active_workers)

    def probe(self) -> None:
        """Send one request at a time to each endpoint until it answers."""
        for dispatcher in self._all:
            dispatcher.probe()

    def submit(self, requests: Sequence[PendingStep]) -> None:
        """Pass each request to the dispatcher of its endpoint."""
        for dispatcher in self._all:
            own = [item for item in requests if self._by_name[item.request.endpoint] is dispatcher]
            if own:
                dispatcher.submit(own)

    def collect(self, within_s: float) -> list[StepResult]:
        """The results since the last time; waits up to ``within_s``, less where an endpoint has something to write."""
        if self._all:
            self._wake.wait(within_s)
            self._wake.clear()
        for dispatcher in self._all:
            dispatcher.raise_failure()
        return self.results()

    def results(self) -> list[StepResult]:
        """The results so far, even where a loop has failed since."""
        results: list[StepResult] = []
        for dispatcher in self._all:
            for result in dispatcher.results():
                self._collected.extend([dispatcher] * len(result.calls))
                results.append(result)
        return results

    def written(self, answers: int) -> None:
        """Note that the ``answers`` that were collected first have been written."""
        counts = Counter(self._collected.popleft() for _ in range(min(answers, len(self._collected))))
        for dispatcher, count in counts.items():
            dispatcher.written(count)

    def close(self) -> None:
        """Drop the requests that were not sent yet."""
        for dispatcher in self._all:
            dispatcher.close()


def address_of(use: EndpointUse) -> tuple[str, str]:
    """What tells an endpoint apart: its address and its model."""
    return use.endpoint.url, use.endpoint.model
