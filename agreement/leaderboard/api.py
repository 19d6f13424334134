"""API endpoint of the leaderboard."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agreement import access
from agreement.acuity.inputs import missing_inputs
from agreement.kinds.acuity_page import RANKED
from agreement.leaderboard import selectors
from agreement.models import Report
from consilium.core.jobs import JobStatus
from rubrics.access import get_benchmark


class LeaderboardRowSerializer(serializers.Serializer[Any]):
    """A candidate in a format. ``differs``: over usable readings alone it has another rank, ``rank_usable``.
    ``leads``: the cases leave it no other place than the first.
    """

    candidate = serializers.CharField()
    format = serializers.CharField()
    measure = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    value_low = serializers.FloatField(allow_null=True)
    value_high = serializers.FloatField(allow_null=True)
    rank = serializers.IntegerField(allow_null=True)
    rank_low = serializers.IntegerField(allow_null=True)
    rank_high = serializers.IntegerField(allow_null=True)
    rank_usable = serializers.IntegerField(allow_null=True)
    differs = serializers.BooleanField()
    leads = serializers.BooleanField()
    n_cases = serializers.IntegerField()
    note = serializers.CharField()


class LeaderboardSerializer(serializers.Serializer[Any]):
    """``report`` is null where there is none; ``missing`` then says what it waits for: ``labels``, a
    ``reference-set``, ``readings`` or ``report``.
    """

    report = serializers.CharField(allow_null=True)
    missing = serializers.CharField()
    sort = serializers.ChoiceField(choices=RANKED)
    results = LeaderboardRowSerializer(many=True)


class Leaderboard(APIView):
    """The candidates of the newest report on acuity with at least two, or of ``report``, by rank."""

    @extend_schema(
        parameters=[
            OpenApiParameter("sort", str, enum=list(RANKED), description=f"Measure that ranks. Default `{RANKED[0]}`."),
            OpenApiParameter("report", str, description="Id of a finished report on acuity. Default: the newest."),
        ],
        responses=LeaderboardSerializer,
        operation_id="acuity_leaderboard",
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = get_benchmark(request.user, slug)
        sort = request.query_params.get("sort") or RANKED[0]
        public_id = request.query_params.get("report")
        report = access.get_report(request.user, slug, public_id) if public_id else selectors.newest_report(benchmark)
        if report is None:
            missing = missing_inputs(benchmark) or "report"
            return Response({"report": None, "missing": missing, "sort": sort, "results": []})
        if report.kind != Report.Kind.ACUITY or report.status != JobStatus.DONE:
            raise Http404
        results = LeaderboardRowSerializer(selectors.board_rows(report, sort), many=True).data
        return Response({"report": report.public_id, "missing": "", "sort": sort, "results": results})
