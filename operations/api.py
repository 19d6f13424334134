"""API endpoints of accounts, for operators of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.confirming import check_api_confirmation
from annotation.people.deactivation import activate_account, deactivate_account
from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, Pages, valid
from consilium.core.filters import checked, declared
from consilium.core.limits import MAX_REASON_LENGTH
from operations.access import get_account, refuse_others
from operations.forms import AccountFilters
from operations.selectors import accounts as account_selectors

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]
STATES = [name for name in account_selectors.STATES if name != "operators"]
FILTERS = declared(
    AccountFilters,
    {"q": "A part of the name or the address.", "state": "Only accounts in this state, or only operators."},
)


class AccountSerializer(Plain):
    """An account; `benchmarks` is in how many it has an active role."""

    email = serializers.EmailField(source="user.email")
    name = serializers.CharField(source="user.name")
    state = serializers.ChoiceField(choices=STATES)
    operator = serializers.BooleanField(source="user.is_superuser")
    creates_benchmarks = serializers.BooleanField(source="user.is_staff")
    last_sign_in = serializers.DateTimeField(source="user.last_login", allow_null=True)
    second_step = serializers.BooleanField()
    benchmarks = serializers.IntegerField()


class DeactivationSerializer(StrictSerializer, Plain):
    """Which account, and why."""

    email = serializers.EmailField()
    reason = serializers.CharField(max_length=MAX_REASON_LENGTH)


class ActivationSerializer(StrictSerializer, Plain):
    """Which account, and why if that is to be kept."""

    email = serializers.EmailField()
    reason = serializers.CharField(max_length=MAX_REASON_LENGTH, required=False, allow_blank=True, default="")


def _answer(person: User) -> Response:
    person.refresh_from_db()
    [row] = account_selectors.rows_of([person])
    return Response(AccountSerializer(row).data)


@extend_schema(responses=AccountSerializer(many=True), parameters=[*PAGED, *FILTERS], operation_id="accounts_list")
@api_view(["GET"])
def accounts(request: Request) -> Response:
    """List the accounts of the server (operators)."""
    refuse_others(request.user)
    pages = Pages()
    chosen = checked(AccountFilters(request.query_params))
    users = pages.paginate_queryset(account_selectors.accounts(**chosen), request) or []
    return pages.get_paginated_response(AccountSerializer(account_selectors.rows_of(users), many=True).data)


@extend_schema(request=DeactivationSerializer, responses=AccountSerializer, operation_id="accounts_deactivate")
@api_view(["POST"])
def deactivate(request: Request) -> Response:
    """Deactivate an account (operators).

    It is signed out, its tokens are revoked, its roles are stopped and open work is released.
    """
    refuse_others(request.user)
    check_api_confirmation(request)
    sent = valid(DeactivationSerializer(data=request.data))
    person = get_account(request.user, email=sent["email"])
    deactivate_account(
        person=person,
        reason=sent["reason"],
        by=cast("User", request.user),
        at=timezone.now(),
        request=request._request,
    )
    return _answer(person)


@extend_schema(request=ActivationSerializer, responses=AccountSerializer, operation_id="accounts_activate")
@api_view(["POST"])
def activate(request: Request) -> Response:
    """Activate an account again (operators); its roles stay stopped."""
    refuse_others(request.user)
    check_api_confirmation(request)
    sent = valid(ActivationSerializer(data=request.data))
    person = get_account(request.user, email=sent["email"])
    activate_account(
        person=person,
        reason=sent["reason"],
        by=cast("User", request.user),
        at=timezone.now(),
        request=request._request,
    )
    return _answer(person)
