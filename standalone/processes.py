"""The processes that make up the running product, and how each is started. ``docker-compose.yml`` starts the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BACKLOG = 4096  # connections that wait for the web server


@dataclass(frozen=True, slots=True)
class Process:
    """One long-running process: its name, and its command as the arguments after the Python interpreter.

    ``heartbeat`` names the row that it writes as long as it makes progress (``consilium.core.heartbeat``). ``inherits``
    are the descriptors of open files that it gets from whoever starts it.
    """

    name: str
    arguments: tuple[str, ...]
    heartbeat: Literal["", "worker", "beat"] = ""
    inherits: tuple[int, ...] = ()


def web(*, bind: str = "", descriptor: int | None = None) -> Process:
    """The web server at ``bind`` (``host:port``), or at a socket that listens already (`standalone.web_server`)."""
    where = ("--bind", bind) if bind else ("--descriptor", str(descriptor))
    return Process(
        "web",
        ("-m", "standalone.web_server", *where),
        inherits=() if descriptor is None else (descriptor,),
    )


def rule_endpoint(*, port: int) -> Process:
    """The endpoint that follows rules, for the demo; it listens on this machine alone."""
    return Process("rules", ("manage.py", "rule_endpoint", "--port", str(port)))


WORKER = Process(
    "worker",
    (
        *("-m", "celery", "--app", "config", "worker", "--concurrency", "2"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"),
    ),
    heartbeat="worker",
)
BEAT = Process(
    "beat", ("-m", "celery", "--app", "config", "beat", "--pidfile=", "--loglevel", "INFO"), heartbeat="beat"
)
