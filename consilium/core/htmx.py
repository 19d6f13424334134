"""Shared code of views whose pages are swapped in parts by htmx."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django_htmx.http import reswap, retarget

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails

    from accounts.models import User


class SignedInRequest(HttpRequest):
    """A request behind `signed_in`; no object is ever of this class, it only tells the type of ``user``."""

    user: User
    htmx: HtmxDetails


View = Callable[..., HttpResponseBase]


def signed_in(view: View) -> View:
    """Send readers who are not signed in to the sign-in page; answer 401 to a request of htmx.

    The browser would follow a redirect, and htmx would swap the sign-in page into the middle of the page. On a 401 the
    page opens its own dialog and keeps what has not been saved.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        if getattr(request, "htmx", False):
            return HttpResponse(status=401)
        return redirect_to_login(request.get_full_path())

    return guarded


def swap_into(response: HttpResponse, selector: str) -> HttpResponse:
    """Put a refusal or a question into the element ``selector`` instead of the one that sent the request."""
    return reswap(retarget(response, selector), "innerHTML")
