"""What happens where a web request takes the database too long, or waits too long for it.

PostgreSQL ends a statement or a transaction, or no connection is free within the time that the pool gives.

The limits are set when a connection is made (`settings.WEB_TIME_LIMITS`). A plain ``SET`` in a request would stay with
the connection, which the next request gets from the pool.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from psycopg.errors import IdleInTransactionSessionTimeout, LockNotAvailable, QueryCanceled
from psycopg_pool import PoolTimeout

from consilium.middleware import Handler, reads_json

RETRY_AFTER_S = 5
DOWNLOAD_TIME_LIMIT = "10min"  # of a statement: a cursor that outlives its transaction reads all rows at once

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
# A statement that may write; one that reads rows and locks them does not count.
WRITES = re.compile(r"(?<!FOR )(?<!FOR NO KEY )\b(INSERT|UPDATE|DELETE|MERGE|COPY|TRUNCATE)\b", re.IGNORECASE)
TIME_LIMITS = (QueryCanceled, LockNotAvailable, IdleInTransactionSessionTimeout, PoolTimeout)


class TimeLimits:
    """Answers 503 where a time limit ended what a view did, and gives a download a longer one.

    It is the innermost middleware. Django makes an answer of what another middleware raises as soon as it is raised,
    before any middleware further out sees it; there `consilium.views.server_error` asks `answer_to`.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer; the statements of a download run while it is sent."""
        with _watching_commits(request):
            response: HttpResponseBase = self.get_response(request)
        request.is_past_view = True  # type: ignore[attr-defined]
        if settings.WEB_PROCESS and response.streaming and not isinstance(response, FileResponse):
            response.streaming_content = with_time(response.streaming_content)  # type: ignore[attr-defined]
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """503 for a time limit, None for any other error."""
        return answer_to(request, exception)


def is_time_limit(exception: BaseException | None) -> bool:
    """Whether it is Django's error for a time limit."""
    return isinstance(exception, DatabaseError) and isinstance(exception.__cause__, TIME_LIMITS)


def answer_to(request: HttpRequest, exception: BaseException | None) -> HttpResponse | None:
    """503 where the error is that of a time limit, None for any other error."""
    if not is_time_limit(exception):
        return None
    response = _too_long(request)
    response["Retry-After"] = str(RETRY_AFTER_S)
    return response


@contextlib.contextmanager
def _watching_commits(request: HttpRequest) -> Iterator[None]:
    """Note at the request when something that its view wrote is committed, unless its method is a safe one.

    A savepoint or a transaction that is taken back takes the note with it.
    """

    def note() -> None:
        request.has_committed = True  # type: ignore[attr-defined]

    def watch(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
        result = execute(sql, params, many, context)
        if not isinstance(sql, str) or WRITES.search(sql):
            transaction.on_commit(note)  # at once where there is no transaction
        return result

    if request.method in SAFE_METHODS:
        yield
        return
    with connection.execute_wrapper(watch):
        yield


def with_time(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a download, whose statements have a longer time limit until it ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, false)", [DOWNLOAD_TIME_LIMIT])
    try:
        yield from pieces
    finally:
        with contextlib.suppress(DatabaseError), connection.cursor() as cursor:
            cursor.execute("RESET statement_timeout")  # to the limit that the connection was made with


def _too_long(request: HttpRequest) -> HttpResponse:
    """503 as JSON for the API and for scripts that ask for it, as a sentence for htmx, else as a page."""
    # What the view has committed stays, and once it is over that may be anything.
    if getattr(request, "is_past_view", False) or getattr(request, "has_committed", False):
        detail = _("The database is busy, and this took too long. See whether your change was saved, then try again.")
    else:
        detail = _("The database is busy, and this took too long. Nothing was saved. Try again in a moment.")
    if reads_json(request):
        return JsonResponse({"detail": detail}, status=503)
    if "HX-Request" in request.headers:
        return HttpResponse(detail, status=503, content_type="text/plain")
    return render(request, "503.html", {"detail": detail}, status=503)
