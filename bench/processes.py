"""The processes of a measurement: starting them, a Redis of its own, and what they used (Linux)."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from scratch import ROOT, family


@contextmanager
def child(arguments: Sequence[str], *, before: Sequence[str] = (), **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A Python process that ends with the block; ``before`` is the prefix of its command."""
    process = subprocess.Popen([*before, sys.executable, *arguments], **{"cwd": ROOT, "text": True, **options})
    try:
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[Any]) -> None:
    """Ask a process to end; kill it and what it started if it does not."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        for pid in family(process.pid):
            os.kill(pid, 9)
        process.wait()


def wait_for(condition: Callable[[], bool], *, within_s: float, what: str) -> None:
    """Return when ``condition`` holds; end the measurement if it does not in time."""
    until = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until:
            raise SystemExit(f"Not within {within_s:g} s: {what}")
        time.sleep(0.05)


@contextmanager
def web_server(port: int) -> Iterator[subprocess.Popen[str]]:
    """The product's own web server on loopback, once it answers."""
    from django.core.management import call_command

    from standalone.processes import web

    with open(os.devnull, "w") as quiet:
        call_command("collectstatic", interactive=False, verbosity=0, stdout=quiet)
    arguments = web(bind=f"127.0.0.1:{port}").arguments
    environment = {**os.environ, "PORT": str(port)}  # requests for another port are refused
    with child(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        wait_for(lambda: _is_well(port), within_s=60, what="the web server answers")
        yield server


def _is_well(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/healthz")
        connection.getresponse().read()
    except OSError:
        return False
    finally:
        connection.close()
    return True


@contextmanager
def redis_server(*addresses: str) -> Iterator[tuple[int, int]]:
    """A Redis that keeps nothing, at a free port of loopback and of ``addresses``; yields its port and its process."""
    program = shutil.which("redis-server")
    if program is None:
        raise SystemExit("No redis-server found: install the package redis-server, or take --broker embedded.")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="consilium-bench-redis-") as folder:
        command = [program, "--port", str(port), "--dir", folder, "--save", "", "--appendonly", "no"]
        command += ["--protected-mode", "no", "--bind", "127.0.0.1", *addresses]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            wait_for(lambda: _listens(port), within_s=10, what="Redis listens")
            yield port, server.pid
        finally:
            stop(server)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def cpu_seconds(pid: int) -> float:
    """CPU seconds so far of a process and all below it, including processes that ended."""
    ticks = 0
    for member in family(pid):
        try:
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))  # user and system time, its own and that of children that ended
    return ticks / os.sysconf("SC_CLK_TCK")


def database_process() -> int | None:
    """Number of the embedded PostgreSQL's main process; None where the database is a server elsewhere."""
    from django.conf import settings

    if not settings.EMBEDDED:
        return None
    from standalone.embedded import server_for

    return int((server_for(settings.CONSILIUM_HOME).data / "postmaster.pid").read_text().split("\n", 1)[0])


class Watch:
    """The largest resident set (``rss``) and the largest share of memory (``pss``) of one process of some trees, in MB.

    The resident set counts shared pages in each process; the proportional set divides them among the processes.
    """

    def __init__(self, *pids: int, every_s: float = 1.0) -> None:
        self._pids = pids
        self._every_s = every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.rss = self.pss = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def _run(self) -> None:
        while not self._over.wait(self._every_s):
            self._look()

    def _look(self) -> None:
        for pid in self._pids:
            with contextlib.suppress(OSError):  # a process may end while it is read
                for member in family(pid):
                    self.rss = max(self.rss, _field(Path(f"/proc/{member}/status"), "VmHWM"))
                    self.pss = max(self.pss, _field(Path(f"/proc/{member}/smaps_rollup"), "Pss"))


def _field(path: Path, name: str) -> float:
    """A field in KiB as MB."""
    line = next((line for line in path.read_text().splitlines() if line.startswith(f"{name}:")), "0 0")
    return int(line.split()[1]) * 1024 / 1e6
