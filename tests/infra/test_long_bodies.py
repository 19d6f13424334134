"""A long body is refused from its header, by the product's own web server, unless its sender may send it there."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import select
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.test import Client
from django.urls import URLResolver, get_resolver, resolve

from accounts.models import User
from rubrics.models import Benchmark, ImportJob
from tests.chaos import FULL
from tests.factories import PASSWORD, BenchmarkFactory, ExpertGroupFactory, UserFactory, member, token_of
from tests.processes import web_server

pytestmark = pytest.mark.slow

MB = 10**6
BOUNDARY = "boundary-of-the-parts"
IMPORT_PAGE, IMPORT_API = "/b/study/imports/", "/api/v1/benchmarks/study/imports/"
SIGN_IN = "/accounts/login/"


def multipart(content: bytes, **fields: str) -> bytes:
    """A form with the file; without its end where there is no content yet."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    parts += [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="cases.jsonl"\r\n',
        "Content-Type: application/octet-stream\r\n\r\n",
    ]
    return "".join(parts).encode() + content + (f"\r\n--{BOUNDARY}--\r\n".encode() if content else b"")


@dataclass
class Answer:
    """What a connection gave back, and how much had left the client by then."""

    status: int
    text: str
    sent: int = 0
    on_disk: int = 0


class Site:
    """The running web server, over sockets; ``folder`` is where it puts what it receives."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port, self.folder = port, folder

    def upload(
        self, path: str, *, size: int, stubborn: bool = False, in_chunks: bool = False, **headers: str
    ) -> Answer:
        """Send a multipart body of ``size`` bytes until an answer comes; who is ``stubborn`` goes on after it."""
        head = multipart(b"", kind="cases", csrfmiddlewaretoken="t" * 32)
        lines = {
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            **({"Transfer-Encoding": "chunked"} if in_chunks else {"Content-Length": str(size)}),
            "Cookie": f"csrftoken={'t' * 32}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        with self._watched() as disk, self._connection() as connection:
            self._begin(connection, path, lines)
            sent, block = 0, head + b"x" * (64 * 1024 - len(head))
            if in_chunks:
                block = chunk(block)
            with contextlib.suppress(ConnectionError, TimeoutError):
                while sent < size and (stubborn or not select.select([connection], [], [], 0)[0]):
                    sent += connection.send(block[: size - sent])
                    block = chunk(b"x" * (64 * 1024)) if in_chunks else b"x" * (64 * 1024)
            return self._answer(connection, sent, disk)

    def raw(self, path: str, lines: dict[str, str], body: bytes = b"", method: str = "POST") -> Answer:
        """A request as it is written here, headers and all."""
        with self._watched() as disk, self._connection() as connection:
            self._begin(connection, path, lines, method)
            with contextlib.suppress(ConnectionError):
                connection.sendall(body)
            return self._answer(connection, len(body), disk)

    def _connection(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def _begin(self, connection: socket.socket, path: str, lines: dict[str, str], method: str = "POST") -> None:
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost:{self.port}\r\n{text}\r\n".encode())

    def _answer(self, connection: socket.socket, sent: int, disk: list[int]) -> Answer:
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        text = answer.read().decode()
        time.sleep(0.05)  # for whoever watches the disk
        return Answer(answer.status, text, sent, max(disk))

    @contextlib.contextmanager
    def _watched(self) -> Iterator[list[int]]:
        """The bytes that lie in the folder, again and again."""
        sizes, over = [0], threading.Event()

        def look() -> None:
            while not over.wait(0.005):
                total = 0
                for path in self.folder.glob("**/*"):
                    with contextlib.suppress(OSError):
                        total += path.stat().st_size
                sizes.append(total)

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            yield sizes
        finally:
            over.set()
            watcher.join()


class Visitor:
    """Somebody in a browser without scripts: cookies are kept, forms carry their token."""

    def __init__(self, site: Site) -> None:
        self.site, self.cookies = site, dict[str, str]()

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("localhost", self.site.port, timeout=60)
        lines = {name.replace("_", "-"): value for name, value in headers.items()}
        lines["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, path, body, lines)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":  # names of headers come in small letters
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.split(";")[0]
        return Answer(answer.status, text)

    def token(self, path: str) -> str:
        page = self.ask("GET", path).text
        match = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert match is not None, page[:500]
        return match[1]

    def sign_in(self, user: User) -> None:
        fields = {"login": user.email, "password": PASSWORD, "csrfmiddlewaretoken": self.token(SIGN_IN)}
        body = urlencode(fields).encode()
        answer = self.ask("POST", SIGN_IN, body, Content_Type="application/x-www-form-urlencoded")
        assert answer.status == 302, answer.text
        assert "sessionid" in self.cookies


@pytest.fixture(scope="module")
def running(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("uploads")
    media = tmp_path_factory.mktemp("media")
    with web_server({**process_environment, "MEDIA_ROOT": str(media)}, folder) as port:
        yield Site(port, folder)


@pytest.fixture
def site(running: Site, transactional_db: None, settings: Any) -> Site:
    settings.SESSION_ENGINE = "accounts.sessions"  # where the web server looks for them
    return running


@pytest.fixture
def study(transactional_db: None) -> Benchmark:
    admin = UserFactory(email="admin@example.org")
    # As the product hashes it: the settings of tests take a faster way.
    admin.password = Argon2PasswordHasher().encode(PASSWORD, "salt of this test")
    admin.save()
    return BenchmarkFactory(slug="study", admin=admin)


@pytest.fixture
def physician(study: Benchmark) -> User:
    return member(ExpertGroupFactory(benchmark=study))


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return f"sessionid={client.cookies['sessionid'].value}; csrftoken={'t' * 32}"


def test_300_mb_leave_at_most_4_mb_of_the_client_and_nothing_on_the_disk(site: Site, physician: User) -> None:
    senders: list[tuple[str, dict[str, str]]] = [
        (SIGN_IN, {}),
        (IMPORT_PAGE, {}),
        (IMPORT_PAGE, {"Cookie": session_of(physician)}),
        (IMPORT_API, {}),
        (IMPORT_API, {"Authorization": "Token 0123456789"}),
        (IMPORT_API, {"Authorization": f"Token {token_of(physician)}"}),
        ("/there/is/no/such/page/", {}),
    ]
    for path, headers in senders:
        answer = site.upload(path, size=300 * MB, **headers)
        assert answer.status == 413, (path, headers, answer)
        assert answer.sent <= 4 * MB, (path, headers, answer.sent)
        assert answer.on_disk == 0, (path, headers, answer.on_disk)


def test_whoever_goes_on_sending_fills_no_disk(site: Site, study: Benchmark) -> None:
    answer = site.upload(SIGN_IN, size=60 * MB, stubborn=True)
    assert (answer.status, answer.on_disk) == (413, 0)


@pytest.mark.parametrize("by", ["page", "api"])
def test_an_admin_imports_a_file_of_more_than_3_mb(site: Site, study: Benchmark, by: str) -> None:
    content = (json.dumps({"case": "1", "response": "x" * 1000}) + "\n").encode() * 5000
    assert len(content) > 5 * MB
    admin = User.objects.get(email="admin@example.org")
    visitor = Visitor(site)
    headers = {"Content_Type": f"multipart/form-data; boundary={BOUNDARY}"}
    if by == "page":
        visitor.sign_in(admin)
        body = multipart(content, kind="cases", csrfmiddlewaretoken=visitor.token(IMPORT_PAGE))
        answer = visitor.ask("POST", IMPORT_PAGE, body, **headers)
        assert answer.status == 302, answer.text[:500]
    else:
        headers["Authorization"] = f"Token {token_of(admin)}"
        answer = visitor.ask("POST", IMPORT_API, multipart(content, kind="cases"), **headers)
        assert answer.status == 201, answer.text[:500]
    assert ImportJob.objects.get().bytes_total == len(content)


def test_the_sign_in_form_works_and_its_token_is_asked_for(site: Site, study: Benchmark) -> None:
    visitor = Visitor(site)
    visitor.sign_in(User.objects.get(email="admin@example.org"))
    stranger = Visitor(site)
    stranger.token(SIGN_IN)
    body = urlencode({"login": "admin@example.org", "password": PASSWORD}).encode()
    answer = stranger.ask("POST", SIGN_IN, body, Content_Type="application/x-www-form-urlencoded")
    assert answer.status == 403


def chunk(block: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(block), block)


def chunked(size: int) -> bytes:
    return chunk(b"x" * 65536) * (size // 65536) + b"0\r\n\r\n"


# What stands in an address, by the kind of its place.
PLACES = {
    "int": "1", "slug": "study", "report_section": "scores", "table_ending": "csv", "figure_ending": "svg",
    "text_ending": "md",
}  # fmt: skip


def routes(patterns: Iterable[Any], before: str = "/") -> Iterator[str]:
    """An address of every route; what stands in it leads to nothing."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
            continue
        path = re.sub(r"<(?:(\w+):)?\w+>", lambda part: PLACES.get(part[1], "x"), route)
        yield "/accounts/password/reset/key/1-x/" if "(?P" in path else path


