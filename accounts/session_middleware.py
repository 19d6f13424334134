"""Ends sessions that were not used for too long, and notes when a session was used and on which device."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.own_sessions import idle_limit
from accounts.services import sessions

Handler = Callable[[HttpRequest], HttpResponse]


def session_times(get_response: Handler) -> Handler:
    """End the session of the request if it was not used for ``SESSION_IDLE_MINUTES``; else note that it is used.

    A page that was left open must not keep its session alive: what its scripts fetch is no use (`is_by_a_person`).
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        session, limit, at = request.session, idle_limit(), timezone.now()
        if session.session_key and SESSION_KEY in session:
            used_at = getattr(session, "used_at", None)  # other engines, as in tests, do not know it
            if limit is not None and used_at is not None and at - used_at >= limit:
                sessions.end_idle_session(request=request, at=at)
                request.user = AnonymousUser()
        request.device = ""  # type: ignore[attr-defined]  # a sign-in names it
        response = get_response(request)
        if is_by_a_person(request) and session.session_key and SESSION_KEY in session:
            sessions.note_use(request=request, at=at)
        if request.device:  # type: ignore[attr-defined]
            response.set_cookie(
                sessions.DEVICE_COOKIE,
                sessions.device_cookie(request.device),  # type: ignore[attr-defined]
                max_age=sessions.DEVICE_AGE,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response

    return middleware


def is_by_a_person(request: HttpRequest) -> bool:
    """Whether somebody made the request: every write, and every page that is opened.

    A script of an open page reads by itself, for example every second how far a run is. Browsers say that a script
    asks; where they do not, over plain HTTP, htmx does.
    """
    if request.method not in ("GET", "HEAD"):
        return True
    return request.headers.get("Sec-Fetch-Dest", "") != "empty" and "HX-Request" not in request.headers
