"""API endpoints of agreement: the raters of a benchmark, and its reports with their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agreement import access, services
from agreement.api.planning import Planning
from agreement.api.slices import urlpatterns as slice_patterns
from agreement.api.thresholds import Thresholds
from agreement.exports.api import Decisions
from agreement.models import Report
from agreement.reports.api import urlpatterns as file_patterns
from agreement.reports.figures import figures_of
from agreement.reports.stored import table_names
from agreement.selectors.rater_choices import rater_choices
from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, Pages
from consilium.core.jobs import JobStatus
from rubrics.access import get_benchmark

if TYPE_CHECKING:
    from accounts.models import User


class OfferSerializer(serializers.Serializer[Any]):
    """A rater that has decisions: its name as commands and reports take it. ``note`` is there where older runs of a
    judge hold more than the runs that its name stands for.
    """

    rater = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name, not the attribute of Field
    kind = serializers.ChoiceField(choices=["group", "consensus", "judge", "jury", "run", "physician"])
    note = serializers.CharField(required=False)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown = super().to_representation(instance)
        return shown if shown["note"] else {name: value for name, value in shown.items() if name != "note"}


class NewReportSerializer(StrictSerializer, serializers.Serializer[Any]):
    """What a new report is about. ``parameters`` by kind: agreement and items ``rater_a``, ``rater_b``; fidelity
    ``judge``, ``group_a``, ``group_b``, ``margin``; comparison ``reference``, ``judge_a``, ``judge_b``; alternative
    ``judge``, ``group`` (or all), ``epsilon``, ``minimum``; calibration ``group``, ``candidate``, ``include_aided``,
    ``judges``; scores ``rater``, ``k``, ``also`` (raters whose ranks are set beside), ``subsets`` (named slices);
    powered ``judge``, ``reference``, ``k``.
    """

    kind = serializers.ChoiceField(choices=Report.Kind.choices)
    parameters = serializers.DictField(child=serializers.JSONField())
    seed = serializers.IntegerField(min_value=0, max_value=services.LARGEST_SEED, default=0)


class ReportSerializer(serializers.Serializer[Report]):
    """A report in a list."""

    id = serializers.CharField(source="public_id")
    kind = serializers.ChoiceField(choices=Report.Kind.choices)
    parameters = serializers.DictField()
    seed = serializers.IntegerField()
    status = serializers.ChoiceField(choices=JobStatus.choices)
    progress = serializers.FloatField()
    error = serializers.CharField()
    input_digest = serializers.CharField()
    software = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class ReportDetailSerializer(ReportSerializer):
    """A report with what it came to: single facts, remarks, and the names of its tables and figures."""

    facts = serializers.SerializerMethodField()
    notes = serializers.SerializerMethodField()
    tables = serializers.SerializerMethodField()
    figures = serializers.SerializerMethodField()

    def get_facts(self, report: Report) -> dict[str, Any]:
        return dict(report.result.get("facts", {}))

    def get_notes(self, report: Report) -> list[str]:
        return list(report.result.get("notes", []))

    def get_tables(self, report: Report) -> list[str]:
        return sorted(table_names(report))

    def get_figures(self, report: Report) -> list[str]:
        return [figure.name for figure in figures_of(report)]


class Raters(APIView):
    """The raters of a benchmark that have decisions."""

    @extend_schema(responses=OfferSerializer(many=True), operation_id="raters_list")
    def get(self, request: Request, slug: str) -> Response:
        rater_offers = rater_choices(get_benchmark(request.user, slug))
        return Response(OfferSerializer(rater_offers, many=True).data)


class Reports(APIView):
    """Reports of a benchmark, the newest first; a new one is computed by a worker."""

    @extend_schema(
        parameters=[*PAGED, OpenApiParameter("kind", str, enum=list(Report.Kind.values))],
        responses=ReportSerializer(many=True),
        operation_id="reports_list",
    )
    def get(self, request: Request, slug: str) -> Response:
        reports = Report.objects.filter(benchmark=get_benchmark(request.user, slug)).defer("result")
        kind = request.query_params.get("kind")
        if kind:
            if kind not in Report.Kind.values:
                raise serializers.ValidationError({"kind": [_("There is no kind “%(kind)s”.") % {"kind": kind}]})
            reports = reports.filter(kind=kind)
        paginator = Pages()
        page = paginator.paginate_queryset(reports, request, view=self) or []
        return paginator.get_paginated_response([ReportSerializer(report).data for report in page])

    @extend_schema(
        request=NewReportSerializer,
        responses={200: ReportDetailSerializer, 201: ReportDetailSerializer},
        operation_id="reports_create",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a report. 200 with the one that is there where exactly the same waits or is being computed."""
        benchmark = get_benchmark(request.user, slug)
        serializer = NewReportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        report, is_new = services.start_report(
            benchmark=benchmark,
            kind=serializer.validated_data["kind"],
            parameters=serializer.validated_data["parameters"],
            seed=serializer.validated_data["seed"],
            by=cast("User", request.user),
            at=timezone.now(),
        )
        return Response(ReportDetailSerializer(report).data, status=201 if is_new else 200)


class ReportDetail(APIView):
    """One report; ask again until ``status`` is done or failed."""

    @extend_schema(responses=ReportDetailSerializer, operation_id="reports_retrieve")
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        return Response(ReportDetailSerializer(access.get_report(request.user, slug, public_id)).data)


urlpatterns: list[URLPattern] = [
    *slice_patterns,
    path("benchmarks/<slug:slug>/planning/", Planning.as_view(), name="api-planning"),
    path("benchmarks/<slug:slug>/thresholds/", Thresholds.as_view(), name="api-thresholds"),
    path("benchmarks/<slug:slug>/decisions.csv", Decisions.as_view(), name="api-decisions-csv"),
    path("benchmarks/<slug:slug>/raters/", Raters.as_view(), name="api-raters"),
    path("benchmarks/<slug:slug>/reports/", Reports.as_view(), name="api-reports"),
    path("benchmarks/<slug:slug>/reports/<str:public_id>/", ReportDetail.as_view(), name="api-report"),
    *file_patterns,
]
