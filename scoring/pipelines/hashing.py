"""Digests of inputs and hashes of requests, the same on every machine, and the nonces of fences. Pure but for keys."""

from __future__ import annotations

import hashlib
import hmac
import json
from functools import cache
from typing import Any

from django.utils.crypto import salted_hmac

from consilium.llm.prompts import NONCE_CHARACTERS, body_of, hash_of_body
from scoring.pipelines.kind import StepRequest


def canonical(value: Any) -> str:
    """JSON values as one text: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def digest_of(text: str) -> str:
    """SHA-256 of a text, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _fence_key() -> bytes:
    return salted_hmac("consilium.pipeline.nonce", b"", algorithm="sha256").digest()


def nonce_for_input(text: str) -> str:
    """The nonce for the fences of a request, from its input in `canonical` form; nobody without the key knows it."""
    return hmac.new(_fence_key(), text.encode(), hashlib.sha256).hexdigest()[:NONCE_CHARACTERS]


def hash_of_request(body: bytes, nonce: str, *, draw: int = 0) -> str:
    """`consilium.llm.prompts.request_hash` of a request, from its body; it tells apart draws of the same request.

    Messages and all parameters are in it, the nonce and the address of the endpoint are not.
    """
    digest = hash_of_body(body, nonce)
    return digest_of(f"{digest} {draw}") if draw else digest


def body_of_request(request: StepRequest, *, fault: str = "", left_out: tuple[str, ...] = ()) -> bytes:
    """A request as it is sent; ``fault`` says what was wrong with the last answer to it."""
    messages = request.messages
    if fault:
        last = messages[-1]
        messages = [*messages[:-1], {**last, "content": f"{last['content']}\n\n{_AGAIN % fault}"}]
    return body_of(messages, {name: value for name, value in request.parameters.items() if name not in left_out})


_AGAIN = "Your last answer to this was not accepted (%s). Answer again, in exactly the form that is asked for."
