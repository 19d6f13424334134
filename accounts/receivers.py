"""What follows a sign-in: the session and the device are noted. `security_signals` writes the security log."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import User
from accounts.services.sessions import begin_session, device_of, note_device


@receiver(user_logged_in, dispatch_uid="accounts.session_begins")
def session_begins(sender: Any, request: HttpRequest | None, user: User, **kwargs: Any) -> None:
    """Note the session and the device. A request that came through no middleware is that of a command or a test."""
    if request is None or not hasattr(request, "device"):
        return
    at = timezone.now()
    begin_session(request=request, user=user, at=at)
    request.device = device_of(request)  # the middleware sets the cookie
    note_device(device=request.device, user=user, at=at, request=request)
