"""Turns and money, on a clock of the test's own loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilium.llm.meter import Allowance, BudgetSpent, Meter, PendingRequest, RequestNotSent


class _Clock(asyncio.SelectorEventLoop):
    """A loop that does not wait: where nothing is to be done, its time goes on to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        ready, scheduled = self._ready, self._scheduled  # type: ignore[attr-defined]
        if not ready and scheduled:
            self.now = max(self.now, scheduled[0].when())
        super()._run_once()  # type: ignore[misc]


def play(scene: Callable[[asyncio.AbstractEventLoop], Awaitable[None]]) -> None:
    loop = _Clock()
    try:
        loop.run_until_complete(scene(loop))  # type: ignore[arg-type]
    finally:
        loop.close()


def test_requests_are_spread_over_the_minute() -> None:
    sent: list[float] = []

    async def scene(loop: asyncio.AbstractEventLoop) -> None:
        meter = Meter(Allowance(requests_per_minute=60))

        async def ask() -> None:
            await meter.begin(PendingRequest(400, 1, 100))
            sent.append(loop.time())

        await asyncio.gather(*(ask() for _ in range(5)))

    play(scene)
    assert sent == pytest.approx([0, 1, 2, 3, 4])


def test_who_comes_to_share_is_heeded_at_once_by_all_who_wait() -> None:
    sent: list[float] = []

    async def scene(loop: asyncio.AbstractEventLoop) -> None:
        meter = Meter(Allowance(requests_per_minute=60))

        async def ask() -> None:
            await meter.begin(PendingRequest(400, 1, 100))
            sent.append(loop.time())

        tasks = [asyncio.ensure_future(ask()) for _ in range(6)]
        await asyncio.sleep(1.5)
        meter.share(2)
        await asyncio.gather(*tasks)

    play(scene)
    assert sent == pytest.approx([0, 1, 2, 4, 6, 8])


def test_tokens_are_charged_as_they_were_counted() -> None:
    sent: list[float] = []

    async def scene(loop: asyncio.AbstractEventLoop) -> None:
        meter = Meter(Allowance(tokens_per_minute=6000))  # a hundred a second
        for _ in range(4):
            request = PendingRequest(400, 1, 1000)  # 100 tokens in, and 100 out expected at first
            await meter.begin(request)
            sent.append(loop.time())
            meter.answered(request, 100, 300, 0)

    play(scene)
    assert sent == pytest.approx([0, 4, 8, 12])


def test_a_turn_after_somebody_elses_waits() -> None:
    async def scene(loop: asyncio.AbstractEventLoop) -> None:
        await Meter(Allowance(requests_per_minute=6, fresh=False)).begin(PendingRequest(400, 1, 100))
        assert loop.time() == pytest.approx(10)

    play(scene)


def test_waiting_for_a_turn_or_for_money_ends_when_the_endpoints_close() -> None:
    async def scene(loop: asyncio.AbstractEventLoop) -> None:
        meter = Meter(Allowance(requests_per_minute=1, price_in=1e6, price_out=1e6, money=1000.0))
        first, waiting, poor = PendingRequest(400, 1, 100), PendingRequest(400, 1, 100), PendingRequest(400, 1, 650)
        await meter.begin(first)  # reserves 200 + 100
        tasks = [asyncio.ensure_future(meter.begin(request)) for request in (waiting, poor)]
        await asyncio.sleep(5)
        assert not any(task.done() for task in tasks)
        meter.close()
        for task in tasks:
            with pytest.raises(RequestNotSent):
                await task
        assert loop.time() == pytest.approx(5)

    play(scene)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    price=st.sampled_from([0.15, 2.5, 1380.7, 40_000.3, 99_999.9]),
    share=st.floats(0.5, 40),
    answers=st.lists(st.integers(0, 100), min_size=1, max_size=60),
    at_once=st.integers(1, 16),
)
def test_a_budget_is_never_passed_and_nobody_waits_for_ever(
    price: float, share: float, answers: list[int], at_once: int
) -> None:
    """Whatever the answers cost, in whatever currency: all requests are answered, or told that the money is spent."""
    allowance = Allowance(price_in=price, price_out=price * 3, money=Allowance(price_in=price).cost(800, 0) * share)
    spent: list[float] = []
    refused: list[bool] = []

    async def scene(_loop: asyncio.AbstractEventLoop) -> None:
        meter = Meter(allowance)
        left = list(answers)

        async def worker() -> None:
            while left:
                out = left.pop()
                request = PendingRequest(1600, 1, 100)
                try:
                    await meter.begin(request)
                except BudgetSpent:
                    refused.append(True)
                    continue
                await asyncio.sleep(0.1)
                meter.answered(request, 400, out, 0)
                spent.append(allowance.cost(400, out))

        await asyncio.gather(*(worker() for _ in range(at_once)))

    play(scene)
    assert len(spent) + len(refused) == len(answers)
    assert sum(spent) <= (allowance.money or 0) * (1 + 1e-9)
