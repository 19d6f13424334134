"""Serves chat completions over HTTP on this machine alone, from a function of the request."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from consilium.llm.rules.names import listing
from consilium.llm.staged import UnreadableRequest

HOST = "127.0.0.1"
MAX_BODY = 8_000_000  # bytes
IDLE_S = 120.0  # a connection is closed after so long without a request
Complete = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Page = Callable[[str, str], tuple[str, str] | None]  # from path and header Accept-Language to text and type


class RuleServer(ThreadingHTTPServer):
    """``/v1/chat/completions``, ``/v1/models``, and ``page`` at other addresses; port 0 is any free one."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, complete: Complete, models: Sequence[str], *, port: int = 0, page: Page | None = None) -> None:
        self.complete = complete
        self.models = tuple(models)
        self.page = page
        super().__init__((HOST, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print what went wrong, unless it is that the client has gone, as a worker that was killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """Host and port, as the list of allowed hosts has them."""
        return f"{HOST}:{self.server_port}"


class _Refused(Exception):
    """A request that gets an error: status, code and message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class _Handler(BaseHTTPRequestHandler):
    server: RuleServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "consilium-rules", ""
    disable_nagle_algorithm = True
    timeout = IDLE_S

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, work: Callable[[], None]) -> None:
        # A body that nobody reads would be taken for the next request of the connection.
        self._is_unread = "Content-Length" in self.headers or "Transfer-Encoding" in self.headers
        try:
            # A page from elsewhere must not reach this server under a name of its own.
            if (self.headers.get("Host") or "").rpartition(":")[0] not in {HOST, "localhost"}:
                raise _Refused(403, "host", f"This server answers to {HOST} alone.")
            work()
        except _Refused as refused:
            error = {"message": str(refused), "type": "invalid_request_error", "code": refused.code}
            self._send_json({"error": error}, refused.status)

    def _get(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/v1/models":
            self._send_json(listing(self.server.models))
            return
        page = self.server.page and self.server.page(path, self.headers.get("Accept-Language") or "")
        if not page:
            raise _Refused(404, "not_found", "There is no such address.")
        text, content_type = page
        self._send(text.encode(), f"{content_type}; charset=utf-8")

    def _post(self) -> None:
        body = self._body()
        if self.path.partition("?")[0] != "/v1/chat/completions":
            raise _Refused(404, "not_found", "There is no such address.")
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise _Refused(400, "not_json", "The request is not JSON.") from None
        if not isinstance(request, dict):
            raise _Refused(400, "not_an_object", "The request is not an object.")
        if request.get("model") not in self.server.models:
            raise _Refused(404, "model_not_found", "There is no such model.")
        try:
            answer = self.server.complete(request)
        except UnreadableRequest as fault:
            raise _Refused(400, "unreadable", f"No rule answers this request: {fault}.") from None
        except RecursionError:
            raise _Refused(400, "nested", "The request is nested too deeply.") from None
        self._send_json(answer)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length") or ""
        if not (length.isascii() and length.isdecimal()):
            raise _Refused(411, "length_required", "The request has no length.")
        if len(length) > 9 or int(length) > MAX_BODY:
            raise _Refused(413, "too_large", f"A request has at most {MAX_BODY} bytes.")
        body = self.rfile.read(int(length))
        self._is_unread = "Transfer-Encoding" in self.headers
        return body

    def _send_json(self, value: Mapping[str, Any], status: int = 200) -> None:
        self._send(json.dumps(value).encode(), "application/json", status)

    def _send(self, body: bytes, content_type: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if self._is_unread:
            self.send_header("Connection", "close")  # and closes it
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src data:")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a request may hold what a log must not."""


@contextmanager
def serving(complete: Complete, models: Sequence[str]) -> Iterator[str]:
    """Serve in a thread of this process, on a free port; gives host and port."""
    with RuleServer(complete, models) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()
