"""API endpoints of runs of refinement, for staff. Figures come from reports of the kind *refinement*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer, about_field
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_KEY_LENGTH, MAX_RUBRIC_SET_NAME_LENGTH
from consilium.core.model_schemas import model_field
from rubrics.access import get_benchmark
from rubrics.models import Benchmark
from scoring.access import get_judge
from scoring.api.config_errors import config_errors
from scoring.generation.due_responses import frame_of
from scoring.models import EndpointKind
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.api import (
    ENDPOINT_KIND,
    CandidateRunProgressSerializer,
    GenerationFrameSerializer,
    progress_body,
)
from scoring.pipelines.selectors import step_progress
from validation import access
from validation.models import RefinementRun
from validation.refinement import selectors, services
from validation.refinement.building import Order, build, size_of
from validation.refinement.config import RefinementConfig
from validation.sets.named import SETS_TO_NAME, named_sets

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class NewRefinementSerializer(StrictSerializer, Plain):
    """A run to be begun.

    ``config``: ``endpoint``, ``model``, ``edit_model`` (empty: the same), ``key_env``, ``temperature``, ``max_tokens``,
    ``seed``, ``draw_seed`` (of the halves), ``concurrency``, ``requests_per_minute``, ``timeout_s``, ``attempts``,
    ``pauses``, ``price_in``, ``price_out``, ``currency``.
    """

    candidate = serializers.CharField(max_length=MAX_KEY_LENGTH, help_text="Whose responses are refined.")
    sets = serializers.ListField(
        child=serializers.CharField(max_length=MAX_RUBRIC_SET_NAME_LENGTH), max_length=20, required=False, default=list,
        help_text=f"{SETS_TO_NAME} Each guides an arm.",
    )  # fmt: skip
    upper_bounds = serializers.ListField(
        child=serializers.CharField(max_length=MAX_RUBRIC_SET_NAME_LENGTH), max_length=20, required=False, default=list,
        help_text="Those of them that may share criteria with the gold rubric, labelled as upper bounds.",
    )  # fmt: skip
    self_critique = serializers.BooleanField(default=False)
    gold = serializers.BooleanField(default=False, help_text="An arm with all gold criteria, as an upper bound.")
    split = serializers.BooleanField(default=False, help_text="One half of the gold criteria guides, the other grades.")
    frame = GenerationFrameSerializer(required=False)
    config = model_field(RefinementConfig, without=("split", "arms", "cases"))
    budget = serializers.DecimalField(max_digits=12, decimal_places=4, required=False, allow_null=True, default=None)


class ArmSerializer(Plain):
    """An arm, and the candidate of its texts."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=["set", "self", "gold", "half"])
    candidate = serializers.CharField()
    upper_bound = serializers.BooleanField()
    overlaps = serializers.IntegerField(help_text="Criteria that the gold rubric has as well.")
    taken_out = serializers.IntegerField(help_text="Those of them that were taken out, since they would grade.")


class RefinementRunSerializer(Plain):
    """A run in a list."""

    id = serializers.CharField(source="public_id")
    base = serializers.CharField(source="base_name")
    arms = serializers.SerializerMethodField()
    split = serializers.BooleanField(source="is_split")
    models = serializers.ListField(source="model_names", child=serializers.CharField())
    endpoint_kind = serializers.ChoiceField(choices=EndpointKind.choices, help_text=ENDPOINT_KIND)
    status = serializers.ChoiceField(choices=RefinementRun.Status.choices)
    error = serializers.CharField()
    replay = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    resume_at = serializers.DateTimeField(allow_null=True, help_text="When a paused run asks again.")

    @extend_schema_field(ArmSerializer(many=True))
    def get_arms(self, run: RefinementRun) -> Any:
        """In the order of the tables."""
        return ArmSerializer(run.terms.get("arms", []), many=True).data


class RefinementRunDetailSerializer(RefinementRunSerializer):
    """A run with its progress, and the runs of judges over its texts."""

    progress = serializers.SerializerMethodField()
    graded_by = serializers.SerializerMethodField()

    @extend_schema_field(CandidateRunProgressSerializer)
    def get_progress(self, run: RefinementRun) -> dict[str, Any]:
        """As the page shows it."""
        return progress_body(run, step_progress(run, at=timezone.now()))

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_graded_by(self, run: RefinementRun) -> list[str]:
        """As the parameter ``rater`` of a report takes them."""
        return [f"run:{own.public_id}" for own in selectors.grading_runs(run)]


class RefinementStageSerializer(Plain):
    """The requests of a stage."""

    stage = serializers.CharField()
    requests = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    cost_at_most = serializers.FloatField(allow_null=True)


class RefinementSizeSerializer(Plain):
    """What a run would ask and cost."""

    cases = serializers.IntegerField()
    texts = serializers.IntegerField()
    requests = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    cost_at_most = serializers.FloatField(allow_null=True)
    currency = serializers.CharField()
    stages = RefinementStageSerializer(many=True)


