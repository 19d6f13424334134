"""The client against an endpoint that misbehaves on purpose."""

from __future__ import annotations

import asyncio
import json
import socket
import time
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import patch

import pytest

from consilium.llm.client import ChatClient, retry_after
from consilium.llm.endpoint import Endpoint, RetryPolicy, check_url
from consilium.llm.errors import EndpointRefused, TransportError
from consilium.llm.judging import Judgement, judge
from consilium.llm.meter import Usage
from consilium.llm.prompts import body_of

MESSAGES = [{"role": "user", "content": "Is it met?"}]
QUICK = RetryPolicy(attempts=3, first_wait_s=0.01, longest_wait_s=0.02, longest_retry_after_s=0.05, re_asks=2)
KEY = "sk-canary-0451-do-not-show"


def run(
    url: str,
    model: str,
    work: Callable[[ChatClient], Awaitable[Any]] | None = None,
    environ: dict[str, str] | None = None,
    **more: Any,
) -> Any:
    endpoint = Endpoint(url=url, model=model, **{"retry": QUICK, "timeout_s": 60.0, **more})

    async def main() -> Any:
        lists: dict[str, Any] = {"allowed_hosts": ["127.0.0.1"], "bound_keys": ["LOOPBACK_API_KEY@127.0.0.1"]}
        async with ChatClient(endpoint, **lists, environ=environ or {}) as client:
            return await (work or (lambda c: judge(c, MESSAGES)))(client)

    return asyncio.run(main())


@pytest.mark.parametrize("model", ["ok", "fenced", "429"])
def test_a_verdict(loopback: str, model: str) -> None:
    judgement: Judgement = run(loopback, model)
    assert judgement.verdict is not None
    assert not judgement.missing
    assert not judgement.invalid
    assert [(call.error_kind, call.usage) for call in judgement.calls] == [("", Usage(400, 20, estimated=False))]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("cut-json", "not_json"),
        ("string-true", "wrong_type"),
        ("two-objects", "trailing_text"),
        ("nul", "nul"),
        ("forged", "not_json"),
        ("refusal", "refusal"),
        ("empty", "empty"),
        ("huge", "too_large"),
    ],
)
def test_content_that_is_no_verdict_is_invalid_after_bounded_re_asks(loopback: str, model: str, kind: str) -> None:
    judgement: Judgement = run(loopback, model)
    assert judgement.invalid
    assert judgement.verdict is None
    assert [call.error_kind for call in judgement.calls] == [kind] * 3
    assert model == "empty" or all(call.raw for call in judgement.calls)


@pytest.mark.parametrize(
    ("model", "kind", "tries"),
    [
        ("500", "http_5xx", 3),
        ("429-forever", "http_429", 3),
        ("html", "envelope", 3),
        ("cut", "disconnected", 3),
        ("400", "http_400", 1),
        ("401", "http_401", 1),
        ("redirect", "redirect", 1),
    ],
)
def test_transport_that_fails_leaves_it_missing(loopback: str, model: str, kind: str, tries: int) -> None:
    started = time.monotonic()
    judgement: Judgement = run(loopback, model)
    assert judgement.missing
    assert [call.error_kind for call in judgement.calls] == [kind]
    assert f"(tries: {tries})" in judgement.calls[0].error
    assert time.monotonic() - started < 60  # a Retry-After of 999999 is capped, at less than a second


@pytest.mark.parametrize("model", ["slow", "drip"])
def test_an_endpoint_that_dawdles_is_timed_out(loopback: str, model: str) -> None:
    judgement: Judgement = run(loopback, model, timeout_s=0.3)
    assert judgement.missing
    assert judgement.calls[0].error_kind == "timeout"


def test_nobody_listens() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    judgement: Judgement = run(f"http://127.0.0.1:{port}/v1", "ok")
    assert judgement.calls[0].error_kind == "refused"


def test_requests_run_at_the_concurrency_and_not_above(loopback: str) -> None:
    async def many(client: ChatClient) -> list[Judgement]:
        return await asyncio.gather(*(judge(client, [{"role": "user", "content": str(i)}]) for i in range(40)))

    def endpoint(path: str, **options: Any) -> Any:
        return urllib.request.urlopen(urllib.request.Request(loopback.removesuffix("/v1") + path, **options))

    # Answers take a while, or one would be back before the next is asked for.
    endpoint("/reset?latency=0.3", method="POST").close()
    try:
        judgements = run(loopback, "counted", many, concurrency=4)
        with endpoint("/stats") as answer:
            most = json.load(answer)["most_in_flight"]["counted"]
    finally:
        endpoint("/reset?latency=0", method="POST").close()
    assert all(judgement.verdict for judgement in judgements)
    assert most in (3, 4)


