"""The page after somebody signed in again: at their provider, or because their session had ended."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.confirming import KEPT_FIELD, kept_of
from consilium.core.htmx import SignedInRequest, signed_in


@require_safe
@never_cache
@signed_in
def confirmed(request: SignedInRequest) -> HttpResponse:
    """Show the button that carries out what the reader sent before, and was asked to confirm."""
    key = request.GET.get("key", "")
    context = {"kept": kept_of(key, user=request.user), "key": key, "field": KEPT_FIELD}
    return render(request, "accounts/confirming/confirmed.html", context)
