"""Whether saves wait for clients that hold connections: idle ones, slow headers, slow bodies.

    .venv/bin/python bench/slow_clients.py [--seconds 120] [--idle 1000] [--headers 200] [--bodies 200] [--length 5000]

Eight clients save a decision four times a second, first alone, then beside the held connections, then alone again. A
held connection sends a byte a second of a header or of a body, or nothing; one that the server closes is opened again.
Prints the waits, and whether a process of the web server was started anew.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from grading import CRITERIA, PORT, Browser, Measure, fill, in_threads, sign_in
from processes import web_server
from scratch import family, quantile, scratch_product

CLIENTS = 8
SAVES_PER_S = 4
HEADERS = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
BODY = b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
BODY += b"Content-Length: %d\r\n\r\n"


class Connections:
    """Connections that stay open, in a thread."""

    def __init__(self, port: int, *, idle: int, headers: int, bodies: int, length: int) -> None:
        self._port = port
        self._kinds = [b""] * idle + [HEADERS] * headers + [BODY % length] * bodies
        self._open: list[socket.socket | None] = [None] * len(self._kinds)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.opened = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold all of them during the block."""
        self._turn()
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()
            for connection in self._open:
                if connection is not None:
                    connection.close()

    def _run(self) -> None:
        while not self._over.wait(1.0):
            self._turn()

    def _turn(self) -> None:
        for at, (begin, connection) in enumerate(zip(self._kinds, self._open, strict=True)):
            try:
                if connection is None:
                    self._open[at] = self._connect(begin)
                elif self._is_closed(connection):
                    connection.close()
                    self._open[at] = None
                elif begin:
                    connection.send(b"x")
            except OSError:
                self._open[at] = None

    def _connect(self, begin: bytes) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=5)
        self.opened += 1
        if begin:
            connection.sendall(begin)
        connection.setblocking(False)  # with a time limit, each look at an idle connection would wait so long
        return connection

    def _is_closed(self, connection: socket.socket) -> bool:
        with contextlib.suppress(BlockingIOError):
            return not connection.recv(4096, socket.MSG_DONTWAIT)
        return False


class Saves(Measure):
    """Clients that save at a steady pace."""

    def paced(self, seconds: float) -> list[float]:
        """The waits for all saves within ``seconds``."""
        self.RESPONSES = {1: int(seconds * SAVES_PER_S) // CRITERIA + 1}
        ready: dict[int, list[tuple[str, list[int]]]] = {number: [] for number in range(CLIENTS)}
        browsers = {number: Browser(self.cookies[number]) for number in range(CLIENTS)}
        self._prepare(ready, browsers, self.RESPONSES[1])
        until = time.monotonic() + seconds

        def work(number: int) -> list[float]:
            times = []
            for public_id, ids in ready[number]:
                for criterion in ids:
                    if time.monotonic() > until:
                        return times
                    row = {"criterion": criterion, "outcome": "met", "version": 0, "client_id": str(uuid.uuid4())}
                    waited, text = browsers[number].ask("POST", f"/work/{public_id}/decisions/", {"decisions": [row]})
                    if '"saved"' not in text:
                        raise RuntimeError(text[:200])
                    times.append(waited)
                    time.sleep(max(0.0, 1 / SAVES_PER_S - waited))
            return times

        return in_threads(CLIENTS, work)[0]


def main() -> None:
    """Save alone, beside held connections, and alone again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--idle", type=int, default=1000)
    parser.add_argument("--headers", type=int, default=200)
    parser.add_argument("--bodies", type=int, default=200)
    parser.add_argument("--length", type=int, default=5000, help="of the bodies, in bytes")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    opens = 3 * (int(options.seconds * SAVES_PER_S) // CRITERIA + 2)
    with scratch_product() as home:
        queues = fill(home, responses=250 + CLIENTS * opens, clients=CLIENTS, opens=opens, rng=random.Random(7))
        cookies = sign_in(CLIENTS)
        with web_server(PORT) as server:
            saves = Saves(queues, cookies, server.pid)
            processes = set(family(server.pid))
            p95 = {}
            saves.paced(5)
            for name in ("alone", "beside", "again"):
                connections = Connections(
                    PORT, idle=options.idle, headers=options.headers, bodies=options.bodies, length=options.length
                )
                with connections.hold() if name == "beside" else contextlib.nullcontext():
                    times = saves.paced(options.seconds)
                p95[name] = 1000 * quantile(times, 0.95)
                p50 = 1000 * quantile(times, 0.5)
                print(
                    f"{name:8} {len(times):6,} saves  p50 {p50:6.1f} ms  p95 {p95[name]:6.1f} ms"
                    f"  most {1000 * max(times):7.1f} ms  {connections.opened:6,} connections opened"
                )
            before = (p95["alone"] + p95["again"]) / 2
            same = "none" if set(family(server.pid)) >= processes else "some"
            print(f"p95 beside held connections: {p95['beside'] / before:.2f} times; processes started anew: {same}")


if __name__ == "__main__":
    main()
