"""The web server: what it finishes when it stops, what it refuses, and who waits for slow clients."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from consilium.request_bodies import bound_bodies
from tests.factories import BenchmarkFactory, UserFactory
from tests.processes import ROOT, web_server

pytestmark = pytest.mark.slow
HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def port(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("web") / "bodies"
    folder.mkdir()
    with web_server(process_environment, folder) as port:
        yield port


def ask(
    port: int, method: str = "GET", path: str = "/healthz", body: str | None = None, **headers: str
) -> tuple[int, float]:
    """The status of a request, and how long it took."""
    connection = http.client.HTTPConnection(HOST, port, timeout=120)
    began = time.monotonic()
    connection.request(method, path, body, headers={"Host": f"localhost:{port}", **headers})
    status = connection.getresponse().status
    connection.close()
    return status, time.monotonic() - began


def sends(port: int, text: str) -> bytes:
    """The beginning of the answer to what is sent as it is."""
    with socket.create_connection((HOST, port), timeout=30) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(text.encode())
        return connection.recv(60)
    return b""


def test_idle_connections_and_slow_headers_and_bodies_hold_up_nobody(port: int) -> None:
    begin = f"POST /accounts/login/ HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 5000\r\n"
    begin += "Content-Type: application/x-www-form-urlencoded\r\n"
    held = []
    for text in [""] * 100 + [begin] * 20 + [f"{begin}\r\nlogin="] * 20:
        held.append(socket.create_connection((HOST, port), timeout=30))
        held[-1].sendall(text.encode())
    try:
        for _number in range(20):
            status, seconds = ask(port)
            assert (status, seconds < 5) == (200, True)
            status, seconds = ask(port, path="/accounts/login/")
            assert (status, seconds < 10) == (200, True)
    finally:
        for connection in held:
            connection.close()


@pytest.fixture
def cookie(transactional_db: None, settings: Any) -> str:
    """Of the admin of the benchmark `study`."""
    settings.SESSION_ENGINE = "accounts.sessions"
    client = Client()
    client.force_login(BenchmarkFactory(slug="study", admin=UserFactory()).roles.get().user)
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}; csrftoken={'t' * 32}"


def test_slow_bodies_of_people_with_a_session_hold_no_connection_of_the_database(
    process_environment: dict[str, str], tmp_path: Path, cookie: str
) -> None:
    folder = tmp_path / "bodies"
    folder.mkdir()
    held: list[socket.socket] = []

    def hold(port: int, path: str, length: int) -> None:
        text = f"POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {length}\r\nCookie: {cookie}\r\n"
        text += "Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
        held.append(socket.create_connection((HOST, port), timeout=30))
        held[-1].sendall(text.encode())

    def answers() -> list[bytes]:
        """What came over the held connections."""
        poll = select.poll()
        for connection in held:
            poll.register(connection, select.POLLIN)
        readable = {descriptor for descriptor, _event in poll.poll(0)}
        texts = [connection.recv(1000) for connection in held if connection.fileno() in readable]
        return [text for text in texts if text]  # not those that were closed after their answer

    def assert_quick(port: int) -> None:
        for path in ("/healthz", "/b/study/judges/"):
            status, seconds = ask(port, path=path, Cookie=cookie)
            assert (path, status, seconds < 8) == (path, 200, True)

    with web_server({**process_environment, "WEB_PROCESSES": "1"}, folder) as port:
        try:
            assert_quick(port)
            for length in [5_000] * 200 + [100_000] * 30:  # the pool has 10 connections
                hold(port, "/accounts/login/", length)
            time.sleep(1)
            assert_quick(port)
            # One address has half of the 48 places for medium bodies.
            assert [answer[9:12] for answer in answers()] == [b"503"] * 6
            status, seconds = ask(port, "POST", "/accounts/login/", body="login=a")
            assert (status, seconds < 8) == (403, True)  # it was read: it lacks the token of the form
            # Bodies that are too long to be read first, by somebody who may send them.
            for _number in range(12):
                hold(port, "/b/study/imports/", 5_000_000)
            time.sleep(3)
            refused = answers()
            assert len(refused) == 10
            assert all(answer[9:12] == b"503" and b"retry-after: 5" in answer.lower() for answer in refused)
            assert_quick(port)
        finally:
            for connection in held:
                connection.close()


@pytest.mark.parametrize(
    ("line", "header", "status"),
    [(8_000, 8_000, b"200"), (70_000, 10, b"414"), (10, 200_000, b"431")],
)
def test_long_addresses_and_headers_are_refused(port: int, line: int, header: int, status: bytes) -> None:
    text = f"GET /healthz?{'q' * line} HTTP/1.1\r\nHost: localhost\r\nX-Long: {'h' * header}\r\n\r\n"
    assert sends(port, text)[9:12] == status


def test_a_body_that_ends_before_its_length_is_not_read_as_a_form(port: int) -> None:
    with socket.create_connection((HOST, port), timeout=30) as connection:
        form = f"POST /accounts/login/ HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 100\r\n"
        form += "Content-Type: application/x-www-form-urlencoded\r\n\r\nlogin=a"
        connection.sendall(form.encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(60)[9:12] in (b"400", b"")


class Body:
    """``wsgi.input`` whose bytes come when the test says so."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.is_read = threading.Event()
        self.may_end = threading.Event()

    def read(self, size: int) -> bytes:
        self.is_read.set()
        if size:
            self.may_end.wait(30)
        data, self.data = self.data[:size], self.data[size:]
        return data


