"""API endpoints of runs that split criteria, for staff, and of their points, for authors as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_CRITERION_LENGTH, MAX_DESCRIPTION_LENGTH, MAX_RUBRIC_SET_NAME_LENGTH
from consilium.core.model_schemas import model_field
from rubrics.access import get_benchmark
from rubrics.api.named import CASE, CASE_ID
from rubrics.models import Case
from scoring.api.config_errors import config_errors
from scoring.models import EndpointKind
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.api import ENDPOINT_KIND, CandidateRunProgressSerializer, progress_body
from scoring.pipelines.selectors import step_progress
from validation import access
from validation.coverage.config import MAX_POINTS
from validation.models import SplittingRun
from validation.sets.api import RubricSetSerializer
from validation.sets.named import named_set
from validation.sets.storing import SetName
from validation.splitting import selectors, services
from validation.splitting.config import SplittingConfig
from validation.splitting.content import Statement
from validation.splitting.services import PointsInput
from validation.trials.api import budget_field

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class NewSplittingSerializer(StrictSerializer, Plain):
    """A run to be begun.

    ``config``: ``endpoint``, ``model``, ``key_env`` (the name of an environment variable), ``temperature``,
    ``max_tokens``, ``concurrency``, ``requests_per_minute``, ``timeout_s``, ``attempts``, ``pauses``, ``price_in``,
    ``price_out``, ``currency``.
    """

    gold = serializers.CharField(
        max_length=MAX_RUBRIC_SET_NAME_LENGTH, help_text="Id or name of the set whose criteria are split."
    )
    config = model_field(SplittingConfig, without=("gold", "cases"))
    budget = budget_field()


class SplittingRunSerializer(Plain):
    """A run in a list."""

    id = serializers.CharField(source="public_id")
    gold = serializers.CharField(source="gold_name", help_text="Name of the set.")
    model = serializers.CharField(source="model_name")
    endpoint_kind = serializers.ChoiceField(choices=EndpointKind.choices, help_text=ENDPOINT_KIND)
    status = serializers.ChoiceField(choices=SplittingRun.Status.choices)
    error = serializers.CharField()
    replay = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    resume_at = serializers.DateTimeField(allow_null=True, help_text="When a paused run asks again.")


class PointCountsSerializer(Plain):
    """How far the criteria are split; ``whole``: cases whose criteria stay as they are."""

    cases = serializers.IntegerField()
    criteria = serializers.IntegerField()
    points = serializers.IntegerField()
    whole = serializers.IntegerField()
    corrected = serializers.IntegerField()


class SplittingRunDetailSerializer(SplittingRunSerializer):
    """A run with its progress."""

    progress = serializers.SerializerMethodField()
    counts = serializers.SerializerMethodField()

    @extend_schema_field(CandidateRunProgressSerializer)
    def get_progress(self, run: SplittingRun) -> dict[str, Any]:
        """As the page shows it."""
        return progress_body(run, step_progress(run, at=timezone.now()))

    @extend_schema_field(PointCountsSerializer)
    def get_counts(self, run: SplittingRun) -> dict[str, Any]:
        """As the page shows them."""
        counts = selectors.counts_of_points(selectors.points_of_run(run))
        return dict(PointCountsSerializer(counts).data)


class FreezeSerializer(StrictSerializer, Plain):
    """The name of the set that the points become."""

    name = serializers.CharField(max_length=MAX_RUBRIC_SET_NAME_LENGTH)
    description = serializers.CharField(max_length=MAX_DESCRIPTION_LENGTH, required=False, allow_blank=True, default="")


class GoldPointSerializer(StrictSerializer, Plain):
    """A point, and the number of its criterion in the set, from 1."""

    criterion = serializers.IntegerField(min_value=1)
    text = serializers.CharField(max_length=MAX_CRITERION_LENGTH)


class SplitCriterionSerializer(Plain):
    """A criterion of the set."""

    text = serializers.CharField()
    points = serializers.IntegerField()
    axis = serializers.CharField()


class CasePointsSerializer(Plain):
    """The points of a case; ``version`` is that of its correction, 0 without one.

    ``state``: due, whole (the criteria as they are, for ``fault``), split, or corrected.
    """

    case = serializers.CharField(source="case.key", help_text=CASE)
    case_id = serializers.CharField(source="case.public_id", help_text=CASE_ID)
    key = serializers.CharField(source="case.key", help_text="The same as `case`.")
    state = serializers.ChoiceField(choices=["due", "whole", "split", "corrected"])
    fault = serializers.CharField()
    criteria = SplitCriterionSerializer(many=True)
    points = GoldPointSerializer(many=True)
    version = serializers.IntegerField()


class NewPointsSerializer(StrictSerializer, Plain):
    """All points of a case, with the version that was read; where another one is stored the answer is 409."""

    points = serializers.ListField(child=GoldPointSerializer(), allow_empty=False, max_length=MAX_POINTS)
    version = serializers.IntegerField(min_value=0)


def _user(request: Request) -> User:
    return cast("User", request.user)


def _detail(run: SplittingRun, code: int = status.HTTP_200_OK) -> Response:
    return Response(SplittingRunDetailSerializer(run).data, status=code)


@extend_schema(
    methods=["GET"], responses=SplittingRunSerializer(many=True), parameters=PAGED, operation_id="splitting_list"
)
@extend_schema(
    methods=["POST"],
    request=NewSplittingSerializer,
    responses={201: SplittingRunDetailSerializer},
    operation_id="splitting_create",
)
@api_view(["GET", "POST"])
def splitting_runs(request: Request, slug: str) -> Response:
    """List the runs that split criteria, the newest first.

    POST: Begin a run that splits criteria.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        hidden = access.hidden_splitting_runs(request.user, benchmark)
        return page_of(request, selectors.runs_on(benchmark).exclude(pk__in=hidden), SplittingRunSerializer)
    payload = valid(NewSplittingSerializer(data=request.data))
    gold = named_set(request.user, benchmark, payload["gold"], field="gold")
    with config_errors():
        run = services.create_run(
            benchmark=benchmark,
            gold=gold,
            config=payload["config"],
            budget=payload["budget"],
            by=_user(request),
            at=timezone.now(),
        )
    return _detail(run, status.HTTP_201_CREATED)


