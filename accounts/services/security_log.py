"""Writing of the security log, which nobody can change afterwards; `operations` shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from allauth.account.adapter import get_adapter
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

    ``request`` gives the network address and the browser. It is None for commands and workers. ``values`` must be JSON,
    and hold no secret.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not a key of accounts.security_kinds.KINDS")
    return SecurityEvent.objects.create(
        at=at,
        kind=kind,
        user=user,
        by=by,
        scope=scope,
        address=get_adapter().get_client_ip(request) if request is not None else None,
        browser=(request.headers.get("User-Agent", "") if request is not None else "")[:MAX_BROWSER_LENGTH],
        values=values,
    )
