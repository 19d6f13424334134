"""Reads the bodies of requests so that slow ones leave threads for all else: a WSGI wrapper around the application.

The web server gives a request a thread as soon as its headers are there, and the thread waits for the body, for as long
as it takes. So here:

- at most `MAX_READERS` bodies are read at once in a process; a further one is refused at once (503), unread;
- a body that ends before its length is refused (400): the first half of a form is not taken for the whole form.

A short body is read before the application is called, so that a slow one holds no connection of the database.

There is no limit of time: granian cannot end a read, and it stops the whole process if a request is answered while
another thread still reads its body (seen with 2.8.9). A proxy in front that reads bodies first has such a limit.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable
from typing import Any, Protocol

MAX_READERS = 112
SHORT = 65_536

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]


class Body(Protocol):
    """The part of ``wsgi.input`` that is used."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""


class BodyRefused(OSError):
    """The body is not read further; Django takes it for a connection that was cut."""

    status = "400 Bad Request"
    text = b"The body ended before its length.\n"


class TooManyBodies(BodyRefused):
    """Others are read."""

    status = "503 Service Unavailable"
    text = b"Too many requests at once. Try again.\n"


class BoundedBody(io.RawIOBase):
    """A body of ``length`` bytes; ``readers`` are the places of those that are read at once."""

    def __init__(self, body: Body, length: int, readers: threading.Semaphore) -> None:
        super().__init__()
        self._body = body
        self._left = length
        self._readers = readers
        self.refused: BodyRefused | None = None

    def read(self, size: int | None = -1) -> bytes:
        """Up to ``size`` bytes; `BodyRefused` where there are fewer than the length says, or too many readers."""
        if self.refused is not None:
            raise self.refused
        count = self._left if size is None or size < 0 else min(size, self._left)
        if count == 0:
            return b""
        if not self._readers.acquire(blocking=False):
            self.refused = TooManyBodies()
            raise self.refused
        try:
            data = self._body.read(count)
        finally:
            self._readers.release()
        self._left -= len(data)
        if len(data) < count:
            self.refused = BodyRefused()
            raise self.refused
        return data

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As `read`, for the methods that are inherited."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def bound_bodies(application: Application, *, max_readers: int = MAX_READERS) -> Application:
    """The application, with at most ``max_readers`` bodies that are read at once."""
    readers = threading.BoundedSemaphore(max_readers)

    def bounded(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or ""
        if not (length.isascii() and length.isdecimal()) or int(length) == 0:
            return application(environ, start_response)  # without a length nothing is read
        body = BoundedBody(environ["wsgi.input"], int(length), readers)
        if int(length) <= SHORT:
            try:
                environ["wsgi.input"] = io.BytesIO(body.read())
            except BodyRefused as refused:
                return _refuse(refused, start_response)
            return application(environ, start_response)
        environ["wsgi.input"] = body
        response = application(environ, start_response)
        if body.refused is None:
            return response
        if hasattr(response, "close"):
            response.close()
        return _refuse(body.refused, start_response)

    return bounded


def _refuse(refused: BodyRefused, start_response: StartResponse) -> list[bytes]:
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(refused.text)))]
    start_response(refused.status, [*headers, ("Retry-After", "5")])
    return [refused.text]
