"""The page behind an invitation's link."""

from __future__ import annotations

from allauth.core import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.forms import PhysicianWelcomeForm, WelcomeForm
from accounts.models import PhysicianProfile
from accounts.notices import PARTS
from accounts.services import invitations, security_log
from consilium.core.language_tags import language_read

# Where the work of each part waits.
FIRST_PAGE = {
    "annotator": "annotation:work",
    "checker": "annotation:checks",
    "adjudicator": "annotation:adjudications",
}


@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Ask the invited person for a name and a password, sign them in, and lead them to their work."""
    limited = ratelimit.consume_or_429(request, action="welcome")
    if limited is not None:
        return limited
    at = timezone.now()
    try:
        invitation = invitations.invitation_of(token=token, at=at)
        kind = PhysicianWelcomeForm if invitations.invites_physician(invitation) else WelcomeForm
        stored = PhysicianProfile.objects.filter(user=invitation.user).first() or PhysicianProfile()
        initial = {
            "name": invitation.user.name,
            "language": get_language(),
            "time_zone": invitation.user.time_zone,
            "specialty": stored.specialty,
            "languages": stored.languages or [language_read(get_language() or "en")],
            **{name: getattr(stored, name) for name in ("licence_country", "licence_number", "years_in_practice")},
        }
        form: WelcomeForm = kind(
            request.POST if request.method == "POST" else None, user=invitation.user, initial=initial
        )
        if request.method == "POST" and form.is_valid():
            account = {name: form.cleaned_data[name] for name in ("name", "password", "language", "time_zone")}
            accepted = invitations.accept(token=token, at=at, profile=form.profile(), **account)
            login(request, accepted.user, backend=settings.AUTHENTICATION_BACKENDS[0])
            security_log.record("signed_in", at=at, user=accepted.user, request=request, method="invitation")
            messages.success(
                request, _("Welcome. You are signed in. Next time, sign in with your email address and password.")
            )
            return remember_language(redirect(FIRST_PAGE.get(accepted.part, "accounts:home")), account["language"])
    except invitations.LinkUnusable as refused:
        status = 404 if refused.reason == "unknown" else refused.status_code
        return render(request, "accounts/invitations/link_unusable.html", {"reason": refused.reason}, status=status)
    context = {"invitation": invitation, "form": form, "part": PARTS.get(invitation.part, invitation.part)}
    return render(request, "accounts/invitations/welcome.html", context, status=422 if form.errors else 200)


def remember_language(response: HttpResponse, language: str) -> HttpResponse:
    """Set the cookie of the language on ``response``, and return it."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )
    return response
