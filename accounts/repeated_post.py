"""A form that was sent and could not be accepted yet is kept in hidden fields, from which it is sent again."""

from __future__ import annotations

from django.http import HttpRequest

CSRF = "csrfmiddlewaretoken"


def posted_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """(name, value) of everything that was posted, in order, but the CSRF token."""
    return [(name, value) for name, values in request.POST.lists() if name != CSRF for value in values]
