"""Errors of a judge's request: the two ways in which it fails, and requests that are not allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilium.core.errors import DomainError

if TYPE_CHECKING:
    from consilium.llm.meter import Usage


class EndpointRefused(DomainError):
    """The operator's list does not let this endpoint be called, or its address or key is not usable."""


class TransportError(Exception):
    """No answer came; ``kind`` tells why.

    ``retry_after`` is the wait that the endpoint asked for, in seconds. ``usage`` is what the tries may have cost, if
    they were sent.

    Kinds: ``timeout``, ``refused`` (no connection), ``not_allowed`` (by our own list), ``dns``, ``tls``,
    ``disconnected`` (cut in the middle), ``http_429``, ``http_5xx``, ``http_4xx`` (the status itself), ``redirect``,
    ``envelope`` (a 200 that is no chat completion, such as a gateway's HTML page).
    """

    def __init__(self, kind: str, message: str, *, retry: bool = True, retry_after: float | None = None) -> None:
        self.kind = kind
        self.message = message
        self.retry = retry
        self.retry_after = retry_after
        self.attempts = 1
        self.usage: Usage | None = None
        super().__init__(f"{kind}: {message}")


# Statuses after which another try, or one after a while, may succeed.
PASSING_STATUSES = (408, 409, 425, 429)


def may_pass(kind: str) -> bool:
    """Whether a failure of this kind may pass after a while; that of a wrong key or a wrong address will not."""
    if kind.startswith("http_4"):
        return kind in {f"http_{status}" for status in PASSING_STATUSES}
    return kind not in ("", "redirect", "tls", "not_allowed")


def may_be_the_text(kind: str) -> bool:
    """Whether a failure of this kind may be due to the text of the request: too long, too slow, held back."""
    refusals = ("http_400", "http_403", "http_413", "http_422", "http_451")
    return kind in ("timeout", "disconnected", "envelope", "http_5xx", *refusals)


# Kinds for which the request was sent and may be billed, while its usage is not known.
BILLED_KINDS = ("timeout", "disconnected", "envelope")


class ContentError(Exception):
    """The model answered, but not with a verdict. ``kind`` tells what is wrong; ``raw`` is its answer.

    Kinds: ``empty``, ``refusal``, ``truncated``, ``too_large``, ``nul``, ``not_json``, ``trailing_text``,
    ``not_an_object``, ``duplicate_key``, ``missing_field``, ``extra_field``, ``wrong_type``, ``wrong_numbers``.
    ``usage``, ``latency_ms``, ``model`` and ``finish`` are set where the answer came from an endpoint.
    """

    def __init__(self, kind: str, message: str, raw: str = "") -> None:
        self.kind = kind
        self.message = message
        self.raw = raw
        self.usage: Usage | None = None
        self.latency_ms: int | None = None
        self.model = ""
        self.finish = ""
        super().__init__(f"{kind}: {message}")
