"""Real processes for tests: Celery workers that a test can kill, a Redis that it can empty."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from standalone.processes import web
from standalone.reaper import stop_groups
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent


def children_of(parent: int) -> list[int]:
    """Numbers of the processes that ``parent`` has started and not waited for."""
    return [
        int(number)
        for thread in Path("/proc", str(parent), "task").iterdir()
        for number in thread.joinpath("children").read_text().split()
    ]


class Worker:
    """A Celery worker process over the test database and its broker; ``log`` holds what it said.

    With a ``queue`` of its own it takes only what is sent there, and no other worker of the session takes that.
    """

    def __init__(self, environment: dict[str, str], log: Path, *, concurrency: int = 1, queue: str = "celery") -> None:
        self.log = log
        with log.open("ab") as stream:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-m", "celery", "--app", "config", "worker",
                    "--concurrency", str(concurrency), "--queues", queue,
                    "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO",
                ],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        wait_until(self._is_ready, within_s=60, message="the Celery worker is ready")

    def _is_ready(self) -> bool:
        log = self.log.read_text(errors="replace")
        if self.process.poll() is not None:
            raise AssertionError(f"The Celery worker ended with {self.process.returncode}:\n{log[-4000:]}")
        return " ready." in log

    @property
    def pid(self) -> int:
        """Number of the main process; its group has the same."""
        return self.process.pid

    def children(self) -> list[int]:
        """Numbers of the living processes below the main one, the oldest first; also after that one was killed."""
        numbers = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                state, _parent, group = path.read_text().rpartition(") ")[2].split()[:3]
                if state != "Z" and int(group) == self.pid != int(path.parent.name):
                    numbers.append(int(path.parent.name))
        return sorted(numbers)

    def kill(self) -> None:
        """``kill -9`` the worker and its children, as a power cut would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End in good order; kill what does not."""
        stop_groups([self.pid])
        self.process.wait()


def kill_workers(workers: Iterable[Worker]) -> None:
    """Kill those that are alive."""
    for worker in workers:
        if worker.process.poll() is None:
            worker.kill()


@contextlib.contextmanager
def redis_server(folder: Path, *, port: int | None = None) -> Iterator[str]:
    """A Redis of one's own that keeps nothing; yields its address. A free port unless one is given."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.fail("No redis-server found: install the package redis-server.", pytrace=False)
    if port is None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    server = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )

    def listens() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(listens, message="Redis listens")
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def web_server(environment: dict[str, str], folder: Path) -> Iterator[int]:
    """The product's own web server as `up` starts it; yields its port. What it receives passes through ``folder``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder.parent / f"{folder.name}-web.log"
    # In debug mode style sheets need not be collected first; temporary files are what this tells apart.
    environment = {**environment, "DEBUG": "1", "CONSILIUM_WEB": "1", "PORT": str(port), "TMPDIR": str(folder)}
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [sys.executable, *web(bind=f"127.0.0.1:{port}").arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def listens() -> bool:
        if server.poll() is not None:
            raise AssertionError(f"The web server ended with {server.returncode}:\n{log.read_text()[-4000:]}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(listens, within_s=60, message="the web server listens")
        yield port
    finally:
        stop_groups([server.pid])
        server.wait()
