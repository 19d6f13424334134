"""API endpoints of a person's own sessions and API tokens: which there are, ending and revoking them.

None asks for a confirmation, as on the pages: whoever suspects a misuse must be quick. No operation makes a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import ApiToken
from accounts.own_sessions import WAYS, OwnSession, own_sessions
from accounts.services.api_tokens import revoke_token
from accounts.services.sessions import end_sessions
from consilium.core.endpoints import PAGED, page_of

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import User

Plain = serializers.Serializer[Any]


class SessionSerializer(Plain):
    """A session that has not ended, with what was recorded when it began."""

    id = serializers.CharField(source="number")
    browser = serializers.CharField()
    address = serializers.CharField(help_text="The network address of the sign-in.")
    signed_in_at = serializers.DateTimeField(allow_null=True)
    way = serializers.ChoiceField(choices=["", *WAYS], help_text="How the person signed in.")
    used_at = serializers.DateTimeField(source="row.used_at", help_text="Kept to within five minutes.")
    is_this = serializers.BooleanField(help_text="Whether the request was sent in it.")


class EndedSessionsSerializer(Plain):
    """How many sessions were ended."""

    ended = serializers.IntegerField()


class ApiTokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token without what opens anything. `prefix` is the beginning of its key."""

    id = serializers.CharField(source="public_id")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=ApiToken.Scope.values))
    benchmark = serializers.CharField(help_text="Short name of the only benchmark that it opens, or empty.")

    class Meta:
        model = ApiToken
        fields = (
            *("id", "name", "prefix", "scopes", "benchmark", "created_at", "expires_at", "last_used_at"),
            *("last_used_address", "revoked_at"),
        )
        read_only_fields = fields


@extend_schema(methods=["GET"], responses=SessionSerializer(many=True), operation_id="account_sessions_list")
@extend_schema(methods=["DELETE"], responses={200: EndedSessionsSerializer}, operation_id="account_sessions_end")
@api_view(["GET", "DELETE"])
def sessions(request: Request) -> Response:
    """List your sessions that have not ended. All at once: one row for each sign-in of the last days.

    DELETE: End all your sessions but the one in which the request was sent. With a token, all of them end.
    """
    at = timezone.now()
    rows = _sessions(request, at)
    if request.method == "GET":
        return Response(SessionSerializer(rows, many=True).data)
    return Response({"ended": _end(request, [row for row in rows if not row.is_this], at)})


@extend_schema(responses={204: None}, operation_id="account_session_end")
@api_view(["DELETE"])
def session(request: Request, number: str) -> Response:
    """End one of your sessions; 404 for the one in which the request was sent: sign out there."""
    at = timezone.now()
    rows = [row for row in _sessions(request, at) if row.number == number and not row.is_this]
    if not rows or not _end(request, rows, at):
        raise Http404
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(responses=ApiTokenSerializer(many=True), parameters=PAGED, operation_id="account_tokens_list")
@api_view(["GET"])
def tokens(request: Request) -> Response:
    """List your API tokens, the newest first, with those that have expired or were revoked."""
    return page_of(request, access.own_tokens(_user(request)), ApiTokenSerializer)


@extend_schema(responses={204: None}, operation_id="account_token_revoke")
@api_view(["DELETE"])
def token(request: Request, public_id: str) -> Response:
    """Revoke one of your API tokens for good, also the one of the request. One that was revoked before stays so."""
    row = access.get_own_token(_user(request), public_id)
    revoke_token(token=row, by=_user(request), at=timezone.now(), request=request._request)
    return Response(status=status.HTTP_204_NO_CONTENT)


def _user(request: Request) -> User:
    return cast("User", request.user)


def _sessions(request: Request, at: datetime) -> list[OwnSession]:
    # A request with a token may carry a cookie as well, which is not what lets it in.
    key = None if isinstance(request.auth, ApiToken) else request._request.session.session_key
    return own_sessions(_user(request), current_key=key, at=at)


def _end(request: Request, rows: list[OwnSession], at: datetime) -> int:
    return end_sessions(rows=[row.row for row in rows], user=_user(request), at=at, request=request._request)
