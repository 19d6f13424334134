"""Which addresses a judge's client connects to: counted by listeners on this machine, with name servers that lie."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from consilium.llm.client import ChatClient
from consilium.llm.endpoint import Endpoint, RetryPolicy, allows_private, check_address, check_url
from consilium.llm.errors import EndpointRefused
from consilium.llm.judging import Judgement, judge

QUICK = RetryPolicy(attempts=2, first_wait_s=0.0, longest_wait_s=0.0, re_asks=0)
MESSAGES = [{"role": "user", "content": "Is it met?"}]
VERDICT = (
    b'{"choices": [{"message": {"content": "{\\"explanation\\": \\"x\\", \\"criteria_met\\": true}"},'
    b' "finish_reason": "stop"}]}'
)
ANSWER = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(VERDICT), VERDICT)


class Listener:
    """Counts connections, and gives each the same answer once it has asked."""

    def __init__(self, address: str = "127.0.0.1", port: int = 0, answer: bytes = ANSWER) -> None:
        self.answer = answer
        self.connections = 0
        self.heads: list[bytes] = []  # of the requests
        self._socket = socket.create_server((address, port))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with connection, contextlib.suppress(OSError):
                request = b""
                while b"criteria" not in request and MESSAGES[0]["content"].encode() not in request:
                    request += connection.recv(65536) or b"criteria"
                self.heads.append(request.partition(b"\r\n\r\n")[0])
                connection.sendall(self.answer)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    yield server
    server.close()


@pytest.fixture
def outside(listener: Listener) -> Iterator[Listener]:
    """Another one at the same port of another address: where nobody may be sent."""
    server = Listener("127.0.0.2", listener.port)
    yield server
    server.close()


class Names:
    """A name server that gives its answers one after the other, then the last for ever."""

    def __init__(self, port: int, *answers: str) -> None:
        self.port = port
        self.answers = list(answers)
        self.n_lookups = 0

    def __call__(self, host: str, *_: Any, **__: Any) -> list[Any]:
        self.n_lookups += 1
        address = self.answers[min(self.n_lookups, len(self.answers)) - 1]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        place = (address, self.port, 0, 0) if ":" in address else (address, self.port)
        return [(family, socket.SOCK_STREAM, 6, "", place)]


def ask(url: str, allowed: str, *, times: int = 1, names: Names | None = None) -> list[Judgement]:
    """One client asks so many times, one after the other."""

    async def main() -> list[Judgement]:
        endpoint = Endpoint(url=url, model="ok", retry=QUICK, timeout_s=60.0)
        async with ChatClient(endpoint, allowed_hosts=[allowed], environ={}) as client:
            return [await judge(client, MESSAGES) for _ in range(times)]

    with patch("socket.getaddrinfo", names) if names else contextlib.nullcontext():
        return asyncio.run(main())


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "192.168.1.1", "172.16.0.1", "100.64.0.1", "169.254.169.254"),
        *("::1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
        *("fd00::1", "fe80::1%eth0", "fec0::1", "fd00:ec2::254", "::ffff:169.254.169.254"),
    ],
)
def test_a_public_name_that_leads_inside_is_not_called(listener: Listener, address: str) -> None:
    names = Names(listener.port, address)
    (judgement,) = ask(f"https://judge.example.org:{listener.port}/v1", "judge.example.org", names=names)
    assert judgement.missing
    assert (judgement.calls[0].error_kind, names.n_lookups) == ("not_allowed", 1)
    assert "(tries: 1)" in judgement.calls[0].error
    assert listener.connections == 0


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("localhost", "localhost"),
        ("vllm", "vllm"),
        ("gpu.internal", "gpu.internal"),
        ("judge.example.org", "judge.example.org@private"),
        ("judge.example.org", "judge.example.org:{port}@private"),
    ],
)
def test_a_name_that_may_be_private_is_called(listener: Listener, name: str, allowed: str) -> None:
    url = f"http://{name}:{listener.port}/v1"
    (judgement,) = ask(url, allowed.format(port=listener.port), names=Names(listener.port, "127.0.0.1"))
    assert judgement.verdict is not None
    assert listener.connections == 1


@pytest.mark.parametrize("later", ["127.0.0.2", "169.254.169.254"])
def test_a_name_is_resolved_once_in_a_clients_life(listener: Listener, outside: Listener, later: str) -> None:
    names = Names(listener.port, "127.0.0.1", later)
    judgements = ask(f"http://gpu:{listener.port}/v1", "gpu", times=3, names=names)
    assert all(judgement.verdict for judgement in judgements)
    assert (listener.connections, outside.connections, names.n_lookups) == (3, 0, 1)


def test_a_name_that_was_rebound_is_refused_to_the_next_client(listener: Listener) -> None:
    names = Names(listener.port, "93.184.215.14", "127.0.0.1")
    url = f"https://judge.example.org:{listener.port}/v1"
    check_address(names("judge.example.org")[0][4][0], private=False)  # public at first, as whoever looked saw it
    (judgement,) = ask(url, "judge.example.org", names=names)
    assert judgement.missing
    assert "127.0.0.1" in judgement.calls[0].error
    assert listener.connections == 0


def test_redirects_are_not_followed(listener: Listener, outside: Listener) -> None:
    listener.answer = (
        f"HTTP/1.1 307 Over there\r\nLocation: http://127.0.0.2:{outside.port}/v1/chat/completions\r\n"
        "Content-Length: 0\r\n\r\n"
    ).encode()
    (judgement,) = ask(f"http://127.0.0.1:{listener.port}/v1", "127.0.0.1")
    assert judgement.calls[0].error_kind == "redirect"
    assert (listener.connections, outside.connections) == (1, 0)


def test_the_environments_proxies_are_not_used(
    listener: Listener, outside: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.2:{outside.port}")
    (judgement,) = ask(f"http://127.0.0.1:{listener.port}/v1", "127.0.0.1")
    assert judgement.verdict is not None
    assert (listener.connections, outside.connections) == (1, 0)


@pytest.mark.parametrize("written", ["0177.0.0.1", "2130706433", "0x7f000001", "127.1", "[::ffff:127.0.0.1]"])
def test_another_spelling_of_an_address_is_another_host(listener: Listener, written: str) -> None:
    with pytest.raises(EndpointRefused, match=r"operator’s list of allowed hosts \(now: 127\.0\.0\.1\)"):
        ask(f"http://{written}:{listener.port}/v1", "127.0.0.1")
    assert listener.connections == 0


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::"],
)
def test_public_addresses_are_public_in_any_clothes(address: str) -> None:
    check_address(address, private=False)


@pytest.mark.parametrize("address", ["100.100.100.200", "168.63.129.16", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"])
def test_metadata_is_never_called(address: str) -> None:
    with pytest.raises(EndpointRefused, match=r"The host’s address .+ is not allowed"):
        check_address(address, private=True)


def test_private_is_a_word_about_one_name() -> None:
    allowed = ["a.example.org@private", "b.example.org", "c.example.org:81@private", "c.example.org"]
    expected = {"a.example.org": True, "b.example.org": False, "c.example.org": False, "c.example.org:81": True}
    for host, private in expected.items():
        url = check_url(f"https://{host}/v1", allowed)
        assert allows_private(url, allowed) is private
    with pytest.raises(EndpointRefused):
        check_url("https://d.example.org/v1", allowed)


@pytest.mark.parametrize(
    ("url", "allowed", "may_be_called"),
    [
        ("http://api.example.org/v1", "api.example.org", False),
        ("http://api.example.org:8080/v1", "api.example.org:8080", False),
        ("http://8.8.8.8/v1", "8.8.8.8", False),
        ("http://[::ffff:8.8.8.8]/v1", "::ffff:8.8.8.8", False),
        ("http://api.example.org/v1", "api.example.org@private", True),
        ("http://8.8.8.8/v1", "8.8.8.8@private", True),
        ("https://api.example.org/v1", "api.example.org", True),
        ("http://gpu-server:8080/v1", "gpu-server:8080", True),
        ("http://vllm.internal/v1", "vllm.internal", True),
        ("http://127.0.0.1:9/v1", "127.0.0.1", True),
        ("http://[::1]:9/v1", "[::1]:9", True),
        ("http://192.168.1.7/v1", "192.168.1.7", True),
    ],
)
def test_a_public_host_is_called_by_https_alone(url: str, allowed: str, may_be_called: bool) -> None:
    if may_be_called:
        assert check_url(url, [allowed]) == url
    else:
        with pytest.raises(EndpointRefused, match="must be called by https"):
            check_url(url, [allowed])


def test_a_private_name_that_leads_outside_is_not_called_by_http(listener: Listener) -> None:
    names = Names(listener.port, "93.184.215.14")
    (judgement,) = ask(f"http://gpu-server:{listener.port}/v1", "gpu-server", names=names)
    assert (judgement.calls[0].error_kind, names.n_lookups) == ("not_allowed", 1)
    assert "93.184.215.14 is public" in judgement.calls[0].error


def ask_with_key(listener: Listener, *bound_keys: str) -> Judgement:
    """One request to the listener with the key of the environment."""

    async def main() -> Judgement:
        endpoint = Endpoint(url=f"http://127.0.0.1:{listener.port}/v1", model="ok", retry=QUICK, key_env="A_API_KEY")
        lists: dict[str, Any] = {"allowed_hosts": ["127.0.0.1"], "bound_keys": bound_keys}
        async with ChatClient(endpoint, **lists, environ={"A_API_KEY": "canary-key-0002"}) as client:
            return await judge(client, MESSAGES)

    return asyncio.run(main())


@pytest.mark.parametrize(
    "bound",
    [
        (),
        ("A_API_KEY",),
        ("A_API_KEY@",),
        ("A_API_KEY@127.0.0.2",),
        ("A_API_KEY@127.0.0.1:1",),
        ("B_API_KEY@127.0.0.1",),
        ("A_API_KEY@api.example.org", "B_API_KEY@127.0.0.1"),
        ("a_api_key@127.0.0.1",),
        ("A_API_KEY@127.0.0.1@127.0.0.2",),
    ],
)
def test_a_key_that_is_not_bound_to_the_host_goes_nowhere(listener: Listener, bound: tuple[str, ...]) -> None:
    with pytest.raises(EndpointRefused, match=r"add A_API_KEY@127\.0\.0\.1:\d+ to ENDPOINT_KEYS"):
        ask_with_key(listener, *bound)
    assert listener.connections == 0


def test_a_key_goes_to_its_host_and_not_where_that_sends_it(listener: Listener, outside: Listener) -> None:
    assert ask_with_key(listener, "A_API_KEY@api.example.org", "A_API_KEY@127.0.0.1").verdict is not None
    assert ask_with_key(listener, f"A_API_KEY@127.0.0.1:{listener.port}").verdict is not None
    assert [line for line in listener.heads if b"Authorization: Bearer canary-key-0002" in line] == listener.heads
    listener.answer = (
        f"HTTP/1.1 307 Over there\r\nLocation: http://127.0.0.2:{outside.port}/v1/chat/completions\r\n"
        "Content-Length: 0\r\n\r\n"
    ).encode()
    assert ask_with_key(listener, "A_API_KEY@127.0.0.1", "A_API_KEY@127.0.0.2").calls[0].error_kind == "redirect"
    assert (listener.connections, outside.connections) == (3, 0)
