"""Writes to the security log what Django and allauth announce by signals: signing in and out, passwords, factors.

What has no signal calls `accounts.services.security_log.record` where it happens.
"""

from __future__ import annotations

import hashlib
from typing import Any

from allauth.account import signals as account_signals
from allauth.account.authentication import get_authentication_records
from allauth.account.internal.stagekit import unstash_login
from allauth.mfa import signals as mfa_signals
from allauth.mfa.models import Authenticator
from allauth.socialaccount import signals as sign_on_signals
from django.contrib.auth import signals as django_signals
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import User
from accounts.services.security_log import address_of, record

RECOVERY_CODES = Authenticator.Type.RECOVERY_CODES
BETWEEN_TWO_LIMITED_SECONDS = 60


def connect() -> None:
    """Listen to the signals; `AccountsConfig.ready` calls it."""
    # That of allauth and not Django's, which a test's `force_login` sends, too. Pages that sign somebody in without
    # allauth (welcome, first run) record it themselves.
    account_signals.user_logged_in.connect(_signed_in)
    django_signals.user_logged_out.connect(_signed_out)
    django_signals.user_login_failed.connect(_password_refused)
    account_signals.password_changed.connect(_password_changed)
    account_signals.password_set.connect(_password_changed)
    account_signals.password_reset.connect(_password_reset)
    mfa_signals.authentication_failed.connect(_second_step_refused)
    mfa_signals.authenticator_added.connect(_factor_added)
    mfa_signals.authenticator_reset.connect(_factor_added)
    mfa_signals.authenticator_removed.connect(_factor_removed)
    mfa_signals.authenticator_used.connect(_factor_used)
    sign_on_signals.social_account_added.connect(_sign_on_connected)
    sign_on_signals.social_account_removed.connect(_sign_on_disconnected)


def record_limited(request: HttpRequest | None, *, login: str) -> None:
    """Record that further tries must wait: at most one line a minute for a login, and for a network address.

    ``login`` is the address that was tried; empty where somebody tries codes of the second step. The cache holds a hash
    of it, so that what was typed is stored nowhere.
    """
    user = _account_of(login) if login else _at_second_step(request)
    tried = hashlib.sha256((login or f"second step of {user.pk if user else ''}").encode()).hexdigest()
    address = str(address_of(request)).replace(" ", "")
    for key in (f"security-log-limited-{tried}", f"security-log-limited-from-{address}"):
        if not cache.add(key, 1, BETWEEN_TWO_LIMITED_SECONDS):
            return
    record("sign_in_limited", at=timezone.now(), user=user, request=request)


def _account_of(login: str) -> User | None:
    """The account with the address ``login``. Tries of unknown addresses ask the same query."""
    return User.objects.filter(email__iexact=login.strip()).exclude(email="").first()


def _at_second_step(request: HttpRequest | None) -> User | None:
    """Who gave the password before in this session, and has not given the code; or who is signed in."""
    if request is None:
        return None
    if isinstance(request.user, User):
        return request.user
    login = unstash_login(request, peek=True)
    return login.user if login is not None and isinstance(login.user, User) else None


def _signed_in(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    steps = get_authentication_records(request, user)
    first = next((step for step in reversed(steps) if step["method"] != "mfa"), None)
    values: dict[str, Any] = {"method": first["method"] if first else "other"}
    if steps and steps[-1]["method"] == "mfa":
        if steps[-1].get("passwordless"):
            values = {"method": "passkey"}
        else:
            values["second_step"] = str(steps[-1]["type"])
    record("signed_in", at=timezone.now(), user=user, request=request, **values)


def _signed_out(sender: Any, request: HttpRequest, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        record("signed_out", at=timezone.now(), user=user, by=user, request=request)


def _password_refused(
    sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **kwargs: Any
) -> None:
    """One query and one row, whether or not somebody has the address: the time of the answer tells nothing."""
    if request is None or request.user.is_authenticated:  # the password was asked again, of who is signed in
        return
    user = _account_of(str(credentials.get("email", credentials.get("username", ""))))
    record("sign_in_failed", at=timezone.now(), user=user, request=request, step="password")


def _second_step_refused(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    if not kwargs.get("reauthentication"):
        record("sign_in_failed", at=timezone.now(), user=user, request=request, step=str(authenticator.type))


def _password_changed(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    record("password_changed", at=timezone.now(), user=user, request=request, way="page")


def _password_reset(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    record("password_reset", at=timezone.now(), user=user, request=request)


def _factor_added(sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    if authenticator.type == RECOVERY_CODES:
        record("recovery_codes_made", at=timezone.now(), user=user, request=request)
    else:
        record("factor_added", at=timezone.now(), user=user, request=request, factor=str(authenticator.type))


def _factor_removed(sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record("factor_removed", at=timezone.now(), user=user, request=request, factor=str(authenticator.type))


def _factor_used(sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    if authenticator.type == RECOVERY_CODES:
        record("recovery_code_used", at=timezone.now(), user=user, by=user, request=request)


def _sign_on_connected(sender: Any, request: HttpRequest, sociallogin: Any, **kwargs: Any) -> None:
    record("sign_on_connected", at=timezone.now(), user=sociallogin.user, request=request)


def _sign_on_disconnected(sender: Any, request: HttpRequest, socialaccount: Any, **kwargs: Any) -> None:
    record("sign_on_disconnected", at=timezone.now(), user=socialaccount.user, request=request)
