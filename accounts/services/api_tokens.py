"""Tokens of the API: make, check and revoke them. Only the hash of a key is stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import MAX_TOKEN_DAYS, ApiToken, Notification, SecurityEvent, User
from accounts.services import second_factor, security_log
from accounts.services.notifications import notify, notify_each
from consilium.core.errors import Conflict, DomainError
from consilium.core.identifiers import ALPHABET

PRODUCT = "Consilium"  # what a notification is about where it is about no benchmark
KEY_START = "consilium_"  # so that programs that look for published secrets recognise a key
RANDOM_CHARACTERS = 40  # of base 62: 238 bits
SHOWN_CHARACTERS = 6
MAX_LIVE_TOKENS = 20
DEFAULT_DAYS = 90
USE_IS_WRITTEN_EVERY = timedelta(hours=1)
REFUSAL_IS_LOGGED_EVERY = timedelta(hours=1)
NOTICE_BEFORE_EXPIRY = timedelta(days=7)
MAX_DAYS = MAX_TOKEN_DAYS


def hash_of(key: str) -> str:
    """What is stored of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


def may_make_tokens(user: User) -> bool:
    """Whether ``user`` may make tokens: who needs a second step to sign in must have one.

    `accounts.permissions.HasSecondStep` asks again at each use.
    """
    return not second_factor.missing(user)


def is_live(token: ApiToken, *, at: datetime) -> bool:
    """Whether the token was neither revoked nor has expired; at the moment of its expiry it works no longer."""
    return token.revoked_at is None and at < token.expires_at


def live_tokens(user: User, *, at: datetime) -> Q:
    """The condition of `is_live`, for the tokens of ``user``."""
    return Q(user=user, revoked_at=None, expires_at__gt=at)


# Making and revoking -------------------------------------------------------------------------------------------------


@transaction.atomic
def make_token(
    *,
    user: User,
    name: str,
    scopes: Collection[str],
    expires_at: datetime,
    benchmark: str = "",
    by: User | None,
    at: datetime,
    request: HttpRequest | None = None,
) -> tuple[ApiToken, str]:
    """Make a token for ``user`` and return it with its key, which is stored nowhere.

    ``benchmark`` is the slug of the only benchmark that the token opens. The caller has checked that ``user`` has
    access to it; else the token opens nothing. ``by`` is None for a command of the server.
    """
    # Two requests at once count one after the other, and whoever was deactivated meanwhile gets none.
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if not user.is_active:
        raise DomainError(_("This account is deactivated, so it may not have API tokens."))
    if not may_make_tokens(user):
        raise DomainError(_("This account may not have API tokens. It needs a second step of signing in."))
    if not scopes or set(scopes) - set(ApiToken.Scope.values):
        raise DomainError(_("Choose what the token may do."), field="scopes")
    if not at < expires_at <= at + timedelta(days=MAX_DAYS):
        raise DomainError(_("Choose an expiry within the next %(days)d days.") % {"days": MAX_DAYS}, field="expires_on")
    if ApiToken.objects.filter(live_tokens(user, at=at)).count() >= MAX_LIVE_TOKENS:
        raise Conflict(_("There are already %(n)d API tokens. Revoke one first.") % {"n": MAX_LIVE_TOKENS})
    random_part = "".join(secrets.choice(ALPHABET) for _number in range(RANDOM_CHARACTERS))
    key = KEY_START + random_part
    token = ApiToken.objects.create(
        user=user,
        name=name,
        token_hash=hash_of(key),
        prefix=KEY_START + random_part[:SHOWN_CHARACTERS],
        scopes=[scope for scope in ApiToken.Scope.values if scope in scopes],
        benchmark=benchmark,
        created_at=at,
        expires_at=expires_at,
    )
    security_log.record("api_token_made", at=at, user=user, by=by, scope=benchmark, request=request, **facts_of(token))
    notify(
        user=user,
        kind=Notification.Kind.ACCOUNT,
        benchmark_title=PRODUCT,
        url=reverse("accounts:api-tokens"),
        at=at,
        what="token_made",
        name=token.name,
    )
    return token, key


