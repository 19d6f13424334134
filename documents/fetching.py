"""Fetches a document by its address, from hosts that the operator lists. Knows no models.

Redirects are not followed, the environment's proxies are not used, no cookie is kept, and size and time are limited.
The address that a name leads to is checked when the connection is made.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Collection
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from consilium.core.errors import DomainError
from consilium.core.limits import MAX_URL_LENGTH
from consilium.core.phrases import Phrase
from consilium.llm.client import CheckedResolver
from consilium.llm.endpoint import allows_private, check_address, check_url
from consilium.llm.errors import EndpointRefused

SETTING = "DOCUMENT_ALLOWED_HOSTS"


class FetchRefused(DomainError):
    """The document was not fetched; nothing of it may be used."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one address may send, and how long it may take."""

    file_bytes: int = 20_000_000
    total_s: float = 60.0
    connect_s: float = 10.0
    silence_s: float = 20.0  # between two pieces of an answer


@dataclass(frozen=True, slots=True)
class FetchedDocument:
    """What an address sent: the name that ends its path, its media type (lower case) and its size."""

    url: str
    file_name: str
    media_type: str
    size: int


FETCH_LIMITS = FetchLimits()


def check_document_url(url: str, allowed_hosts: Collection[str]) -> str:
    """``url`` if a document may be fetched from it; `EndpointRefused` with the reason if not."""
    if len(url) > MAX_URL_LENGTH:
        raise EndpointRefused(Phrase("This is longer than %(longest)s characters.", longest=MAX_URL_LENGTH))
    if _is_http(url):  # even where the operator's list allows it for endpoints
        raise EndpointRefused(Phrase("Documents are fetched only by https."))
    return check_url(url, allowed_hosts, setting=SETTING, with_query=True)


def _is_http(url: str) -> bool:
    """Whether an address would be called by http, on another machine than this one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False  # `check_url` says that it is none
    return parts.scheme == "http" and not _is_loopback(parts.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def fetch_document(
    url: str, into: BinaryIO, *, allowed_hosts: Collection[str], limits: FetchLimits = FETCH_LIMITS
) -> FetchedDocument:
    """Write what ``url`` sends to ``into``, and say what it is. `FetchRefused` or `EndpointRefused` if all of it did
    not come; what ``into`` then holds is worth nothing.
    """
    return asyncio.run(_fetch(check_document_url(url, allowed_hosts), into, allowed_hosts, limits))


async def _fetch(url: str, into: BinaryIO, allowed_hosts: Collection[str], limits: FetchLimits) -> FetchedDocument:
    address = URL(url)
    private = allows_private(url, allowed_hosts)
    try:
        ipaddress.ip_address(address.host or "")
    except ValueError:
        pass  # a name: the resolver checks its address
    else:
        check_address(address.host or "", setting=SETTING)
    timeout = aiohttp.ClientTimeout(total=limits.total_s, sock_connect=limits.connect_s, sock_read=limits.silence_s)
    try:
        async with (
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=1, resolver=CheckedResolver(private=private, setting=SETTING)),
                timeout=timeout,
                headers={"Accept-Encoding": "identity", "User-Agent": "Consilium"},
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                auto_decompress=False,
            ) as session,
            session.get(address, allow_redirects=False) as response,
        ):
            _check_answer(response, limits)
            size = await _copy(response, into, limits)
    except TimeoutError:
        raise FetchRefused(Phrase("The document was not received within %(n)s s.", n=round(limits.total_s))) from None
    except (aiohttp.ClientConnectorDNSError, aiohttp.ClientSSLError, ssl.SSLError):
        raise FetchRefused(Phrase("The host name is unknown, or its certificate is not trusted.")) from None
    except aiohttp.ClientPayloadError:
        raise FetchRefused(Phrase("The document was not received completely.")) from None
    except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError):
        raise FetchRefused(Phrase("The host did not send a usable response.")) from None
    media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return FetchedDocument(url, address.name, media_type if media_type.isascii() else "", size)


def _check_answer(response: aiohttp.ClientResponse, limits: FetchLimits) -> None:
    if 300 <= response.status < 400:
        raise FetchRefused(
            Phrase("The address redirects to another one (HTTP %(status)s). Enter the address of the document "
                "itself.",
                   status=response.status)
        )  # fmt: skip
    if response.status != 200:
        raise FetchRefused(Phrase("The host responded with HTTP %(status)s.", status=response.status))
    if response.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise FetchRefused(Phrase("The host sent a compressed document although none was requested."))
    if (response.content_length or 0) > limits.file_bytes:
        raise FetchRefused(_too_large(limits))


async def _copy(response: aiohttp.ClientResponse, into: BinaryIO, limits: FetchLimits) -> int:
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > limits.file_bytes:
            response.close()
            raise FetchRefused(_too_large(limits))
        into.write(chunk)
    if not size:
        raise FetchRefused(Phrase("The host sent nothing."))
    return size


def _too_large(limits: FetchLimits) -> Phrase:
    return Phrase("The document is larger than %(n)s MB.", n=limits.file_bytes // 1_000_000)
