"""The page after somebody signed in again at their provider, because they have nothing else to confirm with."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.confirming import take_kept
from consilium.core.htmx import SignedInRequest, signed_in


@require_safe
@never_cache
@signed_in
def confirmed(request: SignedInRequest) -> HttpResponse:
    """Show the button that carries out what the reader sent before, and was asked to confirm."""
    kept = take_kept(request.GET.get("key", ""), user=request.user)
    return render(request, "accounts/confirming/confirmed.html", {"kept": kept})
