"""What answers tell browsers and caches, beside the Content-Security-Policy, and how the API treats plain http."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _

Handler = Callable[[HttpRequest], HttpResponse]
# What no page needs; a passkey is asked for by our own pages alone.
PERMISSIONS_POLICY = (
    "camera=(), microphone=(), geolocation=(), payment=(), usb=(), "
    "publickey-credentials-get=(self), publickey-credentials-create=(self)"
)


def browser_rules(get_response: Handler) -> Handler:
    """No browser or cache keeps an answer that says nothing else of itself, no site embeds one, and text is UTF-8.

    On a computer that several people share, *Back* must not show cases after the sign-out.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_store=True)
        kind = response.headers.get("Content-Type", "")
        if kind.startswith("text/") and "charset" not in kind and not response.has_header("Content-Disposition"):
            response.headers["Content-Type"] = f"{kind}; charset=utf-8"  # a stored file may have another encoding
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        return response

    return middleware


def refuse_plain_api(get_response: Handler) -> Handler:
    """Where pages are redirected to https, the API refuses plain http (403).

    A program that is redirected goes on, and nobody notices that it sends its token in plain each time.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        is_plain = settings.SECURE_SSL_REDIRECT and not request.is_secure()
        if is_plain and request.path_info.startswith("/api/"):
            detail = _("The API answers by https alone. Make a new token if one was sent in this way.")
            return JsonResponse({"detail": detail}, status=403)
        return get_response(request)

    return middleware
