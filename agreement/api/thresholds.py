"""API endpoint of the signed thresholds of a benchmark."""

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
from agreement.calibration.thresholds import LARGEST_K, sign_threshold, threshold_choices
from agreement.models import Report, ThresholdChoice
from consilium.core.api import StrictSerializer, about_field
from consilium.core.limits import MAX_REASON_LENGTH
from consilium.core.model_schemas import described_field
from rubrics.access import get_benchmark

if TYPE_CHECKING:
    from accounts.models import User


class CalibrationFactsSerializer(serializers.Serializer[Any]):
    """What the calibration came to on which a threshold was signed; empty without one."""

    k = serializers.IntegerField(required=False)
    k_low = serializers.IntegerField(required=False, allow_null=True)
    k_high = serializers.IntegerField(required=False, allow_null=True)
    n = serializers.IntegerField(required=False)
    n_criteria = serializers.IntegerField(required=False)
    mean = serializers.FloatField(required=False)
    mean_low = serializers.FloatField(required=False, allow_null=True)
    mean_high = serializers.FloatField(required=False, allow_null=True)
    rater = serializers.CharField(required=False)
    candidate = serializers.CharField(required=False)


class ThresholdSerializer(serializers.Serializer[ThresholdChoice]):
    """A signed threshold. ``facts`` are of the calibration it was signed on: its k with both intervals, n, mean."""

    version = serializers.IntegerField()
    k = serializers.IntegerField()
    report = serializers.CharField(source="report.public_id", allow_null=True, default=None)
    reason = serializers.CharField()
    signed_by = serializers.CharField(source="signed_as")
    signed_at = serializers.DateTimeField()
    facts = described_field(CalibrationFactsSerializer)
    input_digest = serializers.CharField()


class NewThresholdSerializer(StrictSerializer, serializers.Serializer[Any]):
    """A threshold to sign. ``report`` is a finished calibration; ``reason`` is needed without one, or where k is not
    the calibrated one; ``seen`` is the version in force that the signer has seen, 0 for none.
    """

    k = serializers.IntegerField(min_value=1, max_value=LARGEST_K)
    report = serializers.CharField(default="", allow_blank=True)
    reason = serializers.CharField(default="", allow_blank=True, max_length=MAX_REASON_LENGTH)
    seen = serializers.IntegerField(min_value=0)


class Thresholds(APIView):
    """List the thresholds k that were signed on a benchmark, the newest first: the first is in force.

    All at once: people sign them one by one.

    POST: Sign a threshold k, which is in force from then on.
    """

    pagination_class = None

    @extend_schema(responses=ThresholdSerializer(many=True), operation_id="thresholds_list")
    def get(self, request: Request, slug: str) -> Response:
        choices = threshold_choices(get_benchmark(request.user, slug))
        return Response([ThresholdSerializer(choice).data for choice in choices])

    @extend_schema(request=NewThresholdSerializer, responses={201: ThresholdSerializer}, operation_id="thresholds_sign")
    def post(self, request: Request, slug: str) -> Response:
        benchmark = get_benchmark(request.user, slug)
        serializer = NewThresholdSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        check_api_confirmation(request)
        given = serializer.validated_data
        reports = Report.objects.filter(benchmark=benchmark)
        with about_field("report"):
            report = get_object_or_404(reports, public_id=given["report"]) if given["report"] else None
        with transaction.atomic():  # no signature without its line in the security log
            choice = sign_threshold(
                benchmark=benchmark,
                k=given["k"],
                report=report,
                reason=given["reason"],
                seen=given["seen"],
                by=cast("User", request.user),
                at=timezone.now(),
            )
            record_signature(request, kind="threshold", scope=slug, target=choice.version, at=choice.signed_at)
        return Response(ThresholdSerializer(choice).data, status=201)
