"""Turns a case into a request, and its answer into a response to store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from consilium.llm.client import ChatClient
from consilium.llm.errors import ContentError, TransportError
from consilium.llm.judging import Call
from consilium.llm.meter import Usage
from consilium.llm.parsing import storable
from consilium.llm.prompts import Messages, body_of
from rubrics.parsing.self_identification import self_identification
from scoring.generation.config import GenerationConfig

MAX_TEXT_LENGTH = 1_000_000
# Kinds of content errors whose text is unusable as a judge's verdict, but is a response: a user would have seen it.
CUT, REFUSED = "truncated", "refusal"


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A response that is due."""

    item: int
    case: int
    sample: int
    conversation: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a request: a ``text``, or the ``kind`` of error. ``failed``: the endpoint did not answer."""

    task: ResponseRequest
    text: str = ""
    model: str = ""
    finish: str = ""
    cut: bool = False
    refused: bool = False
    usage: Usage | None = None
    latency_ms: int | None = None
    kind: str = ""
    error: str = ""
    failed: bool = False
    calls: Sequence[Call] = field(default=())

    @property
    def about(self) -> int:
        """The id of the case whose response was requested."""
        return self.task.case


def messages_of(config: GenerationConfig, conversation: list[dict[str, Any]]) -> Messages:
    """The system prompt, then the messages of the case; a system message of the case itself is kept."""
    turns = [{"role": str(turn["role"]), "content": str(turn["content"])} for turn in conversation]
    return [{"role": "system", "content": config.system_prompt}, *turns] if config.system_prompt else turns


async def ask(client: ChatClient, config: GenerationConfig, task: ResponseRequest) -> Answer:
    """Ask for one response; `RequestNotSent` if no request was sent. No failure of the endpoint raises an error."""
    body = body_of(messages_of(config, task.conversation), config.parameters(task.sample))
    try:
        reply = await client.ask(body)
    except TransportError as error:
        message = f"{error.message} (tries: {error.attempts})"
        call = Call(error.attempts, usage=error.usage, error_kind=error.kind, error=message)
        return Answer(task, usage=error.usage, kind=error.kind, error=message, failed=True, calls=(call,))
    except ContentError as error:
        call = Call(1, usage=error.usage, latency_ms=error.latency_ms, error_kind=error.kind, error=error.message)
        known: dict[str, Any] = {
            "model": error.model,
            "finish": error.finish or error.kind,
            "usage": error.usage,
            "latency_ms": error.latency_ms,
            "calls": (call,),
        }
        if error.kind in (CUT, REFUSED) and error.raw.strip():
            text = storable(error.raw, MAX_TEXT_LENGTH)
            return Answer(task, text, cut=error.kind == CUT, refused=error.kind == REFUSED, **known)
        return Answer(task, kind=error.kind, error=error.message, **known)
    call = Call(reply.attempts, usage=reply.usage, latency_ms=reply.latency_ms)
    known = {
        "model": reply.model,
        "finish": reply.finish,
        "usage": reply.usage,
        "latency_ms": reply.latency_ms,
        "calls": (call,),
    }
    if not reply.text.strip():
        return Answer(task, kind="empty", error="the model gave no text", **known)
    return Answer(task, storable(reply.text, MAX_TEXT_LENGTH), **known)


def kept_with(answer: Answer, config: GenerationConfig, *, run: str, candidate: str, at: datetime) -> dict[str, Any]:
    """The metadata of a response: what it depended on, the endpoint's data on it, and whether it names its author.

    Token counts that the endpoint did not report are left out: they would be estimates among counts.
    """
    counted = answer.usage if answer.usage is not None and not answer.usage.estimated else None
    generation: dict[str, Any] = {
        "run": run,
        "model": answer.model or config.model,
        "settings": config.settings(),
        "date": at.astimezone(UTC).isoformat(timespec="seconds"),
        "finish_reason": answer.finish,
        "latency_ms": answer.latency_ms,
    }
    if config.seed is not None:
        generation["seed"] = config.seed + answer.task.sample
    if counted is not None:
        generation |= {"tokens_in": counted.tokens_in, "tokens_out": counted.tokens_out}
    if answer.cut:
        generation["truncated"] = True
    if answer.refused:
        generation["refused"] = True
    metadata: dict[str, Any] = {"generation": generation}
    if quote := self_identification(answer.text, candidate):
        metadata["self_identification"] = quote[:200]
    return metadata
