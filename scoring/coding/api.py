"""API endpoints of runs that code, for staff, and of the codes that a judge gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.commands import CommandSerializer, command_of
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.model_schemas import described_field, model_field
from rubrics.access import get_benchmark, get_code_book
from scoring.api.config_errors import config_errors
from scoring.coding import runs, selectors
from scoring.coding.choosing import CodingFrame
from scoring.coding.config import CodingConfig
from scoring.coding.views import PAGES
from scoring.models import CodingRun
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.api import PipelineRunSerializer, WithProgress, budget_field

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class CodingFrameSerializer(StrictSerializer, CommandSerializer):
    """Which responses are coded; those of excluded cases are not coded."""

    commands = (CodingFrame,)


class StoredFrameSerializer(CommandSerializer):
    """Which responses a run codes."""

    commands = (CodingFrame,)


class NewCodingRunSerializer(StrictSerializer, Plain):
    """A run to be begun.

    ``config``: ``judge`` (the name by which reports know it), ``language`` of the codes (en, zh), ``criteria`` (whether
    the criteria of the rubric are shown), ``endpoint``, ``model``, ``key_env`` (the name of an environment variable),
    ``temperature``, ``max_tokens``, ``seed``, ``concurrency``, ``requests_per_minute``, ``timeout_s``, ``attempts``,
    ``pauses``, ``price_in``, ``price_out``, ``currency``.
    """

    code_book = serializers.IntegerField(min_value=1, help_text="A version of the code book.")
    config = model_field(CodingConfig, without=("codes", "per_case"))
    frame = CodingFrameSerializer(required=False)
    budget = budget_field()


class CodingRunSerializer(PipelineRunSerializer):
    """A run in a list."""

    judge = serializers.CharField(source="judge_name")
    model = serializers.CharField(source="model_name")
    code_book = serializers.IntegerField(source="book_version")
    frame = described_field(StoredFrameSerializer)


class CodingRunDetailSerializer(CodingRunSerializer, WithProgress):
    """A run with its progress."""


class JudgeCodeSerializer(Plain):
    """A code that a judge gave."""

    code = serializers.CharField(help_text="Its key.")
    criterion = serializers.CharField(allow_blank=True, help_text="The criterion that the code is about.")
    why = serializers.CharField(allow_blank=True)
    evidence = serializers.ListField(child=serializers.CharField(), help_text="Words of the response.")
    quotes_not_found = serializers.ListField(
        child=serializers.CharField(), help_text="Quotes that are not in the response."
    )


class JudgedResponseSerializer(Plain):
    """A response of a run with the codes that the judge gave; no codes with the state ``coded`` are *none of these*."""

    case = serializers.CharField(help_text="Key of the case.")
    candidate = serializers.CharField()
    setting = serializers.CharField()
    sample = serializers.IntegerField()
    response = serializers.CharField()
    rater = serializers.CharField()
    error_kind = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(
        choices=["coded", "invalid", "failed", "due"],
        help_text="invalid: the answer could not be read. failed: none came.",
    )
    codes = JudgeCodeSerializer(many=True)
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    latency_ms = serializers.IntegerField(allow_null=True)
    attempts = serializers.IntegerField()
    finished_at = serializers.CharField(allow_null=True)


def _user(request: Request) -> User:
    return cast("User", request.user)


def _detail(run: CodingRun, code: int = status.HTTP_200_OK) -> Response:
    return Response(CodingRunDetailSerializer(run).data, status=code)


@extend_schema(
    methods=["GET"], responses=CodingRunSerializer(many=True), parameters=PAGED, operation_id="coding_runs_list"
)
@extend_schema(
    methods=["POST"],
    request=NewCodingRunSerializer,
    responses={201: CodingRunDetailSerializer},
    operation_id="coding_runs_create",
)
@api_view(["GET", "POST"])
def coding_runs(request: Request, slug: str) -> Response:
    """List the runs in which judges code responses, the newest first.

    POST: Begin a run that codes responses.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.runs_on(benchmark), CodingRunSerializer)
    payload = valid(NewCodingRunSerializer(data=request.data))
    with config_errors():
        run = runs.create_run(
            benchmark=benchmark,
            book=get_code_book(request.user, slug, payload["code_book"]),
            frame=command_of(CodingFrame, payload.get("frame", {})),
            config=payload["config"],
            budget=payload["budget"],
            by=_user(request),
            at=timezone.now(),
        )
    return _detail(run, status.HTTP_201_CREATED)


@extend_schema(responses=CodingRunDetailSerializer, operation_id="coding_runs_retrieve")
@api_view(["GET"])
def coding_run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(PAGES.get(_user(request), slug, public_id))


@extend_schema(responses=JudgedResponseSerializer(many=True), parameters=PAGED, operation_id="coding_runs_codes")
@api_view(["GET"])
def coding_run_codes(request: Request, slug: str, public_id: str) -> Response:
    """List the responses of a run with the codes that the judge gave, and its evidence."""
    run = PAGES.get(_user(request), slug, public_id)
    return page_of(request, selectors.CodedSteps(run), JudgedResponseSerializer)


@extend_schema(request=None, responses=CodingRunDetailSerializer, operation_id="coding_runs_cancel")
@api_view(["POST"])
def coding_run_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Ask for nothing more; what was written stays."""
    run = PAGES.get(_user(request), slug, public_id)
    pipeline_runs.cancel_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses=CodingRunDetailSerializer, operation_id="coding_runs_resume")
@api_view(["POST"])
def coding_run_resume(request: Request, slug: str, public_id: str) -> Response:
    """Ask for what is due and for what failed."""
    run = PAGES.get(_user(request), slug, public_id)
    runs.resume_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses={201: CodingRunDetailSerializer}, operation_id="coding_runs_replay")
@api_view(["POST"])
def coding_run_replay(request: Request, slug: str, public_id: str) -> Response:
    """Do a run that has ended again from stored answers alone."""
    run = PAGES.get(_user(request), slug, public_id)
    again = pipeline_runs.replay_run(run=run, by=_user(request), at=timezone.now())
    return _detail(CodingRun.objects.get(pk=again.pk), status.HTTP_201_CREATED)
