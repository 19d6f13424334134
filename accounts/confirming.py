"""Asks for the password, a code or a passkey again before a signature, and then carries out what was sent."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from allauth.account.internal.flows.reauthentication import reauthenticate_by_password
from allauth.core import ratelimit
from allauth.mfa.webauthn.internal import auth as webauthn
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from accounts.forms import ConfirmByCodeForm, ConfirmByPasskeyForm, ConfirmByPasswordForm
from accounts.models import ApiToken, User
from accounts.repeated_post import posted_fields
from accounts.services import api_tokens, confirmations
from consilium.core.htmx import SignedInRequest, View
from consilium.middleware import reads_json

if TYPE_CHECKING:
    from datetime import datetime

CODE = "confirmation_required"  # in answers of the API
PREFIX = "confirmation"  # of the fields that the page of the confirmation adds to what was sent
KEPT_FIELD = f"{PREFIX}-kept"  # the key of what was kept, where it is sent again
KEPT_SECONDS = 15 * 60  # what was sent, while somebody signs in again
FORMS: dict[str, Callable[..., ConfirmByPasskeyForm | ConfirmByPasswordForm | ConfirmByCodeForm]] = {
    "passkey": ConfirmByPasskeyForm,
    "password": ConfirmByPasswordForm,
    "code": ConfirmByCodeForm,
}


def confirmed(kind: str, *, when: Callable[[HttpRequest], bool] = lambda request: True) -> Callable[[View], View]:
    """Ask before a POST of the view who is there, unless that was proved within the last minutes.

    ``kind`` is a key of `confirmations.KINDS`. ``when`` leaves out a POST that needs no confirmation. Stands below
    `signed_in`. The page that asks keeps what was sent in hidden fields and sends it together with the proof, to the
    same address: nothing has to be typed again, and two tabs do not get in each other's way.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def guarded(request: SignedInRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method == "POST" and when(request):
                refusal = ask_who_is_there(request, kind)
                if refusal is not None:
                    return refusal
            return view(request, *args, **kwargs)

        return guarded

    return decorator


def check_api_confirmation(request: Request) -> None:
    """Refuse (403 with a code) a request with a session in which nobody proved recently who they are.

    A token is proof enough if it was made with one: neither by a command, nor before tokens were made on a page.
    """
    if isinstance(request.auth, ApiToken):
        if not api_tokens.made_with_proof(request.auth):
            text = _("This token was not made on the page of API tokens. Use one that was made there.")
            raise PermissionDenied({"detail": text, "code": CODE})
    elif confirmations.last_proof(request._request) is None:
        raise PermissionDenied(_refusal())


def _refusal() -> dict[str, str]:
    text = _("Confirm who you are first: sign in again, or use an API token.")
    return {"detail": text, "code": CODE}


def ask_who_is_there(request: SignedInRequest, kind: str) -> HttpResponse | None:
    """The page that asks, or None where the proof is there; then ``request.POST`` is what was sent at first.

    For views that know only after a look at what was sent whether it needs a confirmation; others take `confirmed`.
    """
    way = request.POST.get(PREFIX, "")
    posted = [(name, value) for name, value in posted_fields(request) if not _is_proof(name)]
    if confirmations.last_proof(request) is not None:
        _restore(request)
        return None
    if request.headers.get("HX-Request") or reads_json(request):
        return JsonResponse(_refusal(), status=403)
    form: ConfirmByPasskeyForm | ConfirmByPasswordForm | ConfirmByCodeForm | None = None
    problem = ""
    if way in FORMS:
        if not ratelimit.consume(request, action="reauthenticate", user=request.user):
            problem = _("Too many tries. Wait a minute, then try again.")
        else:
            form = FORMS[way](request.POST, prefix=PREFIX, user=request.user)
            if form.is_valid():
                if isinstance(form, ConfirmByPasswordForm):
                    reauthenticate_by_password(request)
                else:
                    form.save()
                _restore(request)
                return None
    return _page(request, kind, posted, way=way, form=form, problem=problem)


