"""API endpoints of the security log: for operators, for admins of a benchmark, and for each person their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.security_kinds import KINDS
from consilium.core.endpoints import CURSOR, Pages, cursor_of, cursor_page
from consilium.core.filters import checked, declared
from operations import keyset
from operations.access import refuse_others
from operations.security_log import selectors
from operations.security_log.files import row_of
from operations.security_log.forms import BenchmarkFilters, LogFilters, OwnFilters
from operations.security_log.services import record_export
from rubrics.access import get_administered_benchmark

if TYPE_CHECKING:
    from datetime import datetime

    from django import forms
    from django.db.models import QuerySet

    from accounts.models import SecurityEvent, User

Plain = serializers.Serializer[Any]
OWN = {
    "group": "Only events of this group.",
    "since": "Only events from this moment on. A time without an offset is UTC.",
    "until": "Only events until this moment. A time without an offset is UTC.",
}
PERSON = {"person": "A part of the name or the address of the account, or of who did it."}
ADDRESS = {"address": "Only events from this network address."}


class BenchmarkLogSerializer(Plain):
    """A line of the security log, without network address and browser.

    `account` is whom it is about; it is empty where no account has the address that was typed. `by` is who did it, and
    is empty for commands and for people who are not signed in.
    """

    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    account = serializers.CharField()
    account_email = serializers.CharField()
    by = serializers.CharField()
    by_email = serializers.CharField()
    benchmark = serializers.CharField(help_text="Short name of the benchmark, empty if it belongs to none.")
    values = serializers.DictField(help_text="Facts of this kind of event, such as `method`.")


class LogSerializer(BenchmarkLogSerializer):
    """A line of the security log.

    `account` is whom it is about; it is empty where no account has the address that was typed. `by` is who did it, and
    is empty for commands and for people who are not signed in. So are `address` and `browser` where no request wrote
    the line.
    """

    address = serializers.CharField()
    browser = serializers.CharField(help_text="The header `User-Agent`, cut after 200 characters.")


@extend_schema(
    responses=LogSerializer(many=True),
    parameters=[*CURSOR, *declared(LogFilters, PERSON | OWN | ADDRESS)],
    operation_id="server_security_log_list",
)
@api_view(["GET"])
def security_log(request: Request) -> Response:
    """List the security log of the server, newest first (operators).

    A read is itself a line of the log, once: with its first page, which is that without `cursor`.
    """
    refuse_others(request.user)
    return _page(request, LogFilters(request.query_params), selectors.whole_log(), LogSerializer, scope="")


@extend_schema(
    responses=BenchmarkLogSerializer(many=True),
    parameters=[*CURSOR, *declared(BenchmarkFilters, PERSON | OWN)],
    operation_id="benchmark_security_log_list",
)
@api_view(["GET"])
def records(request: Request, slug: str) -> Response:
    """List the lines of the security log that belong to the benchmark, newest first (admins).

    A read is itself a line of the log, once: with its first page, which is that without `cursor`.
    """
    benchmark = get_administered_benchmark(request.user, slug)
    rows = selectors.log_of_benchmark(benchmark)
    return _page(request, BenchmarkFilters(request.query_params), rows, BenchmarkLogSerializer, scope=slug)


@extend_schema(
    responses=LogSerializer(many=True),
    parameters=[*CURSOR, *declared(OwnFilters, OWN)],
    operation_id="account_activity_list",
)
@api_view(["GET"])
def activity(request: Request) -> Response:
    """List what happened to your own account in the last 90 days, newest first. A read leaves no line."""
    rows = selectors.log_of_person(cast("User", request.user), timezone.now())
    return _page(request, OwnFilters(request.query_params), rows, LogSerializer, scope=None)


def record_read(request: Request, *, what: str, filters: forms.Form, scope: str, at: datetime) -> None:
    """Put a read of the log or the trail on record; called for its first page."""
    record_export(
        what=what,
        file_format="api",
        filters=filters,
        scope=scope,
        by=cast("User", request.user),
        at=at,
        request=request._request,
    )


def _page(
    request: Request,
    filters: OwnFilters,
    rows: QuerySet[SecurityEvent],
    serializer: type[BenchmarkLogSerializer],
    *,
    scope: str | None,
) -> Response:
    """A page of what the filters leave; where ``scope`` is not None, the first one is on record there."""
    rows = selectors.filter_events(rows, checked(filters))
    size, place = Pages().get_limit(request), cursor_of(request, keyset.place_of)
    if place is None and scope is not None:
        at = timezone.now()
        record_read(request, what="security_log", filters=filters, scope=scope, at=at)
        rows = rows.filter(at__lt=at)  # without the line of this read
    page = keyset.page_before(rows, place, size=size)
    shown = [row_of(event) for event in page.rows]
    return cursor_page(request, serializer(shown, many=True).data, after=page.older)
