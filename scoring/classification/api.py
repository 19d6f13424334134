"""API endpoints of runs that classify, for staff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_SCALE_NAME_LENGTH
from consilium.core.model_schemas import model_field, stored_field
from rubrics.access import get_benchmark
from scoring.api.config_errors import config_errors
from scoring.classification import runs, selectors
from scoring.classification.config import ClassificationConfig
from scoring.classification.runs import MAX_SAMPLES, SAMPLES
from scoring.classification.views import PAGES
from scoring.generation.due_responses import frame_of
from scoring.models import ClassificationRun
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.api import (
    CandidateRunProgressSerializer,
    CandidateRunSerializer,
    NewCandidateRunSerializer,
    Plain,
    progress_body,
)
from scoring.pipelines.forms import MIN_BUDGET

if TYPE_CHECKING:
    from accounts.models import User


def _budget() -> serializers.DecimalField:
    return serializers.DecimalField(
        max_digits=12, decimal_places=4, min_value=MIN_BUDGET, required=False, help_text="It takes prices."
    )


class NewAcuityRunSerializer(NewCandidateRunSerializer):
    """A run to be begun.

    ``config``: ``endpoint``, ``model``, ``key_env`` (the name of an environment variable), ``ask`` (letter, schema,
    reasons), ``confidence``, ``logprobs``, ``order_seed``, ``temperature``, ``top_p``, ``max_tokens``, ``seed``,
    ``stop`` (a list), ``extra`` (further decoding parameters), ``price_in``, ``price_out``, ``currency``,
    ``concurrency``, ``requests_per_minute``, ``timeout_s``, ``attempts``, ``pauses``.
    """

    config = model_field(ClassificationConfig, without=("scale", "levels"))
    scale = serializers.CharField(max_length=MAX_SCALE_NAME_LENGTH, default="four")
    samples = serializers.IntegerField(min_value=1, max_value=MAX_SAMPLES, default=SAMPLES)
    budget = _budget()


class ResumedAcuityRunSerializer(StrictSerializer, Plain):
    """With which budget a run is resumed; without one it keeps its own."""

    budget = _budget()


class AcuityRunProgressSerializer(CandidateRunProgressSerializer):
    """How far a run is, counted from its steps; ``levels`` and ``states`` are numbers of answers."""

    levels = serializers.DictField(child=serializers.IntegerField())
    states = serializers.DictField(child=serializers.IntegerField())
    with_logprobs = serializers.IntegerField()
    without_refused_parameters = serializers.IntegerField()
    spent = serializers.FloatField()


class AcuityRunSerializer(CandidateRunSerializer):
    """A run in a list."""

    config = stored_field(ClassificationConfig)
    scale = serializers.CharField(source="scale_name")
    ask = serializers.CharField()
    budget = serializers.DecimalField(max_digits=12, decimal_places=4, allow_null=True)
    currency = serializers.CharField()


class AcuityRunDetailSerializer(AcuityRunSerializer):
    """A run with its progress."""

    progress = serializers.SerializerMethodField()

    @extend_schema_field(AcuityRunProgressSerializer)
    def get_progress(self, run: ClassificationRun) -> dict[str, Any]:
        """As the page shows it."""
        progress = selectors.progress_of(run, at=timezone.now())
        return {
            **progress_body(run, progress),
            "levels": {level.value: level.number for level in progress.levels},
            "states": {state.value: state.number for state in progress.states},
            "with_logprobs": progress.with_logprobs,
            "without_refused_parameters": progress.left_out,
            "spent": run.spent,
        }


def _detail(run: ClassificationRun, code: int = status.HTTP_200_OK) -> Response:
    return Response(AcuityRunDetailSerializer(run).data, status=code)


@extend_schema(
    methods=["GET"], responses=AcuityRunSerializer(many=True), parameters=PAGED, operation_id="acuity_runs_list"
)
@extend_schema(
    methods=["POST"],
    request=NewAcuityRunSerializer,
    responses={201: AcuityRunDetailSerializer},
    operation_id="acuity_runs_create",
)
@api_view(["GET", "POST"])
def runs_of_benchmark(request: Request, slug: str) -> Response:
    """List the runs that ask for levels, the newest first.

    POST: Begin a run that asks for levels.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.runs_on(benchmark), AcuityRunSerializer)
    payload = valid(NewAcuityRunSerializer(data=request.data))
    with config_errors():
        run = runs.create_run(
            benchmark=benchmark,
            candidate=payload["candidate"],
            scale=payload["scale"],
            config=payload["config"],
            frame=frame_of(payload.get("frame", {})),
            samples=payload["samples"],
            budget=payload.get("budget"),
            by=cast("User", request.user),
            at=timezone.now(),
        )
    return _detail(run, status.HTTP_201_CREATED)


@extend_schema(responses=AcuityRunDetailSerializer, operation_id="acuity_runs_retrieve")
@api_view(["GET"])
def classification_run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(PAGES.get(cast("User", request.user), slug, public_id))


@extend_schema(request=None, responses=AcuityRunDetailSerializer, operation_id="acuity_runs_cancel")
@api_view(["POST"])
def classification_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Ask for nothing more; what was written stays."""
    run = PAGES.get(cast("User", request.user), slug, public_id)
    pipeline_runs.cancel_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(
    request=ResumedAcuityRunSerializer, responses=AcuityRunDetailSerializer, operation_id="acuity_runs_resume"
)
@api_view(["POST"])
def classification_resume(request: Request, slug: str, public_id: str) -> Response:
    """Ask for what is due and for what failed, with another budget where one is given."""
    run = PAGES.get(cast("User", request.user), slug, public_id)
    payload = valid(ResumedAcuityRunSerializer(data=request.data))
    runs.resume_run(run=run, at=timezone.now(), budget=payload.get("budget"))
    return _detail(run)
