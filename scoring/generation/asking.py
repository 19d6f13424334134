"""Turns a case into a request, and its answer into a response to store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from consilium.llm.errors import ContentError
from consilium.llm.prompts import Messages
from rubrics.parsing.self_identification import self_identification
from scoring.generation.config import GenerationConfig
from scoring.pipelines.kind import Answer, FinishedStep, Output, StepRequest

MESSAGES_ENDPOINT = "model"
# Kinds of content errors whose text is unusable as a judge's verdict, but is a response: a user would have seen it.
CUT, REFUSED = "truncated", "refusal"
MAX_QUOTE_LENGTH = 200


def messages_of(config: GenerationConfig, conversation: list[dict[str, Any]]) -> Messages:
    """The system prompt, then the messages of the case, framed where the run frames it.

    A system message of the case itself is kept.
    """
    turns = config.turns_of(conversation)
    return [{"role": "system", "content": config.system_prompt}, *turns] if config.system_prompt else turns


def request_for(config: GenerationConfig, conversation: list[dict[str, Any]], sample: int) -> StepRequest:
    """The request for a sample; samples that are sent the same request are drawn independently."""
    return StepRequest(MESSAGES_ENDPOINT, messages_of(config, conversation), config.parameters(sample), draw=sample)


def response_of(answer: Answer, *, candidate: str, framed: bool) -> Output:
    """The response as the output of its step: text, what the endpoint said of it, and whether it names its author.

    ``framed`` is part of it only where it is true: outputs of runs without a framing are as they always were.

    `ContentError` for an answer without a text, also where it was cut before the first word.
    """
    if answer.fault not in ("", CUT, REFUSED) or not answer.text.strip():
        raise ContentError(answer.fault or "empty", answer.message or "the model gave no text", answer.text)
    output: Output = {
        "text": answer.text,
        "model": answer.model,
        "finish_reason": answer.finish,
        "truncated": answer.fault == CUT,
        "refused": answer.fault == REFUSED,
        "names_its_author": (self_identification(answer.text, candidate) or "")[:MAX_QUOTE_LENGTH],
    }
    return {**output, "framed": True} if framed else output


def kept_with(step: FinishedStep, config: GenerationConfig, *, run: str, at: datetime) -> dict[str, Any]:
    """The metadata of a response: what it depended on, the endpoint's data on it, and whether it names its author.

    Token counts that the endpoint did not report are left out: they would be estimates among counts.
    """
    output = step.output
    generation: dict[str, Any] = {
        "run": run,
        "model": output["model"] or config.model,
        "settings": config.settings(framed=bool(output.get("framed"))),
        "date": at.astimezone(UTC).isoformat(timespec="seconds"),
        "finish_reason": output["finish_reason"],
        "latency_ms": step.latency_ms,
    }
    if config.seed is not None:
        generation["seed"] = config.seed + int(step.name.key)
    if step.tokens_in is not None and step.tokens_out is not None:
        generation |= {"tokens_in": step.tokens_in, "tokens_out": step.tokens_out}
    for name in ("truncated", "refused"):
        if output[name]:
            generation[name] = True
    metadata: dict[str, Any] = {"generation": generation}
    if output["names_its_author"]:
        metadata["self_identification"] = output["names_its_author"]
    return metadata
