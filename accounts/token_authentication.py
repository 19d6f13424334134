"""The token that clients of the API send in `Authorization`, after the word “Token” or “Bearer”."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.account.adapter import get_adapter
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import status
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import APIException

from accounts.services import api_tokens

if TYPE_CHECKING:
    from django.http import HttpRequest
    from drf_spectacular.openapi import AutoSchema
    from rest_framework.request import Request

    from accounts.models import ApiToken, User

WORDS = (b"token", b"bearer")


class TokenRefused(APIException):
    """401. REST framework's `AuthenticationFailed` would become 403, because sessions are tried before tokens."""

    status_code = status.HTTP_401_UNAUTHORIZED
    default_code = "token_refused"
    auth_header = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer …`` or ``Authorization: Token …``; ``request.auth`` is the `ApiToken`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """(user, token), None where no token is sent, or `TokenRefused`."""
        word, _space, rest = get_authorization_header(request).partition(b" ")
        if word.lower() not in WORDS:
            return None
        key = rest.strip()
        token = api_tokens.token_of_key(key.decode()) if key.isascii() and b" " not in key else None
        if token is None:
            raise TokenRefused(_("This API token is not known."))
        at = timezone.now()
        http_request: HttpRequest = request._request
        refusal = self._refusal(token)
        if refusal is not None:
            reason, message = refusal
            api_tokens.record_refusal(token=token, reason=reason, at=at, request=http_request)
            raise TokenRefused(message)
        api_tokens.record_use(token=token, address=get_adapter().get_client_ip(http_request), at=at)
        return token.user, token

    def _refusal(self, token: ApiToken) -> tuple[str, str] | None:
        """Why a known token is refused: for the security log, and for whoever holds it. None where it is not."""
        if token.revoked_at is not None:
            return "revoked", _("This API token was revoked.")
        if not api_tokens.is_live(token, at=timezone.now()):
            return "expired", _("This API token has expired.")
        if not token.user.is_active:
            return "inactive", _("This API token is not known.")
        return None

    def authenticate_header(self, request: Request) -> str:
        """The scheme that a client is told of."""
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):
    """How the schema of the API describes a token."""

    target_class = "accounts.token_authentication.TokenAuthentication"
    name = "tokenAuth"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """A header; each operation says which scope it needs."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of *Profile → API tokens*, after the word `Bearer` or `Token`. Each operation says "
            "which scope the token needs.",
        }
