"""The client: one connection pool for one endpoint, with limits on everything.

Redirects are not followed, the environment's proxies are not used, a name is resolved once and then kept, an answer
is read up to a size, and a request has a time limit and a number of tries. Errors are described by kind in our own
words, because an exception of aiohttp carries the request's headers, and with them the key.
"""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import json
import math
import os
import random
import socket
import ssl
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from consilium.llm.endpoint import (
    JUDGE_HOSTS,
    Endpoint,
    allows_private,
    check_address,
    check_key_host,
    check_url,
    needs_private,
    read_key,
)
from consilium.llm.errors import BILLED_KINDS, PASSING_STATUSES, ContentError, EndpointRefused, TransportError
from consilium.llm.meter import Allowance, Meter, PendingRequest, RequestNotSent, Usage
from consilium.llm.parsing import storable
from consilium.llm.rules.names import is_rules, listed_as_rules

CONNECT_TIMEOUT_S = 10.0
HANDSHAKE_TIMEOUT_S = 5.0
REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's answer: its text, and the tokens and time it took. ``attempts`` counts the tries of the transport.

    ``model`` and ``finish`` (why it ended) are the endpoint's own words, empty where it gives none. ``logprobs`` has,
    for each token of the answer, ``token``, ``logprob`` and ``top_logprobs``, where the endpoint gives them.
    """

    text: str
    usage: Usage
    latency_ms: int
    attempts: int
    model: str = ""
    finish: str = ""
    logprobs: list[dict[str, Any]] | None = None
    by_rules: bool = False  # `ChatClient.by_rules`


@dataclass(frozen=True, slots=True)
class _Answer:
    """A chat completion as it came: its text, or what is wrong with it, and what the endpoint counted."""

    text: str
    tokens_in: int | None
    tokens_out: int | None
    latency_ms: int
    length: int
    fault: ContentError | None = None
    model: str = ""
    finish: str = ""
    logprobs: list[dict[str, Any]] | None = None


class CheckedResolver(AbstractResolver):
    """Resolves names as the system does, and refuses addresses that may not be called.

    ``setting`` is the setting with the operator's list of hosts.
    """

    def __init__(self, *, private: bool, public: bool = True, setting: str = JUDGE_HOSTS) -> None:
        self._private = private
        self._public = public
        self._setting = setting
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        results = await self._resolver.resolve(host, port, family)
        for result in results:
            check_address(result["host"], private=self._private, public=self._public, setting=self._setting)
        return results

    async def close(self) -> None:
        await self._resolver.close()


class ChatClient:
    """``async with ChatClient(endpoint, allowed_hosts=…) as client: reply = await client.ask(body)``."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        allowed_hosts: Collection[str],
        bound_keys: Collection[str] = (),
        environ: Mapping[str, str] | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        """`EndpointRefused` where the host is not allowed, or the key is not bound to it or not set.

        ``bound_keys`` is the operator's list of keys and hosts, as `check_key_host` reads it.
        """
        self.endpoint = endpoint
        address = check_url(endpoint.url, allowed_hosts)
        self._url, self._models_url = URL(f"{address}/chat/completions"), URL(f"{address}/models")
        self._private = allows_private(endpoint.url, allowed_hosts)
        self._public = not needs_private(endpoint.url, allowed_hosts)
        check_key_host(endpoint.key_env, endpoint.url, bound_keys)
        self._key = read_key(endpoint.key_env, os.environ if environ is None else environ)
        self._session: aiohttp.ClientSession | None = None
        self.meter = Meter(allowance or Allowance())
        self._is_listed_as_rules = False
        self._handshake = asyncio.Lock()
        self._has_shaken_hands = False

    async def __aenter__(self) -> Self:
        with contextlib.suppress(ValueError):  # the host is a name: the resolver checks its address
            check_address(self._url.host or "")
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            # ttl_dns_cache None: the address found first is kept as long as the client lives.
            connector=aiohttp.TCPConnector(
                limit=self.endpoint.concurrency,
                resolver=CheckedResolver(private=self._private, public=self._public),
                ttl_dns_cache=None,
            ),
            timeout=aiohttp.ClientTimeout(total=self.endpoint.timeout_s, sock_connect=CONNECT_TIMEOUT_S),
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(self, body: bytes, *, criteria: int | None = None) -> Reply:
        """The model's answer to a request as `body_of` writes it; retried with back-off while the endpoint fails.

        ``criteria``: how many criteria one request asks about together, None for a single one. Raises `TransportError`
        (with the number of ``attempts``) when the tries are used up or trying again is of no use, `ContentError` when
        the endpoint answered without a text, `RequestNotSent` when the request was not sent: the client closes, or the
        request could cost too much (`BudgetSpent`).
        """
        about = criteria or 1
        most_out = self.endpoint.most_tokens_out(about)
        before: Usage | None = None  # what failed tries may have cost
        last: TransportError | None = None
        attempt = 1
        while True:
            request = PendingRequest(len(body), about, most_out)
            try:
                await self.meter.begin(request)
            except RequestNotSent:
                if last is None:
                    raise
                raise last from None  # attempts were made, and the error lists them
            try:
                answer = await self._once(body)
            except TransportError as error:
                before = self._charge(request, error, before)
                error.attempts, error.usage = attempt, before
                if not self._may_try_again(error, attempt):
                    raise
                wait, last = self._wait(attempt, error), error
            except BaseException:
                self.meter.unanswered(request)
                raise
            else:
                usage = self.meter.answered(request, answer.tokens_in, answer.tokens_out, answer.length)
                usage = usage if before is None else usage + before
                if answer.fault is not None:
                    answer.fault.usage, answer.fault.latency_ms = usage, answer.latency_ms
                    answer.fault.model, answer.fault.finish = answer.model, answer.finish
                    raise answer.fault
                return Reply(
                    answer.text,
                    usage,
                    answer.latency_ms,
                    attempt,
                    answer.model,
                    answer.finish,
                    answer.logprobs,
                    self.by_rules(answer.model),
                )
            await asyncio.sleep(wait)
            attempt += 1

    async def handshake(self) -> None:
        """Ask once which models the endpoint has, and who owns them; an endpoint need not say."""
        async with self._handshake:
            if self._has_shaken_hands or self.closing:
                return
            self._has_shaken_hands = True
            with contextlib.suppress(
                EndpointRefused, ContentError, aiohttp.ClientError, OSError, asyncio.IncompleteReadError, ValueError,
                RecursionError,
            ):  # fmt: skip
                self._is_listed_as_rules = listed_as_rules(await self._models(), self.endpoint.model)

    async def _models(self) -> Any:
        if self._session is None:
            raise RuntimeError("the client is used outside of its `async with`")
        timeout = aiohttp.ClientTimeout(total=min(HANDSHAKE_TIMEOUT_S, self.endpoint.timeout_s))
        async with self._session.get(self._models_url, allow_redirects=False, timeout=timeout) as response:
            return json.loads(await self._read(response)) if response.status == 200 else None

    def by_rules(self, model: str) -> bool:
        """Whether rules answered and no language model: by the handshake, or by the model that an answer names."""
        return self._is_listed_as_rules or is_rules(model)

    def _may_try_again(self, error: TransportError, attempt: int) -> bool:
        policy = self.endpoint.retry
        if not error.retry or attempt >= policy.attempts or self.closing:
            return False
        return policy.repeat_billed or error.kind not in BILLED_KINDS

    def _charge(self, request: PendingRequest, error: TransportError, before: Usage | None) -> Usage | None:
        """Settle a failed try; returns ``before`` plus what the try may have cost."""
        if error.kind not in BILLED_KINDS:
            self.meter.free(request)
            return before
        if error.usage is None:
            usage = self.meter.unanswered(request)
        else:
            usage = self.meter.answered(request, error.usage.tokens_in, error.usage.tokens_out, 0)
        return usage if before is None else before + usage

    @property
    def closing(self) -> bool:
        """Whether no more requests are sent; answers to requests already sent are still awaited."""
        return self.meter.closing

    def refuse_requests(self) -> None:
        """Send no more requests from now on; call it in the event loop."""
        self.meter.close()

    def _wait(self, attempt: int, error: TransportError) -> float:
        """Back-off with full jitter, or what the endpoint asks for if that is longer; never above the policy."""
        policy = self.endpoint.retry
        backoff = random.uniform(0, min(policy.longest_wait_s, policy.first_wait_s * 2 ** (attempt - 1)))
        return max(backoff, min(error.retry_after or 0.0, policy.longest_retry_after_s))

    async def _once(self, body: bytes) -> _Answer:
        if self._session is None:
            raise RuntimeError("the client is used outside of its `async with`")
        started = time.monotonic()
        fault: ContentError | None = None
        try:
            async with self._session.post(self._url, data=body, allow_redirects=False) as response:
                try:
                    data = await self._read(response)
                except ContentError as error:
                    data, fault = b"", error
                status, headers = response.status, response.headers
        except EndpointRefused as error:
            raise TransportError("not_allowed", str(error), retry=False) from None
        except TimeoutError:
            raise TransportError("timeout", f"no answer within {self.endpoint.timeout_s:g} s") from None
        except aiohttp.ClientError as error:
            raise _transport_error(error) from None
        except (OSError, asyncio.IncompleteReadError) as error:
            raise TransportError("disconnected", type(error).__name__) from None
        latency = round((time.monotonic() - started) * 1000)
        if status != 200:
            raise self._status_error(status, headers, data)
        if fault is not None:
            return _Answer("", None, None, latency, self.endpoint.maximum_bytes, fault)
        return self._answer(data, latency)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """The body, up to the size that the endpoint may send."""
        limit = self.endpoint.maximum_bytes
        if (response.content_length or limit + 1) <= limit:
            return await response.read()
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > limit:
                response.close()
                if response.status != 200:
                    break
                # The key is removed before the cut: of a key that lies across the cut, the beginning would remain.
                beginning = self._redact(b"".join([*chunks, chunk]).decode("utf-8", "replace"))[:20_000]
                raise ContentError("too_large", f"an answer of more than {limit} bytes", beginning)
            chunks.append(chunk)
        return b"".join(chunks)

    def _redact(self, text: str) -> str:
        return text.replace(self._key, REDACTED) if self._key else text

    def _status_error(self, status: int, headers: Mapping[str, str], data: bytes) -> TransportError:
        excerpt = storable(self._redact(data[:20_000].decode("utf-8", "replace")), 300)
        if 300 <= status < 400:
            return TransportError("redirect", f"HTTP {status}; redirects are not followed", retry=False)
        if status == 429:
            return TransportError("http_429", f"too many requests: {excerpt}", retry_after=retry_after(headers))
        if status >= 500 or status in PASSING_STATUSES:
            kind = "http_5xx" if status >= 500 else f"http_{status}"
            return TransportError(kind, f"HTTP {status}: {excerpt}", retry_after=retry_after(headers))
        return TransportError(f"http_{status}", f"HTTP {status}: {excerpt}", retry=False)

    def _answer(self, data: bytes, latency_ms: int) -> _Answer:
        """The completion in ``data``; `TransportError` if it holds none."""
        envelope: Any = None
        try:
            envelope = json.loads(data, object_pairs_hook=_each_once)
            choice = envelope["choices"][0]
            message = choice["message"]
            content, refusal = message.get("content"), message.get("refusal")
            finish, model = choice.get("finish_reason"), envelope.get("model")
            logprobs = choice.get("logprobs")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            excerpt = storable(self._redact(data[:20_000].decode("utf-8", "replace")), 200)
            broken = TransportError("envelope", f"not a chat completion: {excerpt}")
            tokens_in, tokens_out = _counts(envelope)
            if tokens_in is not None and tokens_out is not None:
                broken.usage = Usage(tokens_in, tokens_out, estimated=False)
            raise broken from None
        text = self._redact(content) if isinstance(content, str) else ""
        fault: ContentError | None = None
        if isinstance(refusal, str) and refusal:
            fault = ContentError("refusal", "the model refused", self._redact(refusal))
        elif not isinstance(content, str):
            fault = ContentError("empty", "the model gave no text", self._redact(json.dumps(message))[:2000])
        elif finish == "length":
            fault = ContentError("truncated", "the answer was cut at the token limit", text)
        elif finish == "content_filter":
            fault = ContentError("refusal", "the endpoint’s filter stopped the answer", text)
        length = len(text.encode("utf-8", "replace"))
        return _Answer(
            text,
            *_counts(envelope),
            latency_ms,
            length,
            fault,
            self._word(model),
            self._word(finish),
            self._without_key(logprobs),
        )

    def _without_key(self, logprobs: Any) -> list[dict[str, Any]] | None:
        """Log probabilities as far as they have the usual form.

        None where they have not, or where their tokens together spell the key, which no token alone would show.
        """
        try:
            entries = [
                {**_logprob(entry), "top_logprobs": [_logprob(other) for other in entry.get("top_logprobs") or []]}
                for entry in logprobs["content"]
            ]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return None
        spelled = "".join(entry["token"] for entry in entries)
        return None if self._key and self._key in spelled + json.dumps(entries) else entries

    def _word(self, value: Any) -> str:
        """A name from the endpoint as it may be stored: without the key, and cut to a length."""
        return storable(self._redact(value), 200) if isinstance(value, str) else ""


