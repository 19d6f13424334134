"""Who may see the pages of the server: its operators. For everybody else they do not exist."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase

from consilium.core.htmx import SignedInRequest, View, signed_in


def operators_only(view: View) -> View:
    """Let operators in; send those who are not signed in to the sign-in page, and answer 404 to others."""

    @wraps(view)
    @signed_in
    def guarded(request: SignedInRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_operator:
            raise Http404
        return view(request, *args, **kwargs)

    return guarded
