"""View of the reader's own API token: make it, replace it, revoke it."""

from __future__ import annotations

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.services import api_tokens
from consilium.core.htmx import SignedInRequest, signed_in


@require_http_methods(["GET", "POST"])
@never_cache
@signed_in
@reauthentication_required(allow_get=True)
def api_token(request: SignedInRequest) -> HttpResponse:
    """Whether the reader has a token; a POST makes one, which is shown in this answer alone, or revokes it.

    A POST needs the password (or second factor) again, unless it was given a few minutes ago.
    """
    if request.method == "POST" and request.POST.get("action") == "revoke":
        if api_tokens.revoke_token(user=request.user):
            messages.success(request, _("The API token was revoked."))
        return redirect("accounts:api-token")
    new = api_tokens.make_token(user=request.user) if request.method == "POST" else None
    context = {"token": new or api_tokens.token_of(request.user), "key": new.key if new else ""}
    return render(request, "accounts/own/api_token.html", context)
