"""Who may see the pages of the server: its operators. For everybody else they do not exist.

Programs that watch the server show a token of the environment instead.
"""

from __future__ import annotations

from functools import wraps
from secrets import compare_digest
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from accounts.models import User
from consilium.core.htmx import SignedInRequest, View, signed_in
from consilium.hosts import is_loopback, split_port

# A proxy adds at least one of them. What has one came from elsewhere, though the proxy is on this machine.
PROXY_HEADERS = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via")
SCHEMES = frozenset({"bearer", "token"})


def may_see_parts(request: HttpRequest) -> bool:
    """Whether `healthz?deep=1` tells the sender more than that the web answers."""
    if is_from_this_machine(request) or has_token(request, settings.OPERATOR_TOKEN):
        return True
    return request.user.is_authenticated and request.user.is_operator


def is_from_this_machine(request: HttpRequest) -> bool:
    """Whether the request was sent by a program of this machine, and not by a proxy on it for somebody else.

    A proxy may add no header. So nobody counts where one is set up, or where the site was called by its public name.
    """
    if settings.BEHIND_PROXY or any(header in request.headers for header in PROXY_HEADERS):
        return False
    if not is_loopback(split_port(request.get_host())[0]):
        return False
    return is_loopback(request.META.get("REMOTE_ADDR", ""))


def has_token(request: HttpRequest, token: str) -> bool:
    """Whether the request shows ``token`` in the header Authorization; False where no token is set."""
    scheme, _space, given = request.headers.get("Authorization", "").partition(" ")
    is_same = compare_digest(given.strip().encode(), token.encode())  # in a time that does not tell how much is right
    return bool(token) and scheme.lower() in SCHEMES and is_same


def refuse_others(user: User | AnonymousUser) -> None:
    """404 for everybody but operators."""
    if not (isinstance(user, User) and user.is_operator):
        raise Http404


def get_account(user: User | AnonymousUser, *, username: str = "", email: str = "") -> User:
    """An account by its internal name or by its address, for operators; raters that were imported are no accounts."""
    refuse_others(user)
    rows = User.objects.exclude(email="")
    return get_object_or_404(rows, **({"email__iexact": email.strip()} if email else {"username": username}))


def operators_only(view: View) -> View:
    """Let operators in; send those who are not signed in to the sign-in page, and answer 404 to others."""

    @wraps(view)
    @signed_in
    def guarded(request: SignedInRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        refuse_others(request.user)
        return view(request, *args, **kwargs)

    return guarded
