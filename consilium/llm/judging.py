"""Gets verdicts from an endpoint: sends a request, parses strictly, repeats a bounded number of times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from consilium.llm.client import ChatClient
from consilium.llm.errors import ContentError, TransportError
from consilium.llm.meter import RequestNotSent, Usage
from consilium.llm.parsing import ParsedVerdict, parse_verdict, parse_verdicts, storable
from consilium.llm.prompts import Messages, body_of


@dataclass(frozen=True, slots=True)
class Call:
    """One exchange with the endpoint; its text is cut for storage. ``error_kind`` is empty where it gave verdicts."""

    attempt: int
    raw: str = ""
    usage: Usage | None = None
    latency_ms: int | None = None
    error_kind: str = ""
    error: str = ""
    by_rules: bool = False  # `ChatClient.by_rules`


Answer = TypeVar("Answer")


@dataclass(slots=True)
class Judgement(Generic[Answer]):
    """The result of a request: ``verdicts``, or other answers, or ``invalid``; with neither, nothing is known."""

    calls: list[Call] = field(default_factory=list)
    verdicts: tuple[Answer, ...] = ()
    invalid: bool = False
    failed: bool = False  # the endpoint gave no answer

    @property
    def verdict(self) -> Answer | None:
        """The one verdict, where one thing was asked about."""
        return self.verdicts[0] if self.verdicts else None

    @property
    def missing(self) -> bool:
        """Whether nothing is known."""
        return not self.verdicts and not self.invalid


async def judge(
    client: ChatClient, messages: Messages, *, replicate: int = 0, criteria: int | None = None
) -> Judgement[ParsedVerdict]:
    """Ask for a verdict, or for as many verdicts as ``criteria`` in one answer; see `judge_body`."""
    parameters = client.endpoint.parameters(replicate=replicate, criteria=criteria)
    return await judge_body(client, body_of(messages, parameters), criteria=criteria)


async def judge_body(client: ChatClient, body: bytes, *, criteria: int | None = None) -> Judgement[ParsedVerdict]:
    """Ask for verdicts with a request body that is already written (`ask_strictly`)."""

    def parse(text: str) -> tuple[ParsedVerdict, ...]:
        return (parse_verdict(text),) if criteria is None else parse_verdicts(text, criteria)

    return await ask_strictly(client, body, parse, criteria=criteria)


async def ask_strictly(
    client: ChatClient, body: bytes, parse: Callable[[str], tuple[Answer, ...]], *, criteria: int | None = None
) -> Judgement[Answer]:
    """Ask with ``body`` for what ``parse`` reads; it raises `ContentError` for every other answer.

    An answer that is none is asked for again. After a failed transport the judgement is missing, as it is if the
    budget is used up in between or the client is closing. Nothing that an endpoint does raises an error here;
    `RequestNotSent` is raised if no request could be sent.
    """
    judgement: Judgement[Answer] = Judgement()
    for _ in range(client.endpoint.retry.re_asks + 1):
        number = len(judgement.calls) + 1
        if number > 1 and client.closing:
            return judgement
        try:
            reply = await client.ask(body, criteria=criteria)
        except RequestNotSent:
            if not judgement.calls:
                raise
            return judgement
        except TransportError as error:
            message = f"{error.message} (tries: {error.attempts})"
            judgement.calls.append(Call(number, usage=error.usage, error_kind=error.kind, error=message))
            judgement.failed = True
            return judgement
        except ContentError as error:
            judgement.calls.append(
                Call(
                    number,
                    storable(error.raw),
                    error.usage,
                    error.latency_ms,
                    error.kind,
                    error.message,
                    client.by_rules(error.model),
                )
            )
            continue
        try:
            judgement.verdicts = parse(reply.text)
        except ContentError as error:
            raw = storable(reply.text)
            judgement.calls.append(
                Call(number, raw, reply.usage, reply.latency_ms, error.kind, error.message, reply.by_rules)
            )
            continue
        judgement.calls.append(
            Call(number, storable(reply.text), reply.usage, reply.latency_ms, "", "", reply.by_rules)
        )
        return judgement
    judgement.invalid = True
    return judgement
