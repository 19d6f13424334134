"""The page that makes the first account of an installation; until then, signing in leads to it."""

from __future__ import annotations

from allauth.account import views
from allauth.core import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.forms import FirstRunForm
from accounts.services import first_run, security_log
from accounts.views.welcome import remember_language
from consilium.core.errors import Conflict


@sensitive_post_parameters("code", "password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def make_first_account(request: HttpRequest) -> HttpResponse:
    """Take the code from the terminal, make the account, sign its owner in, and lead them to their first benchmark."""
    limited = ratelimit.consume_or_429(request, action="first_run") if request.method == "POST" else None
    if limited is not None:
        return limited
    if request.method != "POST" and not first_run.is_first_run():
        return redirect("account_login")
    form = FirstRunForm(request.POST if request.method == "POST" else None, initial={"language": get_language()})
    if request.method == "POST" and form.is_valid():
        names = ("code", "email", "name", "password", "language", "time_zone")
        try:
            user = first_run.make_first_account(at=timezone.now(), **{name: form.cleaned_data[name] for name in names})
        except first_run.WrongCode as refused:
            form.add_error("code", str(refused))
        except Conflict as refused:
            messages.error(request, str(refused))
            return redirect("account_login")
        else:
            login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
            security_log.record("signed_in", at=timezone.now(), user=user, request=request, method="first_account")
            messages.success(
                request, _("Welcome. You are signed in. Next time, sign in with your email address and password.")
            )
            return remember_language(redirect("accounts:home"), user.language)
    return render(request, "accounts/first_run/first_run.html", {"form": form}, status=422 if form.errors else 200)


def sign_in(request: HttpRequest) -> HttpResponseBase:
    """allauth's page for signing in; where nobody has an account, the page that makes the first one."""
    if request.method in {"GET", "HEAD"} and not request.user.is_authenticated and first_run.is_first_run():
        return redirect("accounts:first-run")
    response: HttpResponseBase = views.login(request)
    return response