def call(application: Any, body: Body, length: int, address: str = "192.0.2.1") -> tuple[str, bytes]:
    statuses: list[str] = []
    environ = {"REQUEST_METHOD": "POST", "REMOTE_ADDR": address, "CONTENT_LENGTH": str(length), "wsgi.input": body}
    answer = b"".join(application(environ, lambda status, _headers: statuses.append(status)))
    return statuses[-1], answer


def echo(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """Answer with the body, or with 200 and nothing where it cannot be read, as Django might."""
    data = b""
    with contextlib.suppress(OSError):
        data = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    start_response("200 OK", [])
    return [data]


# A body in memory, one in a file, and one that the application reads.
@pytest.mark.parametrize(("length", "max_spooled"), [(5, 100_000), (70_000, 100_000), (70_000, 50_000)])
def test_no_more_bodies_are_read_at_once_than_there_are_places(length: int, max_spooled: int) -> None:
    application = bound_bodies(
        echo, max_spooled=max_spooled, max_short_readers=4, max_medium_readers=4, max_long_readers=4
    )
    slow = [Body(b"x" * length) for _number in range(4)]
    answers: list[tuple[str, bytes]] = []

    def send(body: Body, address: str) -> None:
        answers.append(call(application, body, length, address))

    addresses = ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"]
    threads = [threading.Thread(target=send, args=each) for each in zip(slow, addresses, strict=True)]
    for thread in threads:
        thread.start()
    assert all(body.is_read.wait(30) for body in slow)
    assert call(application, Body(), length, "192.0.2.4")[0] == "503 Service Unavailable"
    assert call(application, Body(), 0) == ("200 OK", b"")  # a request without a body takes no place
    for body in slow:
        body.may_end.set()
    for thread in threads:
        thread.join()
    assert answers == [("200 OK", b"x" * length)] * 4
    whole = Body(b"y" * length)
    whole.may_end.set()
    assert call(application, whole, length) == ("200 OK", b"y" * length)


@pytest.mark.parametrize("length", [5, 70_000, 200_000])
def test_bodies_of_one_address_leave_half_of_the_places(length: int) -> None:
    application = bound_bodies(echo, max_spooled=100_000, max_short_readers=4, max_medium_readers=4, max_long_readers=4)
    slow = [Body(b"x" * length) for _number in range(2)]
    threads = [threading.Thread(target=call, args=[application, body, length, "192.0.2.1"]) for body in slow]
    for thread in threads:
        thread.start()
    assert all(body.is_read.wait(30) for body in slow)
    whole = Body(b"y" * length)
    whole.may_end.set()
    assert call(application, Body(), length, "192.0.2.1")[0] == "503 Service Unavailable"
    assert call(application, whole, length, "192.0.2.2") == ("200 OK", b"y" * length)
    for body in slow:
        body.may_end.set()
    for thread in threads:
        thread.join()
    whole = Body(b"y" * length)
    whole.may_end.set()
    assert call(application, whole, length, "192.0.2.1") == ("200 OK", b"y" * length)


def test_bodies_of_one_kind_leave_the_places_of_the_others() -> None:
    application = bound_bodies(echo, max_spooled=100_000, max_short_readers=1, max_medium_readers=1, max_long_readers=1)
    slow = {length: Body(b"x" * length) for length in (5, 70_000, 200_000)}
    answers: dict[int, tuple[str, bytes]] = {}

    def send(length: int) -> None:
        answers[length] = call(application, slow[length], length)

    threads = [threading.Thread(target=send, args=[length]) for length in slow]
    for thread in threads:
        thread.start()
    assert all(body.is_read.wait(30) for body in slow.values())  # all at once
    for body in slow.values():
        body.may_end.set()
    for thread in threads:
        thread.join()
    assert answers == {length: ("200 OK", b"x" * length) for length in slow}


@pytest.mark.parametrize("max_spooled", [100_000, 50_000])
@pytest.mark.parametrize(("length", "received"), [(5, 4), (70_000, 69_999)])
def test_a_cut_body_is_refused_whatever_the_application_makes_of_it(
    length: int, received: int, max_spooled: int
) -> None:
    body = Body(b"x" * received)
    body.may_end.set()
    assert call(bound_bodies(echo, max_spooled=max_spooled), body, length)[0] == "400 Bad Request"


def test_a_stop_finishes_the_request_in_flight(process_environment: dict[str, str], tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        log = (tmp_path / "web.log").open("wb")
        server = subprocess.Popen(
            [sys.executable, "-m", "standalone.web_server", "--descriptor", str(listener.fileno())],
            cwd=ROOT,
            env={**process_environment, "DEBUG": "1", "CONSILIUM_WEB": "1", "PORT": str(port)},
            pass_fds=[listener.fileno()],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        assert ask(port)[0] == 200
        with socket.create_connection((HOST, port), timeout=60) as connection:
            request = f"POST /accounts/login/ HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 5\r\n\r\nlo"
            connection.sendall(request.encode())
            time.sleep(0.5)
            os.kill(server.pid, signal.SIGTERM)
            time.sleep(0.5)
            connection.sendall(b"gin")
            assert connection.recv(60)[9:12] == b"403"  # no token of a form
        assert server.wait(20) == 0
    finally:
        server.kill()
        log.close()


def test_a_taken_port_is_named(process_environment: dict[str, str]) -> None:
    with socket.create_server((HOST, 0)) as other:
        bind = f"{HOST}:{other.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-m", "standalone.web_server", "--bind", bind],
            cwd=ROOT, env=process_environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.strip() == f"Cannot listen on {bind}: Address already in use"


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("--bind", "127.0.0.1:http", "127.0.0.1:http: it must be host:port, with a number for the port"),
        ("--bind", "127.0.0.1:70000", "127.0.0.1:70000: it must be host:port, with a number for the port"),
        ("--bind", "", ": it must be host:port, with a number for the port"),
        ("--descriptor", "77", "descriptor 77: Bad file descriptor"),
    ],
)
def test_an_address_or_a_descriptor_that_is_none_is_named(
    process_environment: dict[str, str], option: str, value: str, text: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "standalone.web_server", option, value],
        cwd=ROOT, env=process_environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (1, f"Cannot listen on {text}")


