"""One verdict from an endpoint: ask, read strictly, ask again a bounded number of times."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from consilium.llm.client import ChatClient
from consilium.llm.errors import ContentError, TransportError
from consilium.llm.parsing import ParsedVerdict, parse_verdict
from consilium.llm.prompts import Messages


@dataclass(frozen=True, slots=True)
class Call:
    """One exchange with the endpoint, as it is kept. ``error_kind`` is empty where it gave a verdict."""

    attempt: int
    raw: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_ms: int | None = None
    error_kind: str = ""
    error: str = ""


@dataclass(slots=True)
class Judgement:
    """What asking came to. ``verdict`` or ``invalid``; neither of them: the endpoint failed and nothing is known."""

    calls: list[Call] = field(default_factory=list)
    verdict: ParsedVerdict | None = None
    invalid: bool = False

    @property
    def missing(self) -> bool:
        return self.verdict is None and not self.invalid


async def judge(client: ChatClient, messages: Messages, *, replicate: int = 0) -> Judgement:
    """Ask for a verdict. Content that is none is asked for again; transport that fails leaves it missing.

    Does not raise for anything that an endpoint can do.
    """
    made = Judgement()
    for _ in range(client.endpoint.retry.re_asks + 1):
        number = len(made.calls) + 1
        try:
            reply = await client.ask(messages, replicate=replicate)
        except TransportError as error:
            made.calls.append(Call(number, error_kind=error.kind, error=f"{error.message} (tries: {error.attempts})"))
            return made
        except ContentError as error:
            made.calls.append(Call(number, raw=error.raw, error_kind=error.kind, error=error.message))
            continue
        call = Call(number, reply.text, reply.tokens_in, reply.tokens_out, reply.latency_ms)
        try:
            made.verdict = parse_verdict(reply.text)
        except ContentError as error:
            made.calls.append(replace(call, error_kind=error.kind, error=error.message))
            continue
        made.calls.append(call)
        return made
    made.invalid = True
    return made
