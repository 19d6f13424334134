"""Redirects to the provider of single sign-on."""

from __future__ import annotations

import logging

from allauth.socialaccount.providers.openid_connect import views
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from requests import RequestException

logger = logging.getLogger(__name__)


@never_cache
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """allauth's view: GET asks for confirmation, POST leads to the provider.

    POST answers with a page and not with a redirect: a browser applies the policy for forms (``form-action``) to
    redirects after a form, too, and refuses one to another site.
    """
    try:
        response: HttpResponse = views.login(request, provider_id)
    except RequestException:
        logger.exception("The provider of single sign-on did not answer")
        return render(request, "socialaccount/authentication_error.html", status=503)
    target = response.get("Location", "")
    if request.method != "POST" or not target.startswith(("http://", "https://")):
        return response
    page = render(request, "accounts/sign_on/begin.html", {"target": target, "provider": settings.OIDC_NAME})
    page.cookies = response.cookies
    return page
