"""The web server: granian, with the application loaded before its processes fork.

    python -m standalone.web_server --bind HOST:PORT | --descriptor NUMBER

granian itself has no option for a socket that listens already, lets each process listen for itself, and loads the
application once in each. One shared socket means that the end of a process refuses nobody; an application that is
loaded once takes a third less memory. tests/infra/test_web_server.py holds the private method that this replaces.
"""

from __future__ import annotations

import argparse
import errno
import gc
import multiprocessing
import os
import socket
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

os.environ.setdefault("CONSILIUM_WEB", "1")

from django.conf import settings
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.common import AbstractServer
from granian.server.mp import MPServer

from consilium.logs import logging_settings
from consilium.request_bodies import MAX_LONG_READERS, MAX_MEDIUM_READERS, MAX_SHORT_READERS
from standalone.processes import BACKLOG

# Not for more work at once, but because a body that comes slowly holds a thread. A thread starts when it is needed, and
# ends when it was idle for 30 seconds.
OTHER_THREADS = 20
THREADS = MAX_SHORT_READERS + MAX_MEDIUM_READERS + MAX_LONG_READERS + OTHER_THREADS
HEADERS_WITHIN_MS = 10_000
MAX_HEADER_BYTES = 65_536
MAX_PORT = 65_535
STOP_WITHIN_S = 5
# What WSGI says of a request; a variable of the environment with such a name is none.
REQUEST_NAMES = frozenset(
    {
        *("REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "CONTENT_TYPE", "CONTENT_LENGTH"),
        *("SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "REMOTE_ADDR", "HTTP_HOST"),
    }
)


class WebServer(MPServer):
    """granian at a socket that listens already."""

    def __init__(self, listener: socket.socket) -> None:
        level = os.environ.get("LOG_LEVEL", "INFO").upper()
        super().__init__(
            "config.wsgi:application",
            address=str(listener.getsockname()[0]),
            port=int(listener.getsockname()[1]),
            interface=Interfaces.WSGI,
            http=HTTPModes.http1,
            websockets=False,
            workers=settings.WEB_PROCESSES,
            blocking_threads=THREADS,
            runtime_threads=1,
            backlog=BACKLOG,
            backpressure=BACKLOG,
            http1_settings=HTTP1Settings(header_read_timeout=HEADERS_WITHIN_MS, max_buffer_size=MAX_HEADER_BYTES),
            log_level=LogLevels(level.lower()),
            log_dictconfig=logging_settings(level=level),
            respawn_failed_workers=True,
            workers_kill_timeout=STOP_WITHIN_S,
        )
        self._listener = listener

    def serve_application(self, application: Callable[..., Any]) -> None:
        """Serve until a signal ends it. Past `MPServer.serve`, which warns of the number of threads."""
        AbstractServer.serve(self, target_loader=lambda: without_environment(application), wrap_loader=False)

    def _init_shared_socket(self) -> None:
        self._ssp = None
        self._sso = self._listener
        descriptor = self._listener.fileno()
        self._sfd = descriptor  # type: ignore[assignment]
        self._shd = SocketHolder(descriptor, False, BACKLOG)  # type: ignore[assignment, call-arg]


def without_environment(application: Callable[..., Any]) -> Callable[..., Any]:
    """The application, without the process's environment in that of a request, where granian puts it: it has keys."""
    names = frozenset(os.environ) - REQUEST_NAMES

    def served(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        for name in names:
            environ.pop(name, None)
        return application(environ, start_response)

    return served


def bound(bind: str) -> socket.socket:
    """A socket at ``host:port``, which nobody else can take; it does not listen yet."""
    host, _, port = bind.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port[:6]) <= MAX_PORT):
        raise OSError(errno.EINVAL, "it must be host:port, with a number for the port")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host.strip("[]"), int(port)))
    return listener


def main() -> None:
    """Serve until a signal ends it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--bind", help="host:port")
    where.add_argument("--descriptor", type=int, help="of a socket that listens")
    options = parser.parse_args()
    try:
        listener = bound(options.bind) if options.bind is not None else socket.socket(fileno=options.descriptor)
    except OSError as error:
        place = options.bind if options.bind is not None else f"descriptor {options.descriptor}"
        sys.exit(f"Cannot listen on {place}: {error.strerror}")
    multiprocessing.set_start_method("fork")
    application = import_module("config.wsgi").application
    # Connections inherit it. Else an answer in two pieces would wait some 40 ms until the first one is confirmed.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.listen(BACKLOG)
    gc.freeze()  # what is loaded stays; looking at it would copy its pages into each process
    WebServer(listener).serve_application(application)


if __name__ == "__main__":
    main()