class GradeSerializer(StrictSerializer, Plain):
    """Who grades."""

    judge = serializers.CharField(max_length=16, help_text="The id of a judge.")


class GradingRunSerializer(Plain):
    """The run of a judge over base and refined responses."""

    id = serializers.CharField(source="public_id")
    rater = serializers.SerializerMethodField(help_text="As the parameter of a report takes it.")

    def get_rater(self, run: Any) -> str:
        return f"run:{run.public_id}"


def _user(request: Request) -> User:
    return cast("User", request.user)


def _detail(run: RefinementRun, code: int = status.HTTP_200_OK) -> Response:
    return Response(RefinementRunDetailSerializer(run).data, status=code)


def _order(user: User, benchmark: Benchmark, payload: dict[str, Any]) -> Order:
    bounds = named_sets(user, benchmark, payload["upper_bounds"], field="upper_bounds")
    return Order(
        candidate=payload["candidate"],
        sets=named_sets(user, benchmark, payload["sets"], field="sets"),
        self_critique=payload["self_critique"],
        gold=payload["gold"],
        split=payload["split"],
        upper_bounds=[own.public_id for own in bounds],
        frame=frame_of(payload.get("frame") or {}),
    )


@extend_schema(
    methods=["GET"], responses=RefinementRunSerializer(many=True), parameters=PAGED, operation_id="refinement_list"
)
@extend_schema(
    methods=["POST"],
    request=NewRefinementSerializer,
    responses={201: RefinementRunDetailSerializer},
    operation_id="refinement_create",
)
@api_view(["GET", "POST"])
def refinement_runs(request: Request, slug: str) -> Response:
    """List the runs that refine responses, the newest first.

    POST: Begin a run that refines responses.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.runs_on(benchmark), RefinementRunSerializer)
    payload = valid(NewRefinementSerializer(data=request.data))
    with config_errors():
        run = services.create_run(
            benchmark=benchmark,
            order=_order(_user(request), benchmark, payload),
            config=payload["config"],
            budget=payload["budget"],
            by=_user(request),
            at=timezone.now(),
        )
    return _detail(run, status.HTTP_201_CREATED)


@extend_schema(request=NewRefinementSerializer, responses=RefinementSizeSerializer, operation_id="refinement_size")
@api_view(["POST"])
def refinement_size(request: Request, slug: str) -> Response:
    """Say what a run would ask and cost at most; nothing is written."""
    benchmark = get_benchmark(request.user, slug)
    payload = valid(NewRefinementSerializer(data=request.data))
    with config_errors():
        size = size_of(build(benchmark, _order(_user(request), benchmark, payload), payload["config"]))
    return Response(RefinementSizeSerializer(size).data)


@extend_schema(responses=RefinementRunDetailSerializer, operation_id="refinement_retrieve")
@api_view(["GET"])
def refinement_run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(access.get_refinement_run(request.user, slug, public_id))


@extend_schema(request=None, responses=RefinementRunDetailSerializer, operation_id="refinement_cancel")
@api_view(["POST"])
def refinement_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Ask for nothing more; what was written stays."""
    run = access.get_refinement_run(request.user, slug, public_id)
    pipeline_runs.cancel_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses=RefinementRunDetailSerializer, operation_id="refinement_resume")
@api_view(["POST"])
def refinement_resume(request: Request, slug: str, public_id: str) -> Response:
    """Ask for what is due and for what failed."""
    run = access.get_refinement_run(request.user, slug, public_id)
    services.resume_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses={201: RefinementRunDetailSerializer}, operation_id="refinement_replay")
@api_view(["POST"])
def refinement_replay(request: Request, slug: str, public_id: str) -> Response:
    """Do a run that has ended again from stored answers alone."""
    run = access.get_refinement_run(request.user, slug, public_id)
    again = pipeline_runs.replay_run(run=run, by=_user(request), at=timezone.now())
    return _detail(RefinementRun.objects.get(pk=again.pk), status.HTTP_201_CREATED)


@extend_schema(
    request=GradeSerializer,
    responses={200: GradingRunSerializer, 201: GradingRunSerializer},
    operation_id="refinement_grade",
)
@api_view(["POST"])
def refinement_grade(request: Request, slug: str, public_id: str) -> Response:
    """Let a judge grade base and refined responses by the gold rubric, criterion by criterion."""
    run = access.get_refinement_run(request.user, slug, public_id)
    payload = valid(GradeSerializer(data=request.data))
    with about_field("judge"):
        _benchmark, judge = get_judge(_user(request), slug, payload["judge"])
    graded, is_new = services.grade(run=run, judge=judge, by=_user(request), at=timezone.now())
    code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
    return Response(GradingRunSerializer(graded).data, status=code)
