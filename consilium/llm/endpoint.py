"""Which endpoint a judge calls, how, and whether it may."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from consilium.llm.errors import EndpointRefused

# Only variables that are named as keys of an endpoint: SECRET_KEY or DATABASE_URL must not be sent anywhere.
KEY_NAME = re.compile(r"\A[A-Z][A-Z0-9_]*_API_KEY\Z|\AJUDGE_KEY(_[A-Z0-9_]+)?\Z")
ResponseFormat = Literal["json_schema", "json_object", "text"]

VERDICT_SCHEMA: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"explanation": {"type": "string"}, "criteria_met": {"type": "boolean"}},
            "required": ["explanation", "criteria_met"],
            "additionalProperties": False,
        },
    },
}


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is tried, and how long it waits in between; every number is a bound."""

    attempts: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 20.0
    longest_retry_after_s: float = 30.0
    # How often a model is asked again after an answer that is no verdict.
    re_asks: int = 2


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible chat endpoint: ``url`` ends where ``/chat/completions`` is to follow."""

    url: str
    model: str
    key_env: str = ""
    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int = 1024
    timeout_s: float = 60.0
    concurrency: int = 16
    response_format: ResponseFormat = "json_object"
    maximum_bytes: int = 1_000_000
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def parameters(self, *, replicate: int = 0) -> dict[str, Any]:
        """The request without its messages."""
        made: dict[str, Any] = {"model": self.model, "max_tokens": self.max_tokens}
        if self.temperature is not None:
            made["temperature"] = self.temperature
        if self.seed is not None:
            made["seed"] = self.seed + replicate
        if self.response_format == "json_schema":
            made["response_format"] = VERDICT_SCHEMA
        elif self.response_format == "json_object":
            made["response_format"] = {"type": "json_object"}
        return made


def check_url(url: str, allowed_hosts: Collection[str]) -> str:
    """``url`` without a trailing slash, if the operator lets it be called; `EndpointRefused` with the reason if not.

    ``allowed_hosts`` holds ``name`` (any port) or ``name:port``. Names are compared as they are written: another
    spelling of an address (octal, IPv6-mapped) is another name.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise EndpointRefused("This is not an address.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EndpointRefused("The address must begin with http:// or https:// and name a host.")
    if parts.username is not None or parts.password is not None:
        raise EndpointRefused("The address must not hold a user name or password; name the key’s variable instead.")
    if parts.query or parts.fragment or re.search(r"[\s\\]|[^\x21-\x7e]", url):
        raise EndpointRefused("The address must be plain: no query, no fragment, no spaces.")
    host = parts.hostname.lower()
    real_port = port or (443 if parts.scheme == "https" else 80)
    written = f"[{host}]" if ":" in host else host
    allowed = {name.strip().lower() for name in allowed_hosts}
    if not allowed & {host, written, f"{written}:{real_port}"}:
        raise EndpointRefused(
            f"“{written}:{real_port}” is not on the operator’s list of hosts that judges may call "
            "(JUDGE_ALLOWED_HOSTS)."
        )
    return url.rstrip("/")


def check_key_name(name: str) -> str:
    """``name`` if it may hold a judge's key; `EndpointRefused` if not."""
    if name and not KEY_NAME.match(name):
        raise EndpointRefused(
            "Name an environment variable that ends in _API_KEY, or begins with JUDGE_KEY. The key itself is never "
            "entered here."
        )
    return name


def read_key(name: str, environ: Mapping[str, str]) -> str:
    """The key; empty where the endpoint needs none. `EndpointRefused` where the variable is not set."""
    if not check_key_name(name):
        return ""
    key = environ.get(name, "").strip()
    if not key:
        raise EndpointRefused(f"The environment variable {name} is not set where the worker runs.")
    if not key.isascii() or not key.isprintable():
        raise EndpointRefused(f"The environment variable {name} holds something that cannot be sent as a key.")
    return key


def check_address(address: str) -> None:
    """Refuse what no judge lives at, whichever name led there: link-local (cloud metadata), multicast, unspecified."""
    found: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    if found.is_link_local or found.is_multicast or found.is_unspecified:
        raise EndpointRefused(f"The host’s address {found} is not one that judges may call.")
