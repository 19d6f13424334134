"""Writing of the security log, which nobody can change afterwards; `operations` shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core import context as request_context
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from accounts.models import SecurityEvent, User
from accounts.security_kinds import KINDS

MAX_BROWSER_LENGTH = 200


def record(
    kind: str,
    *,
    at: datetime,
    user: User | None = None,
    by: User | None = None,
    scope: str = "",
    request: HttpRequest | None = None,
    **values: Any,
) -> SecurityEvent:
    """Add one line to the security log; see `SecurityEvent` for what the fields mean.

    ``request`` gives the network address and the browser. Without one, it is the request that is being answered;
    commands and workers answer none. Without ``by``, it is who is signed in there. ``values`` must be JSON, and hold no
    secret.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not a key of accounts.security_kinds.KINDS")
    request = request or request_context.request
    signed_in = getattr(request, "user", None)
    if by is None and isinstance(signed_in, User):
        by = signed_in
    return SecurityEvent.objects.create(
        at=at,
        kind=kind,
        user=user,
        by=by,
        scope=scope,
        address=address_of(request),
        browser=(request.headers.get("User-Agent", "") if request is not None else "")[:MAX_BROWSER_LENGTH],
        values=values,
    )


def address_of(request: HttpRequest | None) -> str | None:
    """The network address, as the limits of sign-in count it; None where it is unknown, as behind a socket."""
    if request is None:
        return None
    try:
        return str(get_adapter().get_client_ip(request))
    except PermissionDenied:
        return None
