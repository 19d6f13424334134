"""Limits what a client may use: requests and tokens a minute, and money.

Turns are slots in time, taken one after the other, so that requests are spread evenly instead of sent in bursts that
the endpoint refuses. Money is reserved at the most that a request can cost before it goes out, and settled at what the
endpoint counted, so that requests under way cannot exceed the budget.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

# Our requests are JSON in ASCII. Latin text has about four characters to a token; others are escaped as six bytes and
# take about one token and a half, so that the same number serves. The maximum cost of a request is computed with half
# of it.
BYTES_PER_TOKEN = 4
MIN_BYTES_PER_TOKEN = 2
# For each criterion, until the endpoint has counted some answers.
LIKELY_TOKENS_OUT = 100


class RequestNotSent(Exception):
    """The request was not sent: the client is closing."""


class BudgetSpent(RequestNotSent):
    """The request was not sent: it could cost more than what is left."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits of a client. None: no limit. Prices are per million tokens.

    ``fresh`` is False if requests used these limits a moment ago: then the first turn waits, too.
    """

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    money: float | None = None
    fresh: bool = True

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """The price of these tokens."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a request, as the endpoint counted them, or estimated where it did not."""

    tokens_in: int
    tokens_out: int
    estimated: bool

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, self.estimated or other.estimated
        )


@dataclass(slots=True)
class PendingRequest:
    """A request on its way: bytes sent, criteria it is about, the longest answer in tokens; and what it was charged."""

    size: int
    criteria: int
    most_out: int
    money: float = 0.0
    tokens: float = 0.0


class Meter:
    """Lets requests of one event loop through, one turn at a time."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._active_workers = 1
        self._next_request: float | None = None
        self._next_token: float | None = None
        self._spent = 0.0
        self._reserved = 0.0
        self._begun = 0
        self._tokens_out, self._answered = LIKELY_TOKENS_OUT, 1
        self._freed = asyncio.Event()
        self._turns = asyncio.Lock()
        self._closed = asyncio.Event()

    @property
    def closing(self) -> bool:
        """Whether no further request is let through."""
        return self._closed.is_set()

    def close(self) -> None:
        """Let no further request through; call it in the event loop. Waiting calls raise an error."""
        self._closed.set()
        self._freed.set()

    def share(self, active_workers: int) -> None:
        """Divide the limits among ``active_workers`` workers that use the same endpoint at the same time."""
        self._active_workers = max(1, active_workers)

    async def begin(self, request: PendingRequest) -> None:
        """Wait until the request may go out; `BudgetSpent` if it never may, `RequestNotSent` if the client closes."""
        await self._reserve(request)
        self._begun += 1
        try:
            await self._take_turn(request)
            if self.closing:
                raise RequestNotSent
        except BaseException:
            self.free(request)
            raise

    async def _reserve(self, request: PendingRequest) -> None:
        money = self._allowance.money
        if money is None:
            return
        most = self._allowance.cost(request.size / MIN_BYTES_PER_TOKEN, request.most_out)
        while self._spent + self._reserved + most > money:
            if self.closing:
                raise RequestNotSent
            if not self._begun:
                raise BudgetSpent
            self._freed.clear()
            await self._freed.wait()
        request.money = most
        self._reserved += most

    async def _take_turn(self, request: PendingRequest) -> None:
        allowed = self._allowance
        if allowed.requests_per_minute is None and allowed.tokens_per_minute is None:
            return
        request.tokens = request.size / BYTES_PER_TOKEN + request.criteria * self._tokens_out / self._answered
        loop = asyncio.get_running_loop()
        # One request waits, the others queue behind it, so that a new division of the limits takes effect at once.
        async with self._turns:
            if self.closing:
                return
            now = loop.time()
            each, of_token = self._pace()
            if self._next_request is None or self._next_token is None:
                self._next_request = self._next_token = now
                if not allowed.fresh:
                    self._next_request, self._next_token = now + each, now + request.tokens * of_token
            wait = max(self._next_request, self._next_token) - now
            if wait > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closed.wait(), wait)
            now = loop.time()
            each, of_token = self._pace()  # the limits may have been divided meanwhile
            self._next_request = max(now, self._next_request) + each
            self._next_token = max(now, self._next_token) + request.tokens * of_token

    def _pace(self) -> tuple[float, float]:
        """Seconds that a request takes of the requests per minute, and a token of the tokens per minute."""
        allowed = self._allowance
        return (
            60 * self._active_workers / allowed.requests_per_minute if allowed.requests_per_minute else 0.0,
            60 * self._active_workers / allowed.tokens_per_minute if allowed.tokens_per_minute else 0.0,
        )

    def free(self, request: PendingRequest) -> None:
        """Settle a request that began and is not billed."""
        self._settle(request, 0.0)

    def unanswered(self, request: PendingRequest) -> Usage:
        """Settle a request that was sent without a known result: it counts with the longest possible answer."""
        usage = Usage(request.size // BYTES_PER_TOKEN, request.most_out, estimated=True)
        self._settle(request, self._allowance.cost(usage.tokens_in, usage.tokens_out))
        return usage

    def answered(self, request: PendingRequest, tokens_in: int | None, tokens_out: int | None, length: int) -> Usage:
        """Settle a request that was answered with ``length`` bytes."""
        usage = Usage(
            tokens_in=request.size // BYTES_PER_TOKEN if tokens_in is None else tokens_in,
            tokens_out=min(length // BYTES_PER_TOKEN, request.most_out) if tokens_out is None else tokens_out,
            estimated=tokens_in is None or tokens_out is None,
        )
        if self._allowance.tokens_per_minute is not None and self._next_token is not None:
            more = usage.tokens_in + usage.tokens_out - request.tokens
            self._next_token += more * 60 * self._active_workers / self._allowance.tokens_per_minute
            self._tokens_out += usage.tokens_out
            self._answered += request.criteria
        self._settle(request, self._allowance.cost(usage.tokens_in, usage.tokens_out))
        return usage

    def _settle(self, request: PendingRequest, money: float) -> None:
        self._begun -= 1
        self._spent += money
        self._reserved = self._reserved - request.money if self._begun else 0.0
        self._freed.set()
