"""The processes that make up the running product, and how each is started. ``docker-compose.yml`` starts the same."""

from __future__ import annotations

from dataclasses import dataclass

BACKLOG = 4096  # connections that wait for the web server


@dataclass(frozen=True, slots=True)
class Process:
    """One long-running process: its name, and its command as the arguments after the Python interpreter.

    A process with a heartbeat writes a row as long as it makes progress (``consilium.core.heartbeat``). ``inherits``
    are the descriptors of open files that it gets from whoever starts it.
    """

    name: str
    arguments: tuple[str, ...]
    has_heartbeat: bool = False
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
    has_heartbeat=True,
)
BEAT = Process("beat", ("-m", "celery", "--app", "config", "beat", "--pidfile=", "--loglevel", "INFO"))
