"""API endpoints of runs of drafting, for those who run the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_KEY_LENGTH, MAX_RECIPE_NAME_LENGTH
from drafting import access
from drafting.models import DraftingRun
from drafting.recipes.selectors import recipe_called
from drafting.runs import selectors, services
from drafting.stages.names import RESULT
from rubrics.access import get_benchmark
from rubrics.api.named import CASE, CASE_ID, CASES_TO_NAME, named_cases
from rubrics.models import Benchmark, Case
from scoring.api.config_errors import config_errors
from scoring.generation.due_responses import frame_of
from scoring.models import PipelineStep
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.api import GenerationFrameSerializer, PipelineRunSerializer, WithProgress, budget_field

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class NewDraftingRunSerializer(StrictSerializer, Plain):
    """A run to be begun: a recipe by its name, and the cases by a frame or by their names."""

    recipe = serializers.CharField(max_length=MAX_RECIPE_NAME_LENGTH)
    version = serializers.IntegerField(min_value=1, required=False, help_text="Without it, the newest.")
    frame = GenerationFrameSerializer(required=False)
    cases = serializers.ListField(
        child=serializers.CharField(max_length=MAX_KEY_LENGTH),
        required=False,
        help_text=f"{CASES_TO_NAME} Instead of a frame.",
    )
    budget = budget_field()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse two ways to name the cases at once."""
        if "frame" in attrs and "cases" in attrs:
            raise serializers.ValidationError({"cases": ["Give a frame or cases, not both."]})
        return attrs


class DraftingRunSerializer(PipelineRunSerializer):
    """A run in a list."""

    recipe = serializers.CharField(source="recipe_name")
    version = serializers.IntegerField(source="recipe_version")
    models = serializers.ListField(source="model_names", child=serializers.CharField())


class DraftingRunDetailSerializer(DraftingRunSerializer, WithProgress):
    """A run with its progress."""


class DraftedCaseSerializer(Plain):
    """What was drafted for a case, as the last step of the run has it. ``docs/formats.md`` names the fields."""

    case = serializers.CharField(help_text=CASE)
    case_id = serializers.CharField(help_text=CASE_ID)
    result = serializers.DictField(allow_null=True)


def _detail(run: DraftingRun, code: int = status.HTTP_200_OK) -> Response:
    return Response(DraftingRunDetailSerializer(run).data, status=code)


def _cases(benchmark: Benchmark, keys: list[str]) -> list[int]:
    chosen = named_cases(Case.objects.filter(benchmark=benchmark), keys)
    known = {name: case.pk for case in chosen for name in (case.public_id, case.key)}
    return [known[key] for key in keys]


@extend_schema(
    methods=["GET"], responses=DraftingRunSerializer(many=True), parameters=PAGED, operation_id="drafting_runs_list"
)
@extend_schema(
    methods=["POST"],
    request=NewDraftingRunSerializer,
    responses={201: DraftingRunDetailSerializer},
    operation_id="drafting_runs_create",
)
@api_view(["GET", "POST"])
def drafting_runs(request: Request, slug: str) -> Response:
    """List the runs of drafting, the newest first.

    POST: Begin a run of drafting.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.runs_on(benchmark), DraftingRunSerializer)
    payload = valid(NewDraftingRunSerializer(data=request.data))
    recipe = recipe_called(benchmark, payload["recipe"], payload.get("version"))
    if recipe is None:
        raise ValidationError({"recipe": [_("This recipe does not exist.")]})
    with config_errors():
        run = services.create_run(
            benchmark=benchmark,
            recipe=recipe,
            frame=frame_of(payload.get("frame", {})),
            cases=_cases(benchmark, payload["cases"]) if payload.get("cases") else (),
            budget=payload["budget"],
            by=cast("User", request.user),
            at=timezone.now(),
        )
    return _detail(run, status.HTTP_201_CREATED)


@extend_schema(responses=DraftingRunDetailSerializer, operation_id="drafting_runs_retrieve")
@api_view(["GET"])
def drafting_run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(access.get_drafting_run(request.user, slug, public_id))


@extend_schema(request=None, responses=DraftingRunDetailSerializer, operation_id="drafting_runs_cancel")
@api_view(["POST"])
def drafting_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Ask for nothing more; what was written stays."""
    run = access.get_drafting_run(request.user, slug, public_id)
    pipeline_runs.cancel_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses=DraftingRunDetailSerializer, operation_id="drafting_runs_resume")
@api_view(["POST"])
def drafting_resume(request: Request, slug: str, public_id: str) -> Response:
    """Ask for what is due and for what failed."""
    run = access.get_drafting_run(request.user, slug, public_id)
    services.resume_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(responses=DraftedCaseSerializer, operation_id="drafting_runs_case")
@api_view(["GET"])
def drafting_case(request: Request, slug: str, public_id: str, case: str) -> Response:
    """Show what was drafted for a case: criteria with their findings, facts, needs and the ledger; null without one."""
    access.get_drafting_run(request.user, slug, public_id)
    run, row = access.get_drafted_case(request.user, slug, public_id, case)
    step = run.steps.filter(case=row, stage=RESULT, state=PipelineStep.State.DONE).first()
    return Response(
        DraftedCaseSerializer({"case": row.key, "case_id": row.public_id, "result": step.output if step else None}).data
    )
