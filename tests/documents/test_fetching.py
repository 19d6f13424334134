"""Documents by their addresses: whom the worker connects to, and what it takes. The hosts are on loopback, and lie."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import pytest

from consilium.llm.errors import EndpointRefused
from documents.fetching import FetchedDocument, FetchLimits, FetchRefused, check_document_url, fetch_document

PATIENT = FetchLimits(file_bytes=100_000)
QUICK = FetchLimits(file_bytes=100_000, total_s=1.0, connect_s=0.5, silence_s=0.4)


def answer(body: bytes, *, status: str = "200 OK", length: int | None = None, extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: Text/HTML; charset=utf-8\r\nConnection: close\r\n{extra}"
    return f"{head}Content-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body


def endless(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65536)


def slow(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.1)


def silent(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
    time.sleep(60)


def slow_headers(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(600):
        connection.sendall(f"X-{number}: y\r\n".encode())
        time.sleep(0.1)


class Host:
    """A host that counts its connections and gives each the same answer."""

    def __init__(self, address: str = "127.0.0.1", port: int = 0) -> None:
        self.respond: Callable[[socket.socket], None] = lambda connection: connection.sendall(answer(b"<p>Dose"))
        self.connections = 0
        self.requests: list[bytes] = []
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
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            self.requests.append(connection.recv(65536))
            self.respond(connection)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def host() -> Iterator[Host]:
    server = Host()
    yield server
    server.close()


def fetch(host: Host, limits: FetchLimits = PATIENT) -> tuple[FetchedDocument, bytes]:
    into = io.BytesIO()
    url = f"http://127.0.0.1:{host.port}/guides/fever.html?edition=2"
    return fetch_document(url, into, allowed_hosts=["127.0.0.1"], limits=limits), into.getvalue()


def test_a_document_is_fetched(host: Host) -> None:
    document, content = fetch(host)
    assert content == b"<p>Dose"
    assert (document.file_name, document.media_type, document.size) == ("fever.html", "text/html", 7)
    request = host.requests[0].lower()
    assert request.startswith(b"get /guides/fever.html?edition=2 http/1.1\r\n")
    assert b"cookie" not in request and b"authorization" not in request


@pytest.mark.parametrize(
    ("respond", "message"),
    [
        (answer(b"", status="302 Found", extra="Location: http://127.0.0.1/other\r\n"), "redirects to another one"),
        (answer(b"no", status="404 Not Found"), "HTTP 404"),
        (answer(b"x" * 100_001), "larger than"),
        (answer(b"x" * 500, length=100_001), "larger than"),
        (answer(b"short", length=500), "was not received completely"),
        (answer(b""), "sent nothing"),
        (answer(b"\x1f\x8b", extra="Content-Encoding: gzip\r\n"), "compressed"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nx",
            "did not send a usable response|was not received completely",
        ),
        (b"SSH-2.0-OpenSSH_9\r\n", "did not send a usable response"),
        (b"", "did not send a usable response"),
        (endless, "larger than"),
        (slow, "was not received within"),
        (silent, "was not received within"),
        (slow_headers, "was not received within"),
    ],
)
def test_a_host_that_misbehaves_is_refused(
    host: Host, respond: bytes | Callable[[socket.socket], None], message: str
) -> None:
    host.respond = respond if callable(respond) else lambda connection: connection.sendall(respond)
    begun = time.monotonic()
    with pytest.raises(FetchRefused, match=message):
        # On a busy machine a host that is not slow may need longer than the quick limits.
        fetch(host, QUICK if "within" in message else PATIENT)
    assert time.monotonic() - begun < 30
    assert host.connections <= 2  # a connection that closes without a word is tried once more


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://other.example.org/a.pdf", "DOCUMENT_ALLOWED_HOSTS"),
        ("http://guides.example.org/a.pdf", "only by https"),
        ("http://gpu.internal/a.pdf", "only by https"),
        ("ftp://guides.example.org/a.pdf", "begin with http"),
        ("file:///etc/passwd", "begin with http"),
        ("https://user:secret@guides.example.org/a.pdf", "user name"),
        ("https://guides.example.org/a.pdf#page=2", "must not contain a query, a fragment or spaces"),
        ("https://guides.example.org/a b.pdf", "must not contain a query, a fragment or spaces"),
        ("https://guides.example.org/" + "a" * 1000, "longer than"),
        ("https://0177.0.0.1/a.pdf", "DOCUMENT_ALLOWED_HOSTS"),
        ("not an address", "begin with http"),
    ],
)
def test_addresses_that_are_not_fetched(url: str, message: str) -> None:
    with pytest.raises(EndpointRefused, match=message):
        check_document_url(url, ["guides.example.org", "gpu.internal", "127.0.0.1"])


def test_nothing_is_fetched_where_the_operator_lists_no_host(host: Host) -> None:
    with pytest.raises(EndpointRefused, match="DOCUMENT_ALLOWED_HOSTS"):
        fetch_document(f"http://127.0.0.1:{host.port}/", io.BytesIO(), allowed_hosts=[])
    assert host.connections == 0


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::ffff:127.0.0.1"])
def test_a_public_name_that_leads_inside_is_not_called(host: Host, address: str) -> None:
    def lookup(*_: Any, **__: Any) -> list[Any]:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        place = (address, host.port, 0, 0) if ":" in address else (address, host.port)
        return [(family, socket.SOCK_STREAM, 6, "", place)]

    url = f"https://guides.example.org:{host.port}/a.pdf"
    with patch("socket.getaddrinfo", lookup), pytest.raises(EndpointRefused, match="address"):
        fetch_document(url, io.BytesIO(), allowed_hosts=["guides.example.org"], limits=QUICK)
    assert host.connections == 0


def test_the_environments_proxies_are_not_used(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Host()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    fetch(host)
    assert (host.connections, proxy.connections) == (1, 0)
    proxy.close()
