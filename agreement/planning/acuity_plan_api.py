"""API endpoints of plans of studies of acuity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.db import transaction
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.confirming import check_api_confirmation, record_signature
from agreement.models import AcuityPlan
from agreement.planning import services
from agreement.planning.acuity_plan import PlanDocument, plan_of
from agreement.planning.selectors import plans_of
from consilium.core.model_schemas import object_schema, stored_field
from rubrics.access import get_benchmark

if TYPE_CHECKING:
    from accounts.models import User


class AcuityPlanSerializer(serializers.Serializer[AcuityPlan]):
    """A plan; ``content`` is its file. ``signed_at`` is null until it is signed."""

    number = serializers.IntegerField()
    scale = serializers.CharField(source="scale.name")
    scale_version = serializers.IntegerField(source="scale.version")
    content = stored_field(PlanDocument)
    digest = serializers.CharField()
    imported_at = serializers.DateTimeField()
    signed_by = serializers.CharField(source="signed_as")
    signed_at = serializers.DateTimeField(allow_null=True)


class AcuityPlans(APIView):
    """The plans of a benchmark, the newest first: the newest that is signed is in force on its scale.

    All at once: people import them one by one.
    """

    pagination_class = None

    @extend_schema(responses=AcuityPlanSerializer(many=True), operation_id="acuity_plans_list")
    def get(self, request: Request, slug: str) -> Response:
        plans = plans_of(get_benchmark(request.user, slug))
        return Response([AcuityPlanSerializer(plan).data for plan in plans])

    @extend_schema(
        request={"application/json": object_schema(PlanDocument)},
        responses={200: AcuityPlanSerializer, 201: AcuityPlanSerializer},
        operation_id="acuity_plans_import",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a plan: the body is the file. 200 where the newest plan is the same."""
        benchmark = get_benchmark(request.user, slug)
        content: Any = request.data
        plan, created = services.import_plan(
            benchmark=benchmark, plan=plan_of(content), by=cast("User", request.user), at=timezone.now()
        )
        return Response(AcuityPlanSerializer(plan).data, status=201 if created else 200)


class AcuityPlanDetail(APIView):
    """A plan."""

    @extend_schema(responses=AcuityPlanSerializer, operation_id="acuity_plans_retrieve")
    def get(self, request: Request, slug: str, number: int) -> Response:
        plan = get_object_or_404(plans_of(get_benchmark(request.user, slug)), number=number)
        return Response(AcuityPlanSerializer(plan).data)


class AcuityPlanSignature(APIView):
    """Sign a plan; from then on it never changes. 409 where it is signed, or a newer one is there."""

    @extend_schema(request=None, responses=AcuityPlanSerializer, operation_id="acuity_plans_sign")
    def post(self, request: Request, slug: str, number: int) -> Response:
        plan = get_object_or_404(plans_of(get_benchmark(request.user, slug)), number=number)
        check_api_confirmation(request)
        at = timezone.now()
        with transaction.atomic():  # no signature without its line in the security log
            signed = services.sign_plan(plan=plan, by=cast("User", request.user), at=at)
            record_signature(request, kind="acuity_plan", scope=slug, target=number, at=at)
        return Response(AcuityPlanSerializer(signed).data)
