"""A form that was sent and could not be accepted yet is kept in hidden fields, from which it is sent again."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpRequest

CSRF = "csrfmiddlewaretoken"


def posted_fields(request: HttpRequest, *, without: Iterable[str] = ()) -> list[tuple[str, str]]:
    """(name, value) of everything that was posted, in order, but the CSRF token and the fields ``without``."""
    left_out = {CSRF, *without}
    return [(name, value) for name, values in request.POST.lists() if name not in left_out for value in values]
