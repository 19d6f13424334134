"""API endpoints of the trail of changes, for admins of a benchmark and for operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.endpoints import CURSOR, Pages, cursor_of, cursor_page
from consilium.core.filters import checked, declared
from operations.access import refuse_others
from operations.security_log.api import record_read
from operations.trail.files import rows_of
from operations.trail.forms import ServerTrailFilters, TrailFilters
from operations.trail.kinds import OF_BENCHMARKS, OF_SERVER, subjects_of
from operations.trail.selectors import (
    Trail,
    changes_before,
    narrow_trail,
    place_of,
    trail_of_benchmark,
    trail_of_server,
)
from rubrics.access import get_administered_benchmark

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]
FILTERS = {
    "subject": "Only changes of such objects.",
    "person": "A part of the name or the address of who made the change.",
    "since": "Only changes from this moment on. A time without an offset is UTC.",
    "until": "Only changes until this moment. A time without an offset is UTC.",
}


class RecordedChangeSerializer(Plain):
    """A change of an object; words are English, as in the CSV file.

    `changes` has each field that changed, with its value before and after; of a new object, those that are not empty.
    Where no account made the change, `by` says so: a command, a job in the background, or someone not signed in.
    """

    at = serializers.DateTimeField()
    subject = serializers.ChoiceField(choices=list(subjects_of(OF_BENCHMARKS)))
    kind = serializers.CharField(help_text="What kind of object it is.")
    object = serializers.CharField(help_text="What names the object.")
    action = serializers.ChoiceField(choices=["created", "changed"])
    by = serializers.CharField()
    by_email = serializers.CharField()
    changes = serializers.DictField(
        child=serializers.ListField(child=serializers.JSONField(), min_length=2, max_length=2)
    )


class ServerChangeSerializer(RecordedChangeSerializer):
    """A change of an account or an invitation, or a new benchmark; words are English, as in the CSV file.

    `changes` has each field that changed, with its value before and after; of a new object, those that are not empty.
    Where no account made the change, `by` says so: a command, a job in the background, or someone not signed in.
    """

    subject = serializers.ChoiceField(choices=list(subjects_of(OF_SERVER)))


@extend_schema(
    responses=RecordedChangeSerializer(many=True),
    parameters=[*CURSOR, *declared(TrailFilters, FILTERS)],
    operation_id="benchmark_changes_list",
)
@api_view(["GET"])
def changes(request: Request, slug: str) -> Response:
    """List what was changed in the benchmark, newest first (admins).

    Decisions and verdicts are among the changes, as in the CSV file. A read is a line of the security log, once: with
    its first page, which is that without `cursor`.
    """
    trail = trail_of_benchmark(get_administered_benchmark(request.user, slug), cast("User", request.user))
    return _page(
        request, TrailFilters(request.query_params, kinds=trail.kinds), trail, RecordedChangeSerializer, scope=slug
    )


@extend_schema(
    responses=ServerChangeSerializer(many=True),
    parameters=[*CURSOR, *declared(ServerTrailFilters, FILTERS)],
    operation_id="server_changes_list",
)
@api_view(["GET"])
def server_changes(request: Request) -> Response:
    """List the changes of accounts and invitations, and the new benchmarks, newest first (operators).

    A read is a line of the security log, once: with its first page, which is that without `cursor`.
    """
    refuse_others(request.user)
    trail = trail_of_server()
    filters = ServerTrailFilters(request.query_params, kinds=trail.kinds)
    return _page(request, filters, trail, ServerChangeSerializer, scope="")


def _page(
    request: Request, filters: TrailFilters, trail: Trail, serializer: type[RecordedChangeSerializer], *, scope: str
) -> Response:
    shown = narrow_trail(trail, checked(filters))
    size, place, at = Pages().get_limit(request), cursor_of(request, place_of), timezone.now()
    if place is None:
        record_read(request, what="trail", filters=filters, scope=scope, at=at)
    rows, older = changes_before(shown, place, size=size, at=at)
    return cursor_page(request, serializer(rows_of(rows), many=True).data, after=str(older or ""))
