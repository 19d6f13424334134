"""API endpoint of the rule that everybody in a benchmark needs a second step for signing in, for its admins."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.confirming import check_api_confirmation
from consilium.core.api import StrictSerializer
from consilium.core.endpoints import valid
from rubrics import access
from rubrics.api.benchmarks import me
from rubrics.selectors.second_step import people_without
from rubrics.services.second_step import require_second_step, stop_requiring_second_step

Plain = serializers.Serializer[Any]


class SecondStepSerializer(StrictSerializer, Plain):
    """From when everybody in the benchmark needs a second step; null: they do not."""

    since = serializers.DateTimeField(allow_null=True, help_text="A moment that has passed means now.")
    people = serializers.IntegerField(read_only=True, help_text="People with a role or an active membership.")
    without = serializers.IntegerField(read_only=True, help_text="Those of them who have no second step.")


@extend_schema(methods=["GET"], responses=SecondStepSerializer, operation_id="second_step_retrieve")
@extend_schema(
    methods=["PUT"], request=SecondStepSerializer, responses=SecondStepSerializer, operation_id="second_step_update"
)
@api_view(["GET", "PUT"])
def second_step(request: Request, slug: str) -> Response:
    """Show whether the benchmark demands a second step for signing in (admins).

    PUT: Demand it from a moment on, or with null no longer. Needs a token, or a session with a recent confirmation.
    """
    benchmark = access.get_administered_benchmark(request.user, slug)
    if request.method == "PUT":
        since = valid(SecondStepSerializer(data=request.data))["since"]
        check_api_confirmation(request)
        change: dict[str, Any] = {"benchmark": benchmark, "by": me(request), "at": timezone.now()}
        if since is None:
            stop_requiring_second_step(**change, request=request._request)
        else:
            require_second_step(**change, since=since, request=request._request)
    without, people = people_without(benchmark)
    row = {"since": benchmark.second_step_from, "people": people, "without": without}
    return Response(SecondStepSerializer(row).data)
