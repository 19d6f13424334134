"""The page that explains who demands a second step, and that leads back to where somebody was going."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.second_step import split
from accounts.services import second_factor
from consilium.core.htmx import SignedInRequest, signed_in

NEXT_PAGE = "second_step_next"  # in the session


@require_safe
@never_cache
@signed_in
def second_step(request: SignedInRequest) -> HttpResponse:
    """Say who demands a second step and how to set it up; who has one is led on to ``next``, given here or before."""
    url = request.GET.get("next", "")
    if url and url_has_allowed_host_and_scheme(url, allowed_hosts=None):
        request.session[NEXT_PAGE] = url
    if second_factor.has_factor(request.user):
        return redirect(request.session.pop(NEXT_PAGE, "mfa_index"))
    now, later = split(second_factor.demands_on(request.user))
    return render(request, "accounts/second_step/needed.html", {"demands": now, "later": later})
