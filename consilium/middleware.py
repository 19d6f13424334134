"""What no door should have to look at."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], HttpResponse]


def refuse_nul(get_response: Handler) -> Handler:
    """An address with a NUL is a bad request (400): PostgreSQL takes none, and nothing here is named with one."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or any(
            "\0" in one for key in request.GET for one in (key, *request.GET.getlist(key))
        ):
            raise SuspiciousOperation("a NUL in the address")
        return get_response(request)

    return middleware
