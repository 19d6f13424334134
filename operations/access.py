"""Who may see the pages of the server: its operators. For everybody else they do not exist."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from accounts.models import User
from consilium.core.htmx import SignedInRequest, View, signed_in


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