def made_with_proof(token: ApiToken) -> bool:
    """Whether its owner made the token on the page, which asks who is there.

    No command did, and it is not of the time before this was asked: of such a token nobody knows who made it.
    """
    events = SecurityEvent.objects.filter(
        user=token.user_id,
        by=token.user_id,
        kind="api_token_made",
        values__token=token.public_id,
    )
    return events.exists()


def facts_of(token: ApiToken) -> dict[str, Any]:
    """What the security log says of a token; nothing of it opens anything."""
    return {"token": token.public_id, "name": token.name, "scopes": token.scopes, "benchmark": token.benchmark}


@transaction.atomic
def revoke_token(*, token: ApiToken, by: User | None, at: datetime, request: HttpRequest | None = None) -> bool:
    """Revoke a token for good; False where that was done before."""
    changed = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=at, revoked_by=by)
    if changed:
        security_log.record(
            "api_token_revoked",
            at=at,
            user=token.user,
            by=by,
            scope=token.benchmark,
            request=request,
            **facts_of(token),
        )
    return bool(changed)


@transaction.atomic
def revoke_all_tokens(*, user: User, by: User | None, at: datetime, request: HttpRequest | None = None) -> int:
    """Revoke all tokens of ``user`` that were not revoked, and return how many of them had not expired."""
    # The lock of `make_token`: a token that is being made is made before, and is revoked here.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    tokens = list(ApiToken.objects.filter(user=user, revoked_at=None).select_related("user"))
    return sum(revoke_token(token=token, by=by, at=at, request=request) and is_live(token, at=at) for token in tokens)


# Use -----------------------------------------------------------------------------------------------------------------


def token_of_key(key: str) -> ApiToken | None:
    """The token with this key, whatever its state, with its owner."""
    return ApiToken.objects.filter(token_hash=hash_of(key)).select_related("user").first()


def record_use(*, token: ApiToken, address: str | None, at: datetime) -> None:
    """Store that the token was used, unless that was stored less than `USE_IS_WRITTEN_EVERY` ago."""
    earlier = at - USE_IS_WRITTEN_EVERY
    if token.last_used_at is not None and token.last_used_at > earlier:
        return
    rows = ApiToken.objects.filter(Q(last_used_at=None) | Q(last_used_at__lte=earlier), pk=token.pk)
    rows.update(last_used_at=at, last_used_address=address)


def record_refusal(*, token: ApiToken, reason: str, at: datetime, request: HttpRequest) -> None:
    """Log that a token was refused, once in `REFUSAL_IS_LOGGED_EVERY` for each token."""
    with transaction.atomic():
        # Requests that come together log it once.
        ApiToken.objects.select_for_update(no_key=True).get(pk=token.pk)
        recent = SecurityEvent.objects.filter(
            user=token.user,
            kind="api_token_refused",
            at__gt=at - REFUSAL_IS_LOGGED_EVERY,
            values__token=token.public_id,
        )
        if not recent.exists():
            security_log.record(
                "api_token_refused",
                at=at,
                user=token.user,
                scope=token.benchmark,
                request=request,
                reason=reason,
                **facts_of(token),
            )


@transaction.atomic
def notify_of_expiry(*, at: datetime) -> int:
    """Notify the owners of tokens that expire within `NOTICE_BEFORE_EXPIRY`, once for each token.

    Tokens that were made for no longer than that are left out. Returns for how many tokens a notification was due.
    """
    rows = ApiToken.objects.filter(
        revoked_at=None,
        expires_at__gt=at,
        expires_at__lte=at + NOTICE_BEFORE_EXPIRY,
        user__is_active=True,
    ).exclude(expires_at__lte=F("created_at") + NOTICE_BEFORE_EXPIRY)
    keys = {row: f"token-expires-{row.public_id}" for row in rows}
    known = set(Notification.objects.filter(key__in=keys.values()).values_list("key", flat=True))
    due = {row: key for row, key in keys.items() if key not in known}
    for row, key in due.items():
        notify_each(
            people={row.user_id: {"what": "token_expires", "name": row.name, "expires_at": row.expires_at.isoformat()}},
            kind=Notification.Kind.ACCOUNT,
            benchmark_title=PRODUCT,
            url=reverse("accounts:api-tokens"),
            at=at,
            key=key,
        )
    return len(due)
