"""API endpoints of a benchmark's admins and researchers, for its admins."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.confirming import check_api_confirmation
from consilium.core.api import StrictSerializer
from consilium.core.endpoints import valid
from consilium.core.limits import MAX_PERSON_NAME_LENGTH
from rubrics import access, services
from rubrics.api.benchmarks import me
from rubrics.api.invitations import InvitedSerializer, invitation_fields
from rubrics.models import BenchmarkRole

Plain = serializers.Serializer[Any]


class StaffSerializer(StrictSerializer, Plain):
    """A person who runs the benchmark."""

    id = serializers.IntegerField(source="pk", read_only=True)
    email = serializers.EmailField(source="user.email")
    name = serializers.CharField(
        source="user.name",
        max_length=MAX_PERSON_NAME_LENGTH,
        required=False,
        allow_blank=True,
        help_text="In a request: of a person without an account yet.",
    )
    role = serializers.ChoiceField(choices=BenchmarkRole.Role.choices)
    active = serializers.BooleanField(read_only=True)


class NewStaffSerializer(InvitedSerializer, StaffSerializer):
    """A person who was just added, and how they hear of it."""


class StaffChangeSerializer(StrictSerializer, Plain):
    """Whether the person runs the benchmark."""

    active = serializers.BooleanField()


@extend_schema(methods=["GET"], responses=StaffSerializer(many=True), operation_id="staff_list")
@extend_schema(
    methods=["POST"], request=StaffSerializer, responses={201: NewStaffSerializer}, operation_id="staff_create"
)
@api_view(["GET", "POST"])
def staff(request: Request, slug: str) -> Response:
    """List admins and researchers, former ones too.

    All at once: the people of one benchmark.

    POST: Add an admin or a researcher, or change their role (admins). Who never signed in is invited by email;
    without a mail server the answer shows the link, once.
    """
    benchmark = access.get_administered_benchmark(request.user, slug)
    if request.method == "GET":
        rows = benchmark.roles.select_related("user").order_by("role", "user__name", "pk")
        return Response(StaffSerializer(rows, many=True).data)
    sent = valid(StaffSerializer(data=request.data))
    if sent["role"] == BenchmarkRole.Role.ADMIN:
        check_api_confirmation(request)
    row, issued = services.invite_to_run(
        benchmark=benchmark,
        email=sent["user"]["email"],
        name=sent["user"].get("name", ""),
        role=sent["role"],
        by=me(request),
        at=timezone.now(),
    )
    answer = {**StaffSerializer(row).data, **invitation_fields(issued)}
    return Response(answer, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


@extend_schema(request=StaffChangeSerializer, responses=StaffSerializer, operation_id="staff_partial_update")
@api_view(["PATCH"])
def staff_member(request: Request, slug: str, role: int) -> Response:
    """Withdraw the role of an admin or a researcher, or give it again (admins)."""
    row = access.get_administered_role(request.user, slug, role)
    if valid(StaffChangeSerializer(data=request.data))["active"]:
        if row.role == BenchmarkRole.Role.ADMIN:
            check_api_confirmation(request)
        services.grant_role(benchmark=row.benchmark, user=row.user, role=row.role)
    else:
        services.withdraw_role(role=row, at=timezone.now())
    row.refresh_from_db()
    return Response(StaffSerializer(row).data)
