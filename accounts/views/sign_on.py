"""The way to the provider of single sign-on, and back from it."""

from __future__ import annotations

import logging

from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from requests import RequestException

from accounts.openid import OpenIDAdapter, within_limits

logger = logging.getLogger(__name__)


@never_cache
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """allauth's view: GET asks for confirmation, POST leads to the provider.

    POST answers with a page and not with a redirect: a browser applies the policy for forms (``form-action``) to
    redirects after a form, too, and refuses one to another site.
    """
    try:
        with within_limits():
            response: HttpResponse = OAuth2LoginView.adapter_view(OpenIDAdapter(request, provider_id))(request)
    except SocialApp.DoesNotExist as error:
        raise Http404 from error
    except (RequestException, OAuth2Error):
        return _failed(request)
    target = response.get("Location", "")
    if request.method != "POST" or not target.startswith(("http://", "https://")):
        return response
    page = render(request, "accounts/sign_on/begin.html", {"target": target, "provider": settings.OIDC_NAME})
    page.cookies = response.cookies
    return page


@never_cache
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """allauth's view, to which the provider sends the browser back: it signs in, or says why not."""
    try:
        with within_limits():
            response: HttpResponse = OAuth2CallbackView.adapter_view(OpenIDAdapter(request, provider_id))(request)
    except SocialApp.DoesNotExist as error:
        raise Http404 from error
    except (RequestException, OAuth2Error):
        return _failed(request)
    return response


def _failed(request: HttpRequest) -> HttpResponse:
    logger.exception("The provider of single sign-on did not answer as it should")
    return render(request, "socialaccount/authentication_error.html", status=503)
