"""Shared code of API endpoints that list rows and accept writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import LimitOffsetPagination

from consilium.core.parameters import whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet
    from rest_framework.request import Request
    from rest_framework.response import Response
    from rest_framework.serializers import Serializer


class Pages(LimitOffsetPagination):
    """Pages of a list: ``?limit=`` from 1 to `max_limit`, and ``?offset=``. Other values are refused."""

    default_limit = 50
    max_limit = 500

    def get_limit(self, request: Request) -> int:
        """How many rows a page has."""
        return whole_number(request, "limit", default=self.default_limit, low=1, high=self.max_limit)

    def get_offset(self, request: Request) -> int:
        """How many rows are skipped."""
        return whole_number(request, "offset", default=0)

    @classmethod
    def parameters(cls) -> list[OpenApiParameter]:
        """The parameters of a paginated list in the schema."""
        limits = f"maximum number of rows (default {cls.default_limit}, at most {cls.max_limit})"
        return [
            OpenApiParameter("limit", int, description=limits),
            OpenApiParameter("offset", int, description="how many rows to skip"),
        ]


PAGED = Pages.parameters()


def page_of(
    request: Request,
    rows: QuerySet[Any] | Sequence[Any],
    serializer: type[Serializer[Any]],
    context: dict[str, Any] | None = None,
) -> Response:
    """The page of ``rows`` that was asked for."""
    pages = Pages()
    page = pages.paginate_queryset(cast("QuerySet[Any]", rows), request) or []
    return pages.get_paginated_response(serializer(page, many=True, context=context or {}).data)


def valid(serializer: Serializer[Any]) -> dict[str, Any]:
    """What was sent, checked; a 400 that names each field where it is wrong."""
    serializer.is_valid(raise_exception=True)
    return cast("dict[str, Any]", serializer.validated_data)
