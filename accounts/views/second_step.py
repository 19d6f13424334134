"""The page that explains who demands a second step, and that leads back to where somebody was going."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import deactivate_totp
from allauth.mfa.webauthn.views import remove_webauthn
from django.db import transaction
from django.http import HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.second_step import split
from accounts.services import second_factor
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.own_addresses import own_address

NEXT_PAGE = "second_step_next"  # in the session


@require_safe
@never_cache
@signed_in
def second_step(request: SignedInRequest) -> HttpResponse:
    """Say who demands a second step and how to set it up; who has one is led on to ``next``, given here or before."""
    if address := own_address(request, request.GET.get("next", "")):
        request.session[NEXT_PAGE] = address
    if second_factor.has_factor(request.user):
        return HttpResponseRedirect(request.session.pop(NEXT_PAGE, None) or reverse("mfa_index"))
    now, later = split(second_factor.demands_on(request.user))
    return render(request, "accounts/second_step/needed.html", {"demands": now, "later": later})


@transaction.atomic
@signed_in
def remove_key(request: SignedInRequest, pk: int) -> HttpResponseBase:
    """allauth's page that removes a passkey or security key, which does not ask whether its owner needs it."""
    User.objects.select_for_update(no_key=True).get(pk=request.user.pk)  # of two keys at once, one stays
    key = get_object_or_404(Authenticator, pk=pk, user=request.user, type=Authenticator.Type.WEBAUTHN)
    if not second_factor.may_remove(key):
        context = {"authenticator": key, "refused": refusal_to_remove(request.user)}
        status = 422 if request.method == "POST" else 200
        return render(request, "mfa/webauthn/authenticator_confirm_delete.html", context, status=status)
    return remove_webauthn(request, pk=pk)


@transaction.atomic
@signed_in
def remove_app(request: SignedInRequest) -> HttpResponseBase:
    """allauth's page that removes the authenticator app; its form asks `accounts.adapters.SecondStepAdapter`."""
    User.objects.select_for_update(no_key=True).get(pk=request.user.pk)
    return deactivate_totp(request)


def refusal_to_remove(user: User) -> str:
    """Why the last step stays."""
    names = [f"“{demand.title}”" if demand.slug else _("this server") for demand in second_factor.in_force(user)]
    text = _("%(names)s requires a second step of you. Add another one before you remove this one.")
    return text % {"names": _(", ").join(names)}
