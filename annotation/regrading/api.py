"""API endpoints of what must be graded again after new versions of rubrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.named_groups import group_of_field
from annotation.api.serializers import Plain
from annotation.regrading.lacking import lacks_of
from annotation.regrading.regrading_plan import make_regrading
from annotation.services.batch_terms import BatchTerms
from consilium.core.api import StrictSerializer
from consilium.core.commands import command_of, serializer_field
from consilium.core.limits import MAX_KEY_LENGTH
from rubrics.access import get_administered_benchmark, get_benchmark
from rubrics.api.named import CASES_TO_NAME, named_cases
from rubrics.models import Case

if TYPE_CHECKING:
    from accounts.models import User


class LacksSerializer(Plain):
    """What a group has to grade again."""

    group = serializers.CharField(source="group.public_id", help_text="Id of the group.")
    name = serializers.CharField(source="group.name")
    cases = serializers.IntegerField()
    responses = serializers.IntegerField()
    decisions = serializers.IntegerField()


class RegradingSerializer(StrictSerializer, Plain):
    """A batch of what a group lacks; of some cases only, by id, where they are named."""

    group = serializers.CharField(max_length=16)
    title = serializer_field(BatchTerms, "title")
    cases = serializers.ListField(
        child=serializers.CharField(max_length=MAX_KEY_LENGTH),
        required=False,
        default=list,
        help_text=f"{CASES_TO_NAME} Empty for all.",
    )
    check_policy = serializer_field(BatchTerms, "check_policy")
    check_fraction = serializer_field(BatchTerms, "check_fraction")
    due_date = serializer_field(BatchTerms, "due_date")
    seed = serializer_field(BatchTerms, "seed", max_value=2**53)


class MadeSerializer(Plain):
    """The batch that was made."""

    batch = serializers.CharField(help_text="Id of the batch.")
    responses = serializers.IntegerField()
    decisions = serializers.IntegerField()
    checks = serializers.IntegerField()
    warnings = serializers.ListField(child=serializers.CharField())


@extend_schema(methods=["GET"], responses=LacksSerializer(many=True), operation_id="regrading_list")
@extend_schema(
    methods=["POST"], request=RegradingSerializer, responses={201: MadeSerializer}, operation_id="regrading_create"
)
@api_view(["GET", "POST"])
def regrading(request: Request, slug: str) -> Response:
    """List what each group has to grade again.

    All at once: one row for each group.

    POST: Make a batch of what a group has to grade again (admin). It goes to the same physicians where possible.
    """
    if request.method == "GET":
        return Response(LacksSerializer(lacks_of(get_benchmark(request.user, slug)), many=True).data)
    benchmark = get_administered_benchmark(request.user, slug)
    serializer = RegradingSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data: dict[str, Any] = serializer.validated_data
    group = group_of_field(benchmark, data["group"], field="group")
    batch, plan = make_regrading(
        group=group,
        terms=command_of(BatchTerms, data),
        cases=[case.public_id for case in named_cases(Case.with_stubs.filter(benchmark=benchmark), data["cases"])],
        by=cast("User", request.user),
        at=timezone.now(),
    )
    payload = {
        "batch": batch.public_id,
        "responses": plan.responses,
        "decisions": plan.decisions,
        "checks": plan.checks,
        "warnings": list(plan.warnings),
    }
    return Response(MadeSerializer(payload).data, status=status.HTTP_201_CREATED)
