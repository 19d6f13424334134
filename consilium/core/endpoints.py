"""Shared code of API endpoints that list rows and accept writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.core.signing import BadSignature, Signer
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from consilium.core.parameters import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.db.models import QuerySet
    from rest_framework.request import Request
    from rest_framework.serializers import Serializer


Place = TypeVar("Place")


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


# Lists that are read with a cursor ------------------------------------------------------------------------------------


def cursor_parameters(default: int, most: int) -> list[OpenApiParameter]:
    """The parameters of a list whose pages begin at a row, so that rows that are added meanwhile shift none."""
    return [
        OpenApiParameter("cursor", str, description="where to continue: from `next` of the page before"),
        OpenApiParameter("limit", int, description=f"maximum number (default {default}, at most {most})"),
    ]


CURSOR = cursor_parameters(Pages.default_limit, Pages.max_limit)


def cursor_of(request: Request, place_of: Callable[[str], Place | None]) -> Place | None:
    """The place that ``cursor`` names, None for the first page; a cursor of another read is refused."""
    if not (text := request.query_params.get("cursor", "")):
        return None
    try:
        place = place_of(_signer(request).unsign(text))
    except BadSignature:
        place = None
    if place is None:
        raise unknown_cursor()
    return place


def unknown_cursor() -> ValidationError:
    """The refusal of a cursor that no page gave."""
    return ValidationError({"cursor": [_("This is not a cursor that a page gave.")]})


def cursor_page(request: Request, rows: Any, *, after: str) -> Response:
    """A page of a list that is read in one direction; ``after`` is the place of its last row, empty on the last."""
    address = request.build_absolute_uri()
    after = replace_query_param(address, "cursor", _signer(request).sign(after)) if after else ""
    return Response({"next": after or None, "previous": None, "results": rows})


def _signer(request: Request) -> Signer:
    """Of the cursors of one read: of this list, by this person, with these filters.

    A read may be on record with its first page, so nobody can make up a cursor and do without that page.
    """
    filters = sorted(item for item in request.query_params.items() if item[0] not in ("cursor", "limit"))
    return Signer(salt=json.dumps([request.path, request.user.pk, filters]))


def valid(serializer: Serializer[Any]) -> dict[str, Any]:
    """What was sent, checked; a 400 that names each field where it is wrong."""
    serializer.is_valid(raise_exception=True)
    return cast("dict[str, Any]", serializer.validated_data)
