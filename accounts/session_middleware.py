"""Ends sessions that were not used for too long, and notes when a session was used and on which device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from accounts import second_step
from accounts.confirming import forget_kept, keep_sent
from accounts.own_sessions import idle_limit
from accounts.services import sessions
from consilium.core.htmx import View
from consilium.middleware import API

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
                request.timed_out = sessions.end_idle_session(request=request, at=at)  # type: ignore[attr-defined]
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


def keep_forms(get_response: Handler) -> Handler:
    """Keep a form whose session has ended for lack of use, and lead through the sign-in to the page that sends it.

    What is sent from that page is no longer kept.
    Scripts keep in their pages what was not saved, and get 401.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        return get_response(request)

    def process_view(request: HttpRequest, view: View, args: Any, kwargs: dict[str, Any]) -> HttpResponse | None:
        user, match, path = getattr(request, "timed_out", None), request.resolver_match, request.path_info
        if not _is_form(request):
            return None
        forget_kept(request)
        if user is None or match is None or second_step.is_open(match, path):
            return None
        key = keep_sent(request, user=user)
        return redirect_to_login(f"{reverse('accounts:confirmed')}?{urlencode({'key': key})}")

    middleware.process_view = process_view  # type: ignore[attr-defined]  # Django looks for it there
    return middleware


def _is_form(request: HttpRequest) -> bool:
    """Whether the browser sent a form of a page, and no script did."""
    is_script = request.headers.get("Sec-Fetch-Dest") == "empty" or "HX-Request" in request.headers
    is_form = request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data")
    return request.method == "POST" and is_form and not is_script and not request.path_info.startswith(API)


def is_by_a_person(request: HttpRequest) -> bool:
    """Whether somebody made the request: every write, and every page that is opened.

    A script of an open page reads by itself, for example every second how far a run is. Browsers say that a script
    asks; where they do not, over plain HTTP, htmx does.
    """
    if request.method not in ("GET", "HEAD"):
        return True
    return request.headers.get("Sec-Fetch-Dest", "") != "empty" and "HX-Request" not in request.headers
