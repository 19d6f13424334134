"""Reads the bodies of requests so that slow ones leave threads for all else: a WSGI wrapper around the application.

The web server gives a request a thread as soon as its headers are there, and the thread waits for the body, for as long
as it takes. So here:

- a short body (up to `IN_MEMORY` bytes, as every save has) is read whole before the application is called, so that a
  slow one holds no connection of the database;
- so is a medium one (up to ``max_spooled`` bytes), into a temporary file;
- a long one is read by the application, which first looks whether its sender may send it. By then the request has a
  connection of the database, so places for these are fewer than connections in the pool;
- a process reads at most `MAX_SHORT_READERS`, `MAX_MEDIUM_READERS` and `MAX_LONG_READERS` bodies of each kind at once,
  so that those of one kind leave the places of the others, and those of one network address half of them. A further
  one is refused at once (503), unread;
- a body that ends before its length is refused (400): the first half of a form is not taken for the whole form;
- where the temporary folder has no room for a medium one, it is refused (503).

There is no limit of time: granian cannot end a read, and it stops the whole process if a request is answered while
another thread still reads its body (seen with 2.8.9). A proxy in front that reads bodies first has such a limit.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import tempfile
import threading
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from django.http import HttpRequest

from consilium.logs import sender_address

IN_MEMORY = 65_536
# Clients spread unevenly over the processes: 200 slow bodies of one address fit into a single one, and leave places.
MAX_SHORT_READERS = 480
MAX_MEDIUM_READERS = 48
MAX_LONG_READERS = 4

logger = logging.getLogger(__name__)

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
    text = "The body ended before its length."


class TooManyBodies(BodyRefused):
    """Others are read."""

    status = "503 Service Unavailable"
    text = "Too many requests at once. Nothing was saved. Try again."


class NoRoom(BodyRefused):
    """The temporary folder takes no more."""

    status = "503 Service Unavailable"
    text = "The server has no room for this request. Nothing was saved. Try again later."


class Places:
    """Places for ``number`` bodies that are read at once; those of one network address take at most half of them."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._free_for: dict[str, int] = {}  # addresses that have a place
        self._of_one_address = (number + 1) // 2
        self._lock = threading.Lock()

    def take(self, address: str) -> bool:
        """Take a place, if there is one."""
        with self._lock:
            free = min(self._free, self._free_for.get(address, self._of_one_address))
            if free > 0:
                self._free -= 1
                self._free_for[address] = self._free_for.get(address, self._of_one_address) - 1
            return free > 0

    def give_back(self, address: str) -> None:
        """Give back a place."""
        with self._lock:
            self._free += 1
            self._free_for[address] += 1
            if self._free_for[address] == self._of_one_address:
                del self._free_for[address]


class BoundedBody(io.RawIOBase):
    """A body of ``length`` bytes, which takes a place when it is first read, until it is closed."""

    def __init__(self, body: Body, length: int, places: Places, address: str) -> None:
        super().__init__()
        self._body = body
        self._left = length
        self._places = places
        self._address = address
        self._has_place = False
        self.refused: BodyRefused | None = None

    def read(self, size: int | None = -1) -> bytes:
        """Up to ``size`` bytes; `BodyRefused` where there are fewer than the length says, or too many readers."""
        if self.refused is not None:
            raise self.refused
        count = self._left if size is None or size < 0 else min(size, self._left)
        if count == 0:
            return b""
        if not self._has_place:
            if not self._places.take(self._address):
                self.refused = TooManyBodies()
                raise self.refused
            self._has_place = True
        data = self._body.read(count)
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

    def close(self) -> None:
        """Give the place back."""
        if self._has_place:
            self._has_place = False
            self._places.give_back(self._address)
        super().close()


def bound_bodies(
    application: Application,
    *,
    max_spooled: int,
    max_short_readers: int = MAX_SHORT_READERS,
    max_medium_readers: int = MAX_MEDIUM_READERS,
    max_long_readers: int = MAX_LONG_READERS,
) -> Application:
    """The application, with bodies of up to ``max_spooled`` bytes read before it is called, and few at once."""
    short, medium, long = Places(max_short_readers), Places(max_medium_readers), Places(max_long_readers)

    def bounded(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        text = environ.get("CONTENT_LENGTH") or ""
        length = int(text[:20]) if text.isascii() and text.isdecimal() else 0  # 20 digits exceed every limit
        if length == 0:
            return application(environ, start_response)  # without a length nothing is read
        if length <= max_spooled:
            return spooled(environ, start_response, length)
        with BoundedBody(environ["wsgi.input"], length, long, _address_of(environ)) as body:
            environ["wsgi.input"] = body
            response = application(environ, start_response)
        if body.refused is None:
            return response
        if hasattr(response, "close"):
            response.close()
        return _refuse(body.refused, start_response, environ.get("PATH_INFO", ""))

    def spooled(environ: Environ, start_response: StartResponse, length: int) -> Iterable[bytes]:
        places = short if length <= IN_MEMORY else medium
        try:
            file = _spool(BoundedBody(environ["wsgi.input"], length, places, _address_of(environ)))
        except BodyRefused as refused:
            return _refuse(refused, start_response, environ.get("PATH_INFO", ""))
        with file:
            environ["wsgi.input"] = file
            return application(environ, start_response)

    return bounded


def _address_of(environ: Environ) -> str:
    request = HttpRequest()
    request.META = environ
    return sender_address(request)


def _spool(body: BoundedBody) -> tempfile.SpooledTemporaryFile[bytes]:
    """The whole body in memory or in a temporary file; `NoRoom` where that cannot be written."""
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  (the caller closes it)
    try:
        with body:
            while data := body.read(IN_MEMORY):
                file.write(data)
        file.seek(0)  # writes what is still in the buffer
    except OSError as error:
        with contextlib.suppress(OSError):  # it tries once more to write what is in the buffer
            file.close()
        if isinstance(error, BodyRefused):
            raise
        logger.exception("A body could not be kept in the temporary folder")
        raise NoRoom from error
    return file


def _refuse(refused: BodyRefused, start_response: StartResponse, path: str) -> list[bytes]:
    """Refuse in English, because nobody has asked for the language yet: as JSON to the API, as a line to others."""
    if path.startswith("/api/"):
        kind, text = "application/json", json.dumps({"detail": refused.text}).encode()
    else:
        kind, text = "text/plain; charset=utf-8", f"{refused.text}\n".encode()
    headers = [("Content-Type", kind), ("Content-Length", str(len(text)))]
    start_response(refused.status, [*headers, ("Retry-After", "5")])
    return [text]
