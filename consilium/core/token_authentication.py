"""The token that clients of the API send in `Authorization`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed

if TYPE_CHECKING:
    from rest_framework.request import Request


class TokenAuthentication(authentication.TokenAuthentication):
    """That of REST framework; a token after the word “Bearer” is refused with the word that is wanted."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """(user, token), or None where no token is sent."""
        [word, *_rest] = authentication.get_authorization_header(request).split() or [b""]
        if word.lower() == b"bearer":
            raise AuthenticationFailed(_("Send the token after the word “Token”, not “Bearer”: Authorization: Token …"))
        return super().authenticate(request)
