"""A chat completion by rules: from a request as it is sent to an answer as an endpoint sends it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from consilium.llm.rules.misbehaving import MISBEHAVING, draw_of, written
from consilium.llm.rules.names import INSTRUCTIONS, MODEL
from consilium.llm.rules.stages import answer_of
from consilium.llm.staged import UnreadableRequest, read_fences, read_instructions, read_stage

MODELS = (MODEL, *MISBEHAVING)
CHARACTERS_A_TOKEN = 4


def completion(request: Mapping[str, Any]) -> dict[str, Any]:
    """What the rules answer; `UnreadableRequest` where they cannot."""
    messages = _messages(request)
    stage = read_stage(messages)
    texts = {**read_fences(messages), INSTRUCTIONS: read_instructions(messages)}
    answer = answer_of(stage, texts)
    misbehave = MISBEHAVING.get(str(request["model"]))
    text = written(answer) if misbehave is None else misbehave(stage, answer, texts, draw_of(request))
    return envelope(request, text)


def _messages(request: Mapping[str, Any]) -> list[dict[str, str]]:
    messages = request.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise UnreadableRequest("messages are a list of objects with role and content")
    if request.get("stream") or request.get("n", 1) != 1:
        raise UnreadableRequest("there is one choice, in one piece")
    return messages


def envelope(request: Mapping[str, Any], text: str, logprobs: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The chat completion with a text, cut to the tokens that the request allows; 4 characters count as a token."""
    most = request.get("max_tokens")
    cut = text[: most * CHARACTERS_A_TOKEN] if isinstance(most, int) and most > 0 else text
    tokens_in = _tokens("".join(str(message.get("content", "")) for message in request["messages"]))
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": cut},
        "finish_reason": "stop" if cut == text else "length",
    }
    if logprobs is not None:
        choice["logprobs"] = {"content": logprobs}
    usage = {"prompt_tokens": tokens_in, "completion_tokens": _tokens(cut)}
    digest = sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    return {
        "id": f"rules-{digest[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [choice],
        "usage": {**usage, "total_tokens": sum(usage.values())},
    }


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_A_TOKEN)
