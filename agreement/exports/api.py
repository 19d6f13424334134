"""API endpoint of a rater's decisions as a file."""

from __future__ import annotations

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from agreement.exports.decisions import decisions_file
from consilium.core.parameters import required
from consilium.core.schema import RefusalSerializer
from rubrics.access import get_benchmark


class Decisions(APIView):
    """What a rater decided on every pair, as CSV in the columns that an import of decisions takes, streamed."""

    @extend_schema(
        parameters=[OpenApiParameter("rater", str, required=True, description="As the list of raters names it.")],
        responses={(200, "text/csv"): OpenApiTypes.STR, 422: RefusalSerializer},
        operation_id="decisions_csv",
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        return decisions_file(get_benchmark(request.user, slug), required(request, "rater"))