@extend_schema(responses=SplittingRunDetailSerializer, operation_id="splitting_retrieve")
@api_view(["GET"])
def splitting_run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(access.get_splitting_run(request.user, slug, public_id))


@extend_schema(request=None, responses=SplittingRunDetailSerializer, operation_id="splitting_cancel")
@api_view(["POST"])
def splitting_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Ask for nothing more; what was written stays."""
    run = access.get_splitting_run(request.user, slug, public_id)
    pipeline_runs.cancel_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses=SplittingRunDetailSerializer, operation_id="splitting_resume")
@api_view(["POST"])
def splitting_resume(request: Request, slug: str, public_id: str) -> Response:
    """Ask for what is due and for what failed."""
    run = access.get_splitting_run(request.user, slug, public_id)
    services.resume_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses={201: SplittingRunDetailSerializer}, operation_id="splitting_replay")
@api_view(["POST"])
def splitting_replay(request: Request, slug: str, public_id: str) -> Response:
    """Do a run that has ended again from stored answers alone."""
    run = access.get_splitting_run(request.user, slug, public_id)
    again = pipeline_runs.replay_run(run=run, by=_user(request), at=timezone.now())
    return _detail(SplittingRun.objects.get(pk=again.pk), status.HTTP_201_CREATED)


@extend_schema(request=FreezeSerializer, responses={201: RubricSetSerializer}, operation_id="splitting_freeze")
@api_view(["POST"])
def splitting_freeze(request: Request, slug: str, public_id: str) -> Response:
    """Make a rubric set of the points as they are now."""
    run = access.get_splitting_run(request.user, slug, public_id)
    payload = valid(FreezeSerializer(data=request.data))
    name = SetName(payload["name"], payload["description"])
    row = services.freeze(run=run, name=name, by=_user(request), at=timezone.now())
    return Response(RubricSetSerializer(row).data, status=status.HTTP_201_CREATED)


@extend_schema(responses=CasePointsSerializer(many=True), parameters=PAGED, operation_id="splitting_points")
@api_view(["GET"])
def points(request: Request, slug: str, public_id: str) -> Response:
    """List the cases of a run that has ended with their points, in the order of import."""
    run = access.get_points_run(request.user, slug, public_id)
    return page_of(request, selectors.points_of_run(run), CasePointsSerializer)


@extend_schema(methods=["GET"], responses=CasePointsSerializer, operation_id="splitting_case")
@extend_schema(
    methods=["PUT"], request=NewPointsSerializer, responses=CasePointsSerializer, operation_id="splitting_correct"
)
@api_view(["GET", "PUT"])
def case_points(request: Request, slug: str, public_id: str, case: str) -> Response:
    """Show the points of a case.

    PUT: Correct all points of a case.
    """
    run, own = access.get_case_of_points(request.user, slug, public_id, case)
    if request.method == "PUT":
        payload = valid(NewPointsSerializer(data=request.data))
        statements = [Statement(point["criterion"], point["text"]) for point in payload["points"]]
        change = PointsInput(statements, payload["version"])
        services.save_points(run=run, case=own, change=change, by=_user(request), at=timezone.now())
    return Response(CasePointsSerializer(_points_of(run, own)).data)


def _points_of(run: SplittingRun, case: Case) -> selectors.CasePoints:
    rows = selectors.points_of_run(run, case=case)
    if not rows:
        raise Http404
    return rows[0]