def test_the_key_goes_into_the_header_and_nowhere_else(loopback: str) -> None:
    judgement: Judgement = run(loopback, "echo-key", environ={"LOOPBACK_API_KEY": KEY}, key_env="LOOPBACK_API_KEY")
    assert judgement.calls[0].error_kind == "http_401"
    assert "Bearer [redacted]" in judgement.calls[0].error  # the endpoint saw it and said it back
    assert KEY not in repr(judgement)


def test_an_error_carries_neither_key_nor_request(loopback: str) -> None:
    async def fail(client: ChatClient) -> TransportError:
        with pytest.raises(TransportError) as failed:
            await client.ask(body_of(MESSAGES, client.endpoint.parameters()))
        return failed.value

    error = run(loopback, "cut", fail, environ={"LOOPBACK_API_KEY": KEY}, key_env="LOOPBACK_API_KEY")
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert KEY not in repr(error)


@pytest.mark.parametrize(
    "name", ["SECRET_KEY", "DATABASE_URL", "OIDC_CLIENT_SECRET", "PATH", "x_api_key", "MY_API_KEY\n", "A B_API_KEY"]
)
def test_only_variables_named_as_keys_can_be_sent(loopback: str, name: str) -> None:
    with pytest.raises(EndpointRefused, match="_API_KEY"):
        run(loopback, "ok", environ={name: "x"}, key_env=name)


def test_a_key_too_short_to_be_taken_out_of_answers_is_refused(loopback: str) -> None:
    with pytest.raises(EndpointRefused, match="fewer than 8"):
        run(loopback, "ok", environ={"LOOPBACK_API_KEY": "met"}, key_env="LOOPBACK_API_KEY")


def test_a_variable_that_is_not_set_is_named(loopback: str) -> None:
    with pytest.raises(EndpointRefused, match="LOOPBACK_API_KEY is not set"):
        run(loopback, "ok", key_env="LOOPBACK_API_KEY")


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/v1",
        "http://127.0.0.1:81/v1",
        "http://user:pw@localhost:8001/v1",
        "http://localhost:8001@10.0.0.1/v1",
        "http://0177.0.0.1:8001/v1",
        "http://[::ffff:127.0.0.1]:8001/v1",
        "http://localhost:8001.example.org/v1",
        "http://localhost:8001/v1?x=http://a",
        "http://localhost:8001/v1#x",
        "file:///etc/passwd",
        "gopher://localhost:8001/",
        "localhost:8001/v1",
        "http://localhost:8001/\nv1",
        "http://localhost:99999/v1",
        "http://\\localhost:8001",
        "",
    ],
)
def test_hosts_off_the_list_are_refused(url: str) -> None:
    with pytest.raises(EndpointRefused):
        check_url(url, ["localhost:8001", "127.0.0.1:8001"])


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://api.example.org/v1/", "api.example.org"),
        ("https://API.example.org/v1", "api.example.org:443"),
        ("http://[::1]:11434/v1", "[::1]:11434"),
        ("http://[::1]:11434/v1", "::1"),
        ("http://localhost:8001", "localhost:8001"),
    ],
)
def test_hosts_on_the_list_are_called(url: str, allowed: str) -> None:
    assert check_url(url, [allowed]) == url.rstrip("/")


def test_a_listed_name_that_leads_to_cloud_metadata_is_not_called() -> None:
    # Name resolution is the system's: here it answers as a rebinding name server would.
    addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))]
    endpoint = Endpoint(url="https://judge.example.org/v1", model="ok", retry=QUICK)

    async def main() -> Judgement:
        async with ChatClient(endpoint, allowed_hosts=["judge.example.org"], environ={}) as client:
            return await judge(client, MESSAGES)

    with patch("socket.getaddrinfo", return_value=addresses):
        judgement = asyncio.run(main())
    assert judgement.missing
    assert "169.254.169.254" in judgement.calls[0].error
    assert "(tries: 1)" in judgement.calls[0].error


@pytest.mark.parametrize("address", ["169.254.169.254", "[::ffff:169.254.169.254]", "224.0.0.1"])
def test_a_listed_metadata_address_is_not_called(address: str) -> None:
    endpoint = Endpoint(url=f"https://{address}/v1", model="ok", retry=QUICK)

    async def main() -> None:
        async with ChatClient(endpoint, allowed_hosts=[address], environ={}):
            pass

    with pytest.raises(EndpointRefused, match=r"The host’s address .+ is not allowed"):
        asyncio.run(main())


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2.5", 2.5), ("999999", 999999.0), ("-3", 0.0), ("nan", None), ("inf", None), ("soon", None), ("", None)],
)
def test_retry_after(text: str, seconds: float | None) -> None:
    assert retry_after({"Retry-After": text}) == seconds


def test_retry_after_as_a_date() -> None:
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
