"""The sessions of a person, as their page lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from accounts.browsers import browser_in_words
from accounts.models import User, UserSession
from accounts.sessions import SIGNED_IN

WAYS = {
    "password": _("Password"),
    "password_and_second_step": _("Password and second step"),
    "passkey": _("Passkey"),
    "sign_on": _("Single sign-on"),
    "link": _("Link"),
}


@dataclass(frozen=True, slots=True)
class OwnSession:
    """One session; ``number`` names it in a form, because its key would let in whoever reads it."""

    row: UserSession
    number: str
    browser: str
    address: str
    signed_in_at: datetime | None
    way: str
    is_this: bool

    @property
    def way_in_words(self) -> str:
        """How the person signed in; empty where that was not recorded."""
        return str(WAYS.get(self.way, ""))


def idle_limit() -> timedelta | None:
    """After how much time without use a session ends; None for never."""
    return timedelta(minutes=settings.SESSION_IDLE_MINUTES) if settings.SESSION_IDLE_MINUTES else None


def own_sessions(user: User, *, current_key: str | None, at: datetime) -> list[OwnSession]:
    """The sessions of ``user`` that are valid at ``at``: that of this request first, then those used last."""
    rows = UserSession.objects.filter(user=user, expire_date__gt=at).order_by("-used_at", "pk")
    limit = idle_limit()
    if limit is not None:
        rows = rows.filter(used_at__gt=at - limit)
    # A session that began before the latest password is not valid, though its row is still there.
    hashes = {user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()}
    sessions = []
    for row in rows:
        data = row.get_decoded()
        if data.get(HASH_SESSION_KEY) in hashes:
            sessions.append(_session(row, data, current_key))
    return sorted(sessions, key=lambda session: not session.is_this)


def _session(row: UserSession, data: Mapping[str, Any], current_key: str | None) -> OwnSession:
    begin = data.get(SIGNED_IN, {})
    return OwnSession(
        row=row,
        number=salted_hmac("accounts.own_sessions", row.session_key).hexdigest()[:16],
        browser=browser_in_words(begin.get("browser", "")),
        address=begin.get("address", ""),
        signed_in_at=datetime.fromtimestamp(begin["at"], tz=UTC) if begin else None,
        way=_way(data.get(AUTHENTICATION_METHODS_SESSION_KEY) or []) if begin else "",
        is_this=row.session_key == current_key,
    )


def _way(records: Iterable[Mapping[str, Any]]) -> str:
    """A key of `WAYS`, from what allauth stores of each step; a password that is confirmed later is no sign-in."""
    steps = [record for record in records if not record.get("reauthenticated")]
    methods = {record.get("method") for record in steps}
    if "socialaccount" in methods:
        return "sign_on"
    if "password" in methods:
        return "password_and_second_step" if "mfa" in methods else "password"
    return "passkey" if "mfa" in methods else "link"
