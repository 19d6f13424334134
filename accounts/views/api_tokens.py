"""Views of the reader's own API tokens: the list with the form, and revoking one or all."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts import access
from accounts.confirming import confirmed
from accounts.forms import ApiTokenForm
from accounts.models import ApiToken
from accounts.services import api_tokens as services
from accounts.token_scopes import benchmarks_of
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
@confirmed("api_token")
def api_tokens(request: SignedInRequest) -> HttpResponse:
    """The reader's tokens; a POST makes one, whose key is shown in this answer alone.

    A POST needs a proof of who is there from the last minutes. What was filled in is kept meanwhile.
    """
    at = timezone.now()
    form = ApiTokenForm(request.POST if request.method == "POST" else None, user=request.user, at=at)
    new, key = None, ""
    if request.method == "POST" and form.is_valid():
        try:
            new, key = services.make_token(user=request.user, by=request.user, at=at, request=request, **form.values())
        except DomainError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            form = ApiTokenForm(user=request.user, at=at)
    titles = dict(benchmarks_of(request.user))
    rows = list(access.own_tokens(request.user))
    for row in rows:
        row.benchmark_title = titles.get(row.benchmark, row.benchmark)  # type: ignore[attr-defined]
        scopes = [str(ApiToken.Scope(scope).label) for scope in row.scopes]
        row.scope_words = ", ".join(scopes)  # type: ignore[attr-defined]
        row.is_live = services.is_live(row, at=at)  # type: ignore[attr-defined]
    context = {
        "form": form,
        "new": new,
        "key": key,
        "tokens": [row for row in rows if row.revoked_at is None],
        "revoked": [row for row in rows if row.revoked_at is not None],
        "live": sum(services.is_live(row, at=at) for row in rows),
        "may_use": services.may_make_tokens(request.user),
    }
    return render(request, "accounts/own/api_tokens.html", context, status=422 if form.errors else 200)


@require_POST
@signed_in
def revoke(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Revoke one token. It asks for no password: whoever suspects a misuse must be quick."""
    token = access.get_own_token(request.user, public_id)
    if services.revoke_token(token=token, by=request.user, at=timezone.now(), request=request):
        messages.success(request, _("The token “%(name)s” was revoked.") % {"name": token.name})
    return redirect("accounts:api-tokens")


@require_POST
@signed_in
def revoke_all(request: SignedInRequest) -> HttpResponse:
    """Revoke all tokens of the reader."""
    number = services.revoke_all_tokens(user=request.user, by=request.user, at=timezone.now(), request=request)
    text = ngettext("%(n)d API token was revoked.", "%(n)d API tokens were revoked.", number)
    messages.success(request, text % {"n": number})
    return redirect("accounts:api-tokens")