def ask_before_page(request: SignedInRequest, kind: str) -> HttpResponse:
    """The page that asks who is there before a page of allauth, for people who can only go to their provider again.

    It keeps nothing of a POST, which may hold a new password or belong to a session that ends at the provider.
    """
    if request.headers.get("HX-Request") or reads_json(request):
        return JsonResponse(_refusal(), status=403)
    return _page(request, kind, [], next_url=request.get_full_path())


def _page(
    request: SignedInRequest,
    kind: str,
    posted: list[tuple[str, str]],
    *,
    way: str = "",
    form: ConfirmByPasskeyForm | ConfirmByPasswordForm | ConfirmByCodeForm | None = None,
    problem: str = "",
    next_url: str = "",
) -> HttpResponse:
    """``next_url``: where to go from the provider; empty: to what was posted, which is kept meanwhile."""
    ways = confirmations.ways_of(request.user)
    offered = {
        name: form if form is not None and way == name else FORMS[name](prefix=PREFIX, user=request.user)
        for name in FORMS
        if getattr(ways, name)
    }
    context = {
        "what": confirmations.KINDS[kind],
        "posted": posted,
        "problem": problem or (" ".join(map(str, form.errors.get("credential", []))) if form is not None else ""),
        "offered": offered,
        "single_sign_on": settings.OIDC_NAME if ways.single_sign_on and not offered else "",
        "has_files": bool(request.FILES),
        "keeps": not next_url,
        "provider_was_silent": confirmations.signed_on_recently(request),
    }
    if context["single_sign_on"]:
        context["next_url"] = next_url or f"{reverse('accounts:confirmed')}?key={keep_sent(request, user=request.user)}"
    if "passkey" in offered:
        context["js_data"] = {"request_options": webauthn.begin_authentication(request.user)}
    return render(request, "accounts/confirming/confirm.html", context, status=422 if way else 403)


def keep_sent(request: HttpRequest, *, user: User) -> str:
    """Store what ``user`` sent, and return the key under which `kept_of` finds it.

    Not in the session, which ends where its owner signs in again.
    """
    posted = [(name, value) for name, value in posted_fields(request) if not _is_proof(name)]
    kept = {"user": user.pk, "path": request.get_full_path(), "posted": posted, "has_files": bool(request.FILES)}
    key = secrets.token_urlsafe(24)
    cache.set(f"confirming-{key}", kept, KEPT_SECONDS)
    return key


def kept_of(key: str, *, user: User) -> dict[str, Any] | None:
    """``path`` and ``posted`` of what ``user`` sent before they signed in again; None if that is gone, or another's."""
    kept: dict[str, Any] | None = cache.get(f"confirming-{key}")
    return kept if kept is not None and kept["user"] == user.pk else None


def forget_kept(request: HttpRequest) -> None:
    """What was kept is sent again now: forget it, so that the page before offers it no more."""
    if key := request.POST.get(KEPT_FIELD, ""):
        if isinstance(request.user, User) and kept_of(key, user=request.user):
            cache.delete(f"confirming-{key}")
        rest = request.POST.copy()
        del rest[KEPT_FIELD]
        request.POST = rest  # type: ignore[assignment]


def _restore(request: HttpRequest) -> None:
    """Take the fields of the proof out of what was posted."""
    if PREFIX in request.POST:
        rest = request.POST.copy()
        for name in filter(_is_proof, list(rest)):
            del rest[name]
        request.POST = rest  # type: ignore[assignment]


def _is_proof(name: str) -> bool:
    """Whether a field was added by the page that asks."""
    return name == PREFIX or name.startswith(f"{PREFIX}-")


def record_signature(request: HttpRequest | Request, *, kind: str, scope: str, target: str | int, at: datetime) -> None:
    """Write into the security log what was signed, and how and when the signer last proved who they are.

    ``target`` names what was signed: a number, version or public id in the benchmark ``scope``.
    """
    by_token = isinstance(request, Request) and request.auth is not None
    plain = request._request if isinstance(request, Request) else request
    assert isinstance(request.user, User)
    confirmations.record_signature(
        user=request.user, kind=kind, scope=scope, target=target, at=at, request=plain, by_token=by_token
    )
