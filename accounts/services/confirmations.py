"""How recently somebody proved who they are in a session, and the ways in which they may prove it again.

A signature and the other writes named in `KINDS` need a proof within the last minutes: a sign-in, or the password, a
code or a passkey given again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from allauth.account import app_settings
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.signals import authentication_step_completed
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.services import security_log

SIGNED_IN_AT = "signed_in_at"  # in the session, in seconds: when the sign-in proved who is there; 0 for never
AT_PROVIDER = "signed_in_at_provider"  # in the session, in seconds, as the provider of single sign-on says
# What is confirmed, as the page of the confirmation and the security log say it.
KINDS = {
    "threshold": _("You sign the threshold of a benchmark."),
    "acuity_plan": _("You sign the plan of a study."),
    "reference_set": _("You sign a reference set."),
    "release": _("You make a release of a benchmark."),
    "second_step": _("You change who needs a second step for signing in."),
    "admin": _("You give someone a role that manages a benchmark."),
    "account": _("You change what someone may do on this server, or whether they can sign in."),
    "api_token": _("You make an API token."),
    "sign_in": _("You change how you sign in."),
}
WAYS = {
    "password": _("password"),
    "totp": _("authenticator app"),
    "recovery_codes": _("recovery code"),
    "webauthn": _("passkey or security key"),
    "single_sign_on": _("single sign-on"),
    "sign_in": _("sign-in"),
}


@dataclass(frozen=True, slots=True)
class Proof:
    """When somebody proved who they are, in seconds, and how: a key of `WAYS`."""

    at: float
    way: str


def remember_sign_in(sender: object, request: HttpRequest | None, user: User, **_values: object) -> None:
    """Note in the session when its sign-in proved who is there.

    A provider of single sign-on may answer without asking anything, so what it says of the time counts there.
    """
    if request is None or not hasattr(request, "session"):
        return
    records = get_authentication_records(request, user)
    # A second step of ours after the sign-on is given now.
    by_provider = bool(records) and records[-1]["method"] == "socialaccount"
    request.session[SIGNED_IN_AT] = request.session.get(AT_PROVIDER, 0) if by_provider else time.time()


user_logged_in.connect(remember_sign_in, dispatch_uid="accounts.confirmations")


def remember_provider(sender: object, request: HttpRequest, method: str, user: User, **_values: object) -> None:
    """Note in the session when its person signed in at the provider, by ``request.id_token_claims``."""
    if method == "socialaccount":
        at: Any = getattr(request, "id_token_claims", {}).get("auth_time")
        is_time = isinstance(at, int | float) and not isinstance(at, bool)
        request.session[AT_PROVIDER] = min(float(at), time.time()) if is_time else 0


authentication_step_completed.connect(remember_provider, dispatch_uid="accounts.confirmations.provider")


def last_proof(request: HttpRequest, *, now: float | None = None) -> Proof | None:
    """The proof of this session that still counts, the latest where there are several; None where there is none."""
    proofs = []
    if isinstance(began := request.session.get(SIGNED_IN_AT), int | float):
        proofs.append(Proof(began, "sign_in"))
    user = request.user if isinstance(request.user, User) else None
    for record in get_authentication_records(request, user):
        if record.get("reauthenticated"):
            way = record.get("type", record["method"])
            proofs.append(Proof(record["at"], way if way in WAYS else "password"))
    since = (time.time() if now is None else now) - app_settings.REAUTHENTICATION_TIMEOUT
    return max((proof for proof in proofs if proof.at > since), key=lambda proof: proof.at, default=None)


def signed_on_recently(request: HttpRequest) -> bool:
    """Whether somebody came from the provider of single sign-on within the last minutes, whatever it asked of them."""
    user = request.user if isinstance(request.user, User) else None
    since = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
    records = get_authentication_records(request, user)
    return any(record["method"] == "socialaccount" and record["at"] > since for record in records)


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways in which an account may prove again who its owner is."""

    password: bool
    code: bool  # of an authenticator app, or a recovery code
    passkey: bool
    single_sign_on: bool


def ways_of(user: User) -> Ways:
    """See `Ways`. Single sign-on is offered only where nothing else is there, because it leaves the page."""
    types = set(Authenticator.objects.filter(user=user).values_list("type", flat=True))
    return Ways(
        password=user.has_usable_password(),
        code=bool(types & {Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES}),
        passkey=Authenticator.Type.WEBAUTHN in types,
        single_sign_on=SocialAccount.objects.filter(user=user).exists(),
    )


def remember_confirmation(sender: object, request: HttpRequest, method: str, user: User, **values: object) -> None:
    """Write into the security log that somebody proved again who they are, on whichever page."""
    if values.get("reauthenticated"):
        way = str(values.get("type", method))
        security_log.record("reauthenticated", at=timezone.now(), user=user, by=user, request=request, way=way)
        # Who read the session's key before has no use of the proof.
        request.session.cycle_key()


authentication_step_completed.connect(remember_confirmation, dispatch_uid="accounts.confirmations")


def record_failure(*, user: User, request: HttpRequest | None, way: str) -> None:
    """Write into the security log that somebody could not prove again who they are; ``way`` is a key of `WAYS`."""
    security_log.record("reauthentication_failed", at=timezone.now(), user=user, by=user, request=request, way=way)


def record_signature(
    *, user: User, kind: str, scope: str, target: str | int, at: datetime, request: HttpRequest, by_token: bool
) -> None:
    """Write into the security log what ``user`` signed, and the proof that allowed it."""
    proof = None if by_token else last_proof(request)
    values = {"what": kind, "target": str(target), "way": "api_token" if by_token else proof.way if proof else ""}
    if proof is not None:
        values["proved_at"] = datetime.fromtimestamp(proof.at, UTC).isoformat(timespec="seconds")
    security_log.record("signed", at=at, user=user, by=user, scope=scope, request=request, **values)
