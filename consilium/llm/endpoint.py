"""The endpoint of a judge: its URL, how it is called, and whether it is allowed.

`check_url`, `allows_private` and `check_address` hold for every host that the operator lists, whatever is asked of it.
A key goes only to hosts that the operator bound it to (`check_key_host`).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from consilium.core.phrases import Phrase
from consilium.llm.errors import EndpointRefused

# Only variables that are named as keys of an endpoint: SECRET_KEY or DATABASE_URL must not be sent anywhere.
KEY_NAME = re.compile(r"\A[A-Z][A-Z0-9_]*_API_KEY\Z|\AJUDGE_KEY(_[A-Z0-9_]+)?\Z")
# Written behind a host on the operator's list: this name may lead to a private address.
PRIVATE = "@private"
ResponseFormat = Literal["json_schema", "json_object", "text"]

_VERDICT_FIELDS: dict[str, Any] = {"explanation": {"type": "string"}, "criteria_met": {"type": "boolean"}}


def object_schema(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def answer_schema(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


VERDICT_SCHEMA = answer_schema("verdict", object_schema(_VERDICT_FIELDS))
_ENTRY = object_schema({"number": {"type": "integer"}, **_VERDICT_FIELDS})
VERDICTS_SCHEMA = answer_schema("verdicts", object_schema({"verdicts": {"type": "array", "items": _ENTRY}}))
# The most that is asked for in one answer about several criteria: many models write no more.
MAX_TOKENS = 16_384
MIN_KEY_LENGTH = 8


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is tried, and how long the client waits in between; every number is a bound."""

    attempts: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 20.0
    longest_retry_after_s: float = 30.0
    # How often a model is asked again after an answer that is no verdict.
    re_asks: int = 2
    # Whether a try is repeated that was sent and may be billed though no answer came. Without it a request costs at
    # most what was reserved for one try.
    repeat_billed: bool = True


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
    maximum_bytes: int = 500_000
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def most_tokens_out(self, criteria: int) -> int:
        """The maximum length of an answer about this many criteria, in tokens."""
        return min(self.max_tokens * criteria, max(self.max_tokens, MAX_TOKENS))

    def parameters(
        self, *, replicate: int = 0, criteria: int | None = None, schema: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The request without its messages; ``criteria``: how many it asks about together, None for a single one.

        ``schema``: that of the answer (`answer_schema`) where it is no verdict.
        """
        parameters: dict[str, Any] = {"model": self.model, "max_tokens": self.most_tokens_out(criteria or 1)}
        if self.temperature is not None:
            parameters["temperature"] = self.temperature
        if self.seed is not None:
            parameters["seed"] = self.seed + replicate
        if self.response_format == "json_schema":
            parameters["response_format"] = schema or (VERDICT_SCHEMA if criteria is None else VERDICTS_SCHEMA)
        elif self.response_format == "json_object":
            parameters["response_format"] = {"type": "json_object"}
        return parameters


# The settings with the operator's lists, as messages name them: of hosts, and of keys with their hosts.
JUDGE_HOSTS = "JUDGE_ALLOWED_HOSTS"
ENDPOINT_KEYS = "ENDPOINT_KEYS"


def check_url(url: str, allowed_hosts: Collection[str], *, setting: str = JUDGE_HOSTS, with_query: bool = False) -> str:
    """``url`` without a trailing slash, if the operator lets it be called; `EndpointRefused` with the reason if not.

    ``setting`` is where ``allowed_hosts`` comes from. An address ``with_query`` may have one, and keeps its last slash.
    ``allowed_hosts`` holds ``name`` (any port) or ``name:port``, either with ``@private`` behind it
    (`allows_private`). Names are compared as they are written: another spelling of an address (octal, IPv6-mapped) is
    another name. A public host is called by https alone (`allows_http`).
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise EndpointRefused(Phrase("This is not a valid address.")) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EndpointRefused(Phrase("The address must begin with http:// or https:// and include a host name."))
    if parts.username is not None or parts.password is not None:
        raise EndpointRefused(
            Phrase(
                "The address must not contain a user name or password. Enter the name of the key’s variable instead."
            )
        )
    if (parts.query and not with_query) or parts.fragment or re.search(r"[\s\\]|[^\x21-\x7e]", url):
        raise EndpointRefused(Phrase("The address must not contain a query, a fragment or spaces."))
    if not _entries_for(url, allowed_hosts):
        host = parts.hostname.lower()
        written = f"[{host}]" if ":" in host else host
        raise EndpointRefused(
            Phrase(
                "“%(host)s” is not on the operator’s list of allowed hosts (now: %(allowed)s). The server "
                "administrator can add it to %(setting)s in the environment of web and worker, and restart both; see "
                "docs/operating.md.",
                host=f"{written}:{port or _port(parts.scheme)}",
                allowed=", ".join(sorted(entry.removesuffix(PRIVATE) for entry in allowed_hosts)) or "–",
                setting=setting,
            )
        )
    if parts.scheme == "http" and not allows_http(url, allowed_hosts):
        raise EndpointRefused(
            Phrase(
                "“%(host)s” is a public host, so it must be called by https. If the host is in a private network, the "
                "server administrator can add %(mark)s after its name in %(setting)s.",
                host=parts.hostname,
                mark=PRIVATE,
                setting=setting,
            )
        )
    return url if with_query else url.rstrip("/")


def _port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _entries_for(url: str, allowed_hosts: Collection[str]) -> list[str]:
    """The operator's entries that let ``url`` be called."""
    names = _names_of(url)
    entries = [entry.strip().lower() for entry in allowed_hosts]
    return [entry for entry in entries if entry.removesuffix(PRIVATE) in names]


def _names_of(url: str) -> set[str]:
    """How a list of hosts may name the host of ``url``: with its port, or without."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    written = f"[{host}]" if ":" in host else host
    return {host, written, f"{written}:{parts.port or _port(parts.scheme)}"}


def check_key_name(name: str) -> str:
    """``name`` if it may hold a judge's key; `EndpointRefused` if not."""
    if name and not KEY_NAME.match(name):
        raise EndpointRefused(
            Phrase(
                "Enter the name of an environment variable that ends in _API_KEY or begins with "
                "JUDGE_KEY. Never enter the key itself here."
            )
        )
    return name


def hosts_of_keys(bindings: Collection[str]) -> dict[str, list[str]]:
    """The hosts to which each key may be sent, by the key's name. ``bindings`` holds ``NAME@host`` or
    ``NAME@host:port``, once for each host of a key; entries that `binding_is_usable` refuses bind nothing.
    """
    hosts: dict[str, list[str]] = {}
    for entry in bindings:
        if binding_is_usable(entry):
            name, _at, host = entry.strip().partition("@")
            hosts.setdefault(name, []).append(host.lower())
    return hosts


def binding_is_usable(entry: str) -> bool:
    """Whether an entry of the operator's list of keys binds a key to a host."""
    name, _at, host = entry.strip().partition("@")
    return bool(KEY_NAME.match(name) and re.fullmatch(r"[^\s/@]+", host))


def check_key_host(name: str, url: str, bindings: Collection[str]) -> None:
    """Refuse to send the key called ``name`` to the host of ``url`` unless the operator bound it to that host."""
    if not check_key_name(name):
        return
    hosts = hosts_of_keys(bindings).get(name, [])
    if _names_of(url).isdisjoint(hosts):
        host = urlsplit(url).netloc
        raise EndpointRefused(
            Phrase(
                "The key %(name)s is not bound to %(host)s (now: %(hosts)s). The server administrator can add "
                "%(entry)s to %(setting)s in the environment of web and worker, and restart both; see "
                "docs/operating.md.",
                name=name,
                host=host,
                hosts=", ".join(sorted(hosts)) or "–",
                entry=f"{name}@{host}",
                setting=ENDPOINT_KEYS,
            )
        )


def read_key(name: str, environ: Mapping[str, str]) -> str:
    """The key; empty where the endpoint needs none. `EndpointRefused` where the variable is not set."""
    if not check_key_name(name):
        return ""
    key = environ.get(name, "").strip()
    if not key:
        raise EndpointRefused(Phrase("The environment variable %(name)s is not set where the worker runs.", name=name))
    if len(key) < MIN_KEY_LENGTH:
        # Keys are removed from every answer of an endpoint; so short a key could also remove parts of verdicts.
        raise EndpointRefused(f"The environment variable {name} holds fewer than {MIN_KEY_LENGTH} characters.")
    if not key.isascii() or not key.isprintable():
        raise EndpointRefused(
            Phrase("The value of the environment variable %(name)s cannot be sent as a key.", name=name)
        )
    return key


# Private by their form: names that public name servers do not answer for (RFC 6761, 6762, 8375, ICANN's .internal).
_PRIVATE_SUFFIXES = (
    *(".corp", ".home", ".home.arpa", ".internal", ".intranet", ".lan"),
    *(".local", ".localhost", ".private", ".test"),
)
# Addresses at which clouds give their machines secrets, beside link-local ones: Alibaba, Amazon, Azure, Oracle.
_METADATA = frozenset(map(ipaddress.ip_address, ("100.100.100.200", "fd00:ec2::254", "168.63.129.16", "192.0.0.192")))
# IPv6 addresses whose last 32 bits are an IPv4 address: compatible, mapped, NAT64.
_LAST_32_BITS = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0/96", "64:ff9b::/96")))
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def allows_private(url: str, allowed_hosts: Collection[str]) -> bool:
    """Whether the host of ``url`` may have a private address.

    It may where its name is one of a private network (``localhost``, ``gpu-server``, ``vllm.internal``), where the
    operator wrote the address itself, or wrote ``@private`` behind the name. Any other name is public: if it leads to a
    private address, that is a mistake or an attack.
    """
    return _literal_of(url) is not None or _is_private_name(url) or _is_marked_private(url, allowed_hosts)


def allows_http(url: str, allowed_hosts: Collection[str]) -> bool:
    """Whether the host of ``url`` may be called by http: in a private network, where no key leaves it.

    Its name is one of a private network, or it is a private address, or the operator wrote ``@private`` behind it.
    """
    literal = _literal_of(url)
    if literal is not None and not literal.is_global:
        return True
    return _is_private_name(url) or _is_marked_private(url, allowed_hosts)


def needs_private(url: str, allowed_hosts: Collection[str]) -> bool:
    """Whether the address that the host's name leads to must be private: it is called by http for its name alone."""
    return urlsplit(url).scheme == "http" and _literal_of(url) is None and not _is_marked_private(url, allowed_hosts)


def _literal_of(url: str) -> _Address | None:
    """The address that ``url`` names itself, if it does."""
    try:
        return _undressed(ipaddress.ip_address((urlsplit(url).hostname or "").partition("%")[0]))
    except ValueError:
        return None


def _is_private_name(url: str) -> bool:
    name = (urlsplit(url).hostname or "").lower().rstrip(".")
    return _literal_of(url) is None and ("." not in name or name.endswith(_PRIVATE_SUFFIXES))


def _is_marked_private(url: str, allowed_hosts: Collection[str]) -> bool:
    return any(entry.endswith(PRIVATE) for entry in _entries_for(url, allowed_hosts))


def check_address(address: str, *, private: bool = True, public: bool = True, setting: str = JUDGE_HOSTS) -> None:
    """Refuse an address that may not be called, whichever name led there.

    Always refused are link-local addresses and others of a cloud's metadata, multicast and unspecified ones; without
    ``private`` also every address that is not public, without ``public`` every one that is. An IPv4 address in the form
    of an IPv6 one (mapped, compatible, NAT64, 6to4) is checked as IPv4.
    """
    ip = _undressed(ipaddress.ip_address(address.partition("%")[0]))
    if ip in _METADATA or ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        raise EndpointRefused(Phrase("The host’s address %(address)s is not allowed.", address=ip))
    if not public and ip.is_global:
        raise EndpointRefused(
            Phrase(
                "The host’s address %(address)s is public, so it must be called by https. If this is intended, add "
                "%(mark)s after the name in %(setting)s.",
                address=ip,
                mark=PRIVATE,
                setting=setting,
            )
        )
    if not private and (not ip.is_global or ip.is_reserved or getattr(ip, "is_site_local", False)):
        raise EndpointRefused(
            Phrase(
                "The host name is public, but its address %(address)s is not. If this is intended, add "
                "%(mark)s after the name in %(setting)s.",
                address=ip,
                mark=PRIVATE,
                setting=setting,
            )
        )


def _undressed(address: _Address) -> _Address:
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback or address.is_unspecified:
        return address
    if address.sixtofour:
        return address.sixtofour
    if any(address in network for network in _LAST_32_BITS):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