@pytest.mark.parametrize("in_chunks", [False, True], ids=["with a length", "in chunks"])
def test_1_gb_at_every_route_leaves_at_most_4_mb_of_a_stranger_and_nothing_on_the_disk(
    site: Site, study: Benchmark, in_chunks: bool
) -> None:
    """By a stranger with a made-up token of forms. In `make test` at every twelfth route."""
    addresses = sorted(set(routes(get_resolver().url_patterns)))
    assert len(addresses) > 400
    for path in addresses:
        resolve(path)  # so that no route is left out by what stands in its place
    for path in addresses if FULL else addresses[in_chunks::12]:
        answer = site.upload(path, size=1000 * MB, in_chunks=in_chunks)
        assert 400 <= answer.status < 500 if in_chunks else answer.status == 413, (path, answer)
        assert answer.sent <= 4 * MB, (path, answer.sent)
        assert answer.on_disk == 0, (path, answer.on_disk)


def test_a_chunked_body_is_not_read(site: Site, study: Benchmark) -> None:
    lines = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Transfer-Encoding": "chunked"}
    admin = User.objects.get(email="admin@example.org")
    for cookies in (f"csrftoken={'t' * 32}", session_of(admin)):
        answer = site.raw(IMPORT_PAGE, {**lines, "Cookie": cookies}, chunked(20 * MB))
        assert (answer.status, answer.on_disk) == (403, 0), answer
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ({"Content-Length": "-1"}, 400),
        ({"Content-Length": "many"}, 400),
        ({"Content-Length": "3e9"}, 400),
        ({"Content-Length": "1_000"}, 400),
        ({"Content-Length": "9" * 19}, 413),
        ({"Content-Length": "9" * 30}, 400),
        ({"Content-Length": "9" * 4000}, 400),
        ({"Content-Length": "10", "content-length": "11"}, 400),
        ({"Content-Length": "10", "Transfer-Encoding": "chunked"}, 403),  # chunked goes first, and is not read
    ],
)  # fmt: skip
def test_lengths_that_are_none(site: Site, lines: dict[str, str], status: int) -> None:
    answer = site.raw(SIGN_IN, {"Content-Type": "application/x-www-form-urlencoded", **lines}, b"x" * 10)
    assert answer.status == status, answer


def test_whatever_follows_a_body_with_two_lengths_is_no_request(site: Site) -> None:
    hidden = f"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost:{site.port}\r\n\r\n"
    head = f"POST {SIGN_IN} HTTP/1.1\r\nHost: localhost:{site.port}\r\nTransfer-Encoding: chunked\r\n"
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(f"{head}Content-Length: {len(hidden)}\r\n\r\n{hidden}".encode())
        received = b""
        with contextlib.suppress(ConnectionError):
            while data := connection.recv(65536):  # until the server closes
                received += data
    assert received.startswith(b"HTTP/1.1 403"), received[:200]
    assert received.count(b"HTTP/1.1 ") == 1, received[-300:]
