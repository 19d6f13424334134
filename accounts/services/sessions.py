"""The sessions of a person: what begins with a sign-in, and how sessions end before their time."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.core import signing
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse

from accounts.models import KnownDevice, Notification, User, UserSession
from accounts.services import security_log
from accounts.services.notifications import notify
from accounts.services.security_log import MAX_BROWSER_LENGTH
from accounts.sessions import SIGNED_IN

# `UserSession.used_at` is written at most so often for each session, because every autosave would write it.
BETWEEN_WRITES = timedelta(minutes=5)
DEVICE_COOKIE = f"{settings.HOST_COOKIE_PREFIX}device"
DEVICE_SALT = "accounts.device"
DEVICE_AGE = timedelta(days=365)


def begin_session(*, request: HttpRequest, user: User, at: datetime) -> None:
    """Note in the session when, from where and with which browser ``user`` signed in."""
    request.session[SIGNED_IN] = {
        "at": at.timestamp(),
        "address": get_adapter().get_client_ip(request),
        "browser": request.headers.get("User-Agent", "")[:MAX_BROWSER_LENGTH],
    }
    request.session.used_at = at  # type: ignore[attr-defined]  # of `accounts.sessions.SessionStore`


def note_use(*, request: HttpRequest, at: datetime) -> None:
    """Store that the session is in use.

    It is an update of one column, not a save: a save would write the data as this request read them, over those of a
    request at the same time.
    """
    used_at = getattr(request.session, "used_at", None)
    if used_at is None or at - used_at < BETWEEN_WRITES:
        return
    UserSession.objects.filter(session_key=request.session.session_key).update(used_at=at)
    request.session.used_at = at  # type: ignore[attr-defined]


@transaction.atomic
def end_idle_session(*, request: HttpRequest, at: datetime) -> User | None:
    """End the session of the request, which was not used for too long, and return whose it was.

    Of two requests at once, one records it.
    """
    user = User.objects.filter(pk=request.session[SESSION_KEY]).first()
    ended, _by_model = UserSession.objects.filter(session_key=request.session.session_key).delete()
    request.session.flush()
    if ended:
        security_log.record("session_timed_out", at=at, user=user, request=request)
    return user


@transaction.atomic
def end_sessions(*, rows: Iterable[UserSession], user: User, at: datetime, request: HttpRequest) -> int:
    """End these sessions of ``user``, at their own request; how many there were."""
    keys = [row.session_key for row in rows]
    ended, _by_model = UserSession.objects.filter(user=user, session_key__in=keys).delete()
    if ended:
        security_log.record("session_ended", at=at, user=user, by=user, request=request, number=ended)
    return ended


# Devices --------------------------------------------------------------------------------------------------------------


def device_of(request: HttpRequest) -> str:
    """The random name of the browser, from our signed cookie; a new name where it has none."""
    signer = signing.TimestampSigner(salt=DEVICE_SALT)
    try:
        return signer.unsign(request.COOKIES.get(DEVICE_COOKIE, ""), max_age=DEVICE_AGE)
    except signing.BadSignature:
        return secrets.token_urlsafe(24)


def device_cookie(device: str) -> str:
    """The value of the cookie that keeps the name of the browser."""
    return signing.TimestampSigner(salt=DEVICE_SALT).sign(device)


@transaction.atomic
def note_device(*, device: str, user: User, at: datetime, request: HttpRequest) -> None:
    """Store that ``user`` signs in on ``device``; notify them if they did so on other devices alone until now.

    There is no notice for the first device of an account: that is the sign-in after an invitation.
    """
    # A device that is forgotten below has been one: after a year without use, any sign-in is notified.
    is_first = not KnownDevice.objects.filter(user=user).exists()
    KnownDevice.objects.filter(user=user, last_at__lt=at - DEVICE_AGE).delete()
    # A random name of 192 bits needs no slow hash.
    token_hash = hashlib.sha256(device.encode()).hexdigest()
    if KnownDevice.objects.filter(user=user, token_hash=token_hash).update(last_at=at):
        return
    KnownDevice.objects.get_or_create(user=user, token_hash=token_hash, defaults={"last_at": at})
    if is_first:
        return
    event = security_log.record("new_device", at=at, user=user, by=user, request=request)
    notify(
        user=user,
        kind=Notification.Kind.ACCOUNT,
        benchmark_title="Consilium",
        url=reverse("accounts:sessions"),
        at=at,
        what="new_device",
        signed_in_at=at.isoformat(),
        browser=event.browser,
        address=event.address,
    )
