"""Views of home and profile, and of whether the session is still valid."""

from __future__ import annotations

from typing import cast

from allauth.account.decorators import reauthentication_required
from allauth.account.views import password_set
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe
from django.views.i18n import set_language as set_language_of_browser

from accounts import second_step, services
from accounts.forms import CredentialsForm, ProfileForm
from accounts.identity import opaque_name
from accounts.languages_read import messages_after_naming
from accounts.models import PhysicianProfile, User
from accounts.services.confirmations import last_proof
from consilium.core import navigation, todo
from consilium.core.htmx import SignedInRequest, signed_in


@require_safe
@signed_in
def home(request: SignedInRequest) -> HttpResponse:
    """What waits for the reader, and their benchmarks; with work in one place, that place."""
    start = navigation.start_page(request.user)
    if start:
        return redirect(start)
    todos = todo.todos_of(request.user)
    context = {
        "cards": navigation.home_cards(request.user),
        "actions": navigation.home_actions(request.user),
        "todos": todos,
        "seconds": todo.seconds_of(todos),
        "several": True,
    }
    return render(request, "accounts/own/home.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def profile(request: SignedInRequest) -> HttpResponse:
    """Name, time zone and language of the reader, their credentials, and whether they are thanked by name."""
    # A copy: a refused form must not show in the top bar as if it had been saved.
    person = User.objects.get(pk=request.user.pk)
    posted = request.POST if request.method == "POST" else None
    # The language in effect, which may be the choice of this browser: saving another field must not change it.
    form = ProfileForm(posted, instance=person, initial={"language": translation.get_language()})
    stored = PhysicianProfile.objects.filter(user=person).first() or PhysicianProfile(user=person)
    physician = CredentialsForm(posted, instance=stored)
    if posted is not None and form.is_valid() and physician.is_valid():
        services.update_profile(user=request.user, credentials=physician.cleaned_data, **form.cleaned_data)
        with translation.override(form.cleaned_data["language"]):
            messages.success(request, _("Your profile was saved."))
            for text in messages_after_naming(request.user):
                messages.warning(request, text)
        response = redirect("accounts:profile")
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            form.cleaned_data["language"],
            max_age=settings.LANGUAGE_COOKIE_AGE,
            secure=settings.SESSION_COOKIE_SECURE,
            samesite="Lax",
        )
        return response
    refused = form.errors or physician.errors
    context = {"form": form, "physician": physician}
    return render(request, "accounts/own/profile.html", context, status=422 if refused else 200)


def set_language(request: HttpRequest) -> HttpResponse:
    """Show the pages in another language, and store it in the profile of a reader who is signed in."""
    language = request.POST.get("language", "")
    if isinstance(request.user, User) and language in dict(settings.LANGUAGES):
        services.choose_language(user=request.user, language=language)
    return set_language_of_browser(request)


@require_safe
@never_cache
def session(request: HttpRequest) -> JsonResponse:
    """Whether the reader is signed in, as whom, and the current CSRF token.

    A page asks for them when its session had ended, or when the session may be that of another person.
    """
    who = opaque_name(request.user) if isinstance(request.user, User) else ""
    answer = {
        "signed_in": request.user.is_authenticated,
        "who": who,
        "csrf_token": get_token(request),
        "second_step_missing": second_step.is_missing(request),
    }
    return JsonResponse(answer)


@sensitive_post_parameters("password1", "password2")
@never_cache
@signed_in
def set_password(request: SignedInRequest) -> HttpResponseBase:
    """allauth's page for a first password, which asks nobody who is there."""
    if request.user.has_usable_password():
        return redirect("account_change_password")
    if request.method == "POST" and last_proof(request) is None:
        return redirect("account_set_password")  # the page asks; a password that was typed is kept nowhere meanwhile
    return cast("HttpResponseBase", reauthentication_required(password_set)(request))