def _logprob(entry: Any) -> dict[str, Any]:
    """A token with its log probability; `ValueError` where it is none."""
    token, logprob = entry["token"], entry["logprob"]
    if not isinstance(token, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        raise ValueError("no log probability")
    if math.isnan(logprob):
        raise ValueError("not a number")
    return {"token": token, "logprob": max(float(logprob), -1e9)}


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a key stands twice")  # two answers count as none
    return mapping


def _counts(envelope: Any) -> tuple[int | None, int | None]:
    """Tokens in and out, as far as the endpoint reports them."""
    usage = envelope.get("usage") if isinstance(envelope, dict) else None
    if not isinstance(usage, dict):
        return None, None
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _count(value: Any) -> int | None:
    """``value`` if it is a token count that a column can hold, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _transport_error(error: aiohttp.ClientError) -> TransportError:
    """An error of aiohttp by its kind, without its text, which may hold the request."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return TransportError("dns", "the host’s name is not known")
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return TransportError("tls", "no trusted connection")
    if isinstance(error, aiohttp.ClientConnectorError):
        return TransportError("refused", "no connection")
    if isinstance(error, aiohttp.ServerTimeoutError):
        return TransportError("timeout", "no answer in time")
    return TransportError("disconnected", type(error).__name__)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a ``Retry-After`` header asks for (a number or a date); None where it has no usable value."""
    text = headers.get("Retry-After", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        moment = email.utils.parsedate_tz(text)
        if moment is None:
            return None
        try:
            seconds = email.utils.mktime_tz(moment) - time.time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
