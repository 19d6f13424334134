"""One request before a judge is saved: whether its endpoint takes the key, the model and the settings."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from django.conf import settings
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.core.i18n import translate
from consilium.llm.client import ChatClient
from consilium.llm.endpoint import Endpoint, RetryPolicy
from consilium.llm.errors import ContentError, EndpointRefused, TransportError
from consilium.llm.prompts import Messages, body_of
from rubrics.models import Benchmark
from scoring.judges.config import AskingConfig
from scoring.keys.grants import require_keys

# A page waits for the answer.
MAX_SECONDS = 15.0
# Endpoints that are told to answer in JSON want to see the word in the request.
QUESTION = 'Answer with this JSON object and nothing else: {"explanation": "test", "criteria_met": true}'


class EndpointCheckFailed(DomainError):
    """The endpoint refused the request or gave no usable answer. The message says what to do."""


def asked_once(config: AskingConfig, *, timeout_s: float) -> Endpoint:
    """The endpoint of a judge for a single request that somebody waits for."""
    endpoint = config.for_client()
    return replace(
        endpoint, timeout_s=min(endpoint.timeout_s, timeout_s), retry=RetryPolicy(attempts=1, re_asks=0), concurrency=1
    )


def check_endpoint(
    benchmark: Benchmark, config: AskingConfig, messages: Messages | None = None, *, seconds: float = MAX_SECONDS
) -> None:
    """Send one request, ``messages`` or a short one; `EndpointCheckFailed` unless the model answers.

    `InvalidConfig` where the benchmark may not use the key. What the model answers does not matter.
    """
    endpoint = asked_once(config, timeout_s=min(seconds, MAX_SECONDS))
    require_keys(benchmark, {"": endpoint})
    body = body_of(messages or [{"role": "user", "content": QUESTION}], endpoint.parameters())

    async def once() -> None:
        async with ChatClient(
            endpoint, allowed_hosts=settings.JUDGE_ALLOWED_HOSTS, bound_keys=settings.ENDPOINT_KEYS
        ) as client:
            await client.ask(body)

    try:
        asyncio.run(once())
    except ContentError:
        return  # the model answered
    except EndpointRefused as refused:
        raise EndpointCheckFailed(translate(refused.args[0])) from None
    except TransportError as error:
        answer = _("The endpoint check failed (%(answer)s).") % {"answer": error.message}
        raise EndpointCheckFailed(f"{answer} {how_to_fix(error.kind, config)}") from None


def how_to_fix(kind: str, config: AskingConfig) -> str:
    """What to do about a request that failed: ``kind`` is that of a `TransportError`."""
    match kind:
        case "http_401" | "http_403" if config.key_env:
            return _(
                "The endpoint refused the key. Check the value of %(name)s in the environment of web and worker, and "
                "restart both."
            ) % {"name": config.key_env}
        case "http_401" | "http_403":
            return _("The endpoint requires a key. Enter the name of the environment variable that contains it.")
        case "http_404":
            return _("Check the name of the model and the address. The address usually ends in /v1.")
        case "http_400" | "http_422":
            return _(
                "The endpoint refused the settings. Check the model, the answer format, the temperature and the seed."
            )
        case "http_429":
            return _("The endpoint is busy, or your quota is used up. Try again later.")
        case "redirect" | "envelope":
            return _("This is not an OpenAI-compatible chat endpoint. Check the address. It usually ends in /v1.")
        case "timeout":
            return _("Check that the model is loaded, or try again later.")
        case "dns" | "refused" | "tls" | "disconnected":
            return _("Check the address, and that the endpoint is running and can be reached from this server.")
        case _:
            return _("Try again later.")