def test_what_does_not_speak_http_is_not_well() -> None:
    def answer() -> None:
        connection, _address = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(b"220 mail.example.org\r\n")

    with socket.create_server((HOST, 0)) as listener:
        thread = threading.Thread(target=answer)
        thread.start()
        done = subprocess.run(
            [sys.executable, "-m", "consilium.healthcheck", f"http://{HOST}:{listener.getsockname()[1]}/healthz"],
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        thread.join()
    assert (done.returncode, done.stderr) == (1, "")


def test_a_temporary_folder_without_room_is_answered_503(process_environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "bodies"
    folder.mkdir()

    def post(port: int, path: str, length: int) -> tuple[int, str | None, str | None, str]:
        with contextlib.closing(http.client.HTTPConnection(HOST, port, timeout=60)) as connection:
            headers = {"Host": f"localhost:{port}", "Content-Type": "application/json"}
            connection.request("POST", path, b"x" * length, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, answer.getheader("Retry-After"), answer.getheader("Content-Type"), text

    with web_server({**process_environment, "WEB_PROCESSES": "1"}, folder) as port:
        assert post(port, "/api/v1/no/", 200_000)[0] == 404
        for process in web_processes(port):  # a file may have no more bytes than its log has
            resource.prlimit(process, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        text = "The server has no room for this request. Nothing was saved. Try again later."
        assert post(port, "/api/v1/no/", 200_000) == (503, "5", "application/json", json.dumps({"detail": text}))
        assert post(port, "/no/", 200_000) == (503, "5", "text/plain; charset=utf-8", f"{text}\n")
        assert post(port, "/api/v1/no/", 20_000)[0] == 404  # kept in memory
        assert not list(folder.iterdir())
    assert "A body could not be kept in the temporary folder" in (tmp_path / "bodies-web.log").read_text()


def web_processes(port: int) -> list[int]:
    """The web server at the port, and its children."""
    mine = [path for path in Path("/proc").glob("[0-9]*") if f"127.0.0.1:{port}" in command_line(path)]
    return [int(path.name) for path in mine]


def command_line(process: Path) -> str:
    """Empty where the process is gone."""
    with contextlib.suppress(OSError):
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


@pytest.mark.parametrize(("path", "kind"), [("/api/v1/accounts/", "application/json"), ("/accounts/", "text/plain")])
def test_a_body_that_is_not_read_is_refused_in_the_form_that_its_sender_reads(path: str, kind: str) -> None:
    kinds: list[str] = []
    body = Body(b"x" * 4)
    body.may_end.set()
    environ = {"CONTENT_LENGTH": "5", "PATH_INFO": path, "wsgi.input": body}
    application = bound_bodies(echo, max_spooled=100)
    answer = b"".join(application(environ, lambda _status, headers: kinds.append(dict(headers)["Content-Type"])))
    assert kinds[0].split(";")[0] == kind
    text = json.loads(answer)["detail"] if kind == "application/json" else answer.decode().strip()
    assert text == "The body ended before its length."
