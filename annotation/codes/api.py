"""API endpoint of coding, for those who run the benchmark: the codes that were given. Physicians use label tasks."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.codes.selectors import CODING_COLUMNS, coding_rows
from consilium.core.endpoints import PAGED, page_of
from rubrics.access import get_code_book


class CodingSerializer(serializers.Serializer[Any]):
    """A code that was given to a response; ``none``: no code applies. The rater ``adjudication`` is a ruling."""

    code_book = serializers.IntegerField()
    case = serializers.CharField(help_text="Key of the case.")
    candidate = serializers.CharField()
    setting = serializers.CharField()
    sample = serializers.IntegerField()
    response = serializers.CharField()
    rater = serializers.CharField()
    group = serializers.CharField()
    code = serializers.CharField()
    criterion = serializers.CharField(allow_blank=True)
    evidence = serializers.CharField(allow_blank=True)
    note = serializers.CharField(allow_blank=True)
    submitted_at = serializers.CharField()


@extend_schema(responses=CodingSerializer(many=True), parameters=PAGED, operation_id="codings_list")
@api_view(["GET"])
def codings(request: Request, slug: str, version: int) -> Response:
    """List the codes that physicians gave by a version of the code book, and the rulings."""
    book = get_code_book(request.user, slug, version)
    rows = [dict(zip(CODING_COLUMNS, row, strict=True)) for row in coding_rows(book)]
    return page_of(request, rows, CodingSerializer)
