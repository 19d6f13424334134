"""API endpoints of runs that make pairs, for staff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_KEY_LENGTH, MAX_PAIR_GROUP_NAME_LENGTH
from consilium.core.model_schemas import model_field
from rubrics.access import get_benchmark
from scoring.api.config_errors import config_errors
from scoring.generation.due_responses import frame_of
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.api import GenerationFrameSerializer, WithProgress, budget_field
from validation import access
from validation.making import selectors, services
from validation.making.config import MakingConfig
from validation.models import MakingRun
from validation.trials.api import PairRunSerializer

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class NewMakingRunSerializer(StrictSerializer, Plain):
    """A run to be begun.

    ``config``: ``endpoint``, ``model``, ``key_env``, ``kinds`` (of errors, a list), ``each`` (pairs of a reference),
    ``temperature``, ``max_tokens``, ``seed``, ``concurrency``, ``requests_per_minute``, ``timeout_s``, ``attempts``,
    ``pauses``, ``price_in``, ``price_out``, ``currency``.
    """

    group = serializers.CharField(max_length=MAX_PAIR_GROUP_NAME_LENGTH, help_text="Made where it is not there.")
    judgements = serializers.IntegerField(min_value=1, max_value=2, default=1)
    candidate = serializers.CharField(
        max_length=MAX_KEY_LENGTH, required=False, allow_blank=True, default="",
        help_text="Whose responses are the references; empty: the reference answers of the cases.",
    )  # fmt: skip
    frame = GenerationFrameSerializer(required=False)
    config = model_field(MakingConfig, without=("cases",))
    budget = budget_field()


class MakingRunSerializer(PairRunSerializer):
    """A run in a list."""

    group = serializers.CharField(source="group_name")


class MakingRunDetailSerializer(MakingRunSerializer, WithProgress):
    """A run with its progress."""


def _detail(run: MakingRun, code: int = status.HTTP_200_OK) -> Response:
    return Response(MakingRunDetailSerializer(run).data, status=code)


@extend_schema(
    methods=["GET"], responses=MakingRunSerializer(many=True), parameters=PAGED, operation_id="pair_making_list"
)
@extend_schema(
    methods=["POST"],
    request=NewMakingRunSerializer,
    responses={201: MakingRunDetailSerializer},
    operation_id="pair_making_create",
)
@api_view(["GET", "POST"])
def making_runs(request: Request, slug: str) -> Response:
    """List the runs in which a model makes pairs, the newest first.

    POST: Begin a run in which a model makes pairs.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.runs_on(benchmark), MakingRunSerializer)
    payload = valid(NewMakingRunSerializer(data=request.data))
    with config_errors():
        run = services.create_run(
            benchmark=benchmark,
            group=payload["group"],
            judgements_due=payload["judgements"],
            candidate=payload["candidate"],
            frame=frame_of(payload.get("frame", {})),
            config=payload["config"],
            budget=payload["budget"],
            by=cast("User", request.user),
            at=timezone.now(),
        )
    return _detail(run, status.HTTP_201_CREATED)


@extend_schema(responses=MakingRunDetailSerializer, operation_id="pair_making_retrieve")
@api_view(["GET"])
def making_run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(access.get_making_run(request.user, slug, public_id))


@extend_schema(request=None, responses=MakingRunDetailSerializer, operation_id="pair_making_cancel")
@api_view(["POST"])
def making_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Ask for nothing more; what was written stays."""
    run = access.get_making_run(request.user, slug, public_id)
    pipeline_runs.cancel_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses=MakingRunDetailSerializer, operation_id="pair_making_resume")
@api_view(["POST"])
def making_resume(request: Request, slug: str, public_id: str) -> Response:
    """Ask for what is due and for what failed."""
    run = access.get_making_run(request.user, slug, public_id)
    services.resume_run(run=run, at=timezone.now())
    return _detail(run)
