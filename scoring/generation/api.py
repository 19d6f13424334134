"""API endpoints of generation runs, for staff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_SETTING_LENGTH
from consilium.core.model_schemas import model_field, stored_field
from rubrics.access import get_benchmark
from scoring.api.config_errors import config_errors
from scoring.generation import runs, selectors
from scoring.generation.config import GenerationConfig
from scoring.generation.due_responses import frame_of
from scoring.generation.runs import MAX_SAMPLES, SETTING
from scoring.generation.views import PAGES
from scoring.models import GenerationRun
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.api import (
    CandidateRunProgressSerializer,
    CandidateRunSerializer,
    NewCandidateRunSerializer,
    progress_body,
)

if TYPE_CHECKING:
    from accounts.models import User


class NewGenerationSerializer(NewCandidateRunSerializer):
    """A run to be begun.

    ``config``: ``endpoint``, ``model``, ``key_env`` (the name of an environment variable), ``system_prompt``,
    ``temperature``, ``top_p``, ``max_tokens``, ``seed``, ``stop`` (a list), ``extra`` (further decoding parameters),
    ``concurrency``, ``requests_per_minute``, ``timeout_s``, ``attempts``, ``pauses``.
    """

    config = model_field(GenerationConfig, without=("framing",))
    samples = serializers.IntegerField(min_value=1, max_value=MAX_SAMPLES, default=1)
    setting = serializers.CharField(max_length=MAX_SETTING_LENGTH, default=SETTING)
    framing = serializers.IntegerField(
        min_value=1,
        max_value=2**31 - 1,
        allow_null=True,
        default=None,
        help_text="Version of the framing of cases that are bare descriptions; null: each case goes as it is.",
    )


class GenerationProgressSerializer(CandidateRunProgressSerializer):
    """How far a run is, counted from its items."""

    truncated = serializers.IntegerField()
    refused = serializers.IntegerField()
    names_its_author = serializers.IntegerField()


class GenerationRunSerializer(CandidateRunSerializer):
    """A run in a list."""

    config = stored_field(GenerationConfig)
    setting = serializers.CharField()
    framing = serializers.IntegerField(source="framing_version", allow_null=True)


class GenerationRunDetailSerializer(GenerationRunSerializer):
    """A run with its progress."""

    progress = serializers.SerializerMethodField()

    @extend_schema_field(GenerationProgressSerializer)
    def get_progress(self, run: GenerationRun) -> dict[str, Any]:
        """As the page shows it."""
        progress = selectors.progress_of(run, at=timezone.now())
        return {
            **progress_body(run, progress),
            "truncated": progress.truncated,
            "refused": progress.refused,
            "names_its_author": progress.flagged,
        }


def _detail(run: GenerationRun, code: int = status.HTTP_200_OK) -> Response:
    return Response(GenerationRunDetailSerializer(run).data, status=code)


@extend_schema(
    methods=["GET"], responses=GenerationRunSerializer(many=True), parameters=PAGED, operation_id="generation_list"
)
@extend_schema(
    methods=["POST"],
    request=NewGenerationSerializer,
    responses={201: GenerationRunDetailSerializer},
    operation_id="generation_create",
)
@api_view(["GET", "POST"])
def generation(request: Request, slug: str) -> Response:
    """List the runs that ask for responses, the newest first.

    POST: Begin a run that asks for responses.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.runs_on(benchmark), GenerationRunSerializer)
    payload = valid(NewGenerationSerializer(data=request.data))
    with config_errors():
        run = runs.create_run(
            benchmark=benchmark,
            candidate=payload["candidate"],
            config=payload["config"],
            frame=frame_of(payload.get("frame", {})),
            samples=payload["samples"],
            setting=payload["setting"],
            framing=payload["framing"],
            by=cast("User", request.user),
            at=timezone.now(),
        )
    return _detail(run, status.HTTP_201_CREATED)


@extend_schema(responses=GenerationRunDetailSerializer, operation_id="generation_retrieve")
@api_view(["GET"])
def generation_run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(PAGES.get(cast("User", request.user), slug, public_id))


@extend_schema(request=None, responses=GenerationRunDetailSerializer, operation_id="generation_cancel")
@api_view(["POST"])
def generation_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Ask for nothing more; what was written stays."""
    run = PAGES.get(cast("User", request.user), slug, public_id)
    pipeline_runs.cancel_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses=GenerationRunDetailSerializer, operation_id="generation_resume")
@api_view(["POST"])
def generation_resume(request: Request, slug: str, public_id: str) -> Response:
    """Ask for what is due and for what failed."""
    run = PAGES.get(cast("User", request.user), slug, public_id)
    pipeline_runs.resume_run(run=run, at=timezone.now())
    return _detail(run)
