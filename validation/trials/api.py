"""API endpoints of runs of trials, for staff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_RUBRIC_SET_NAME_LENGTH
from consilium.core.model_schemas import model_field
from rubrics.access import get_benchmark
from rubrics.models import Benchmark
from scoring.api.config_errors import config_errors
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.api import PipelineRunSerializer, WithProgress, budget_field
from validation import access
from validation.models import PairGroup, TrialRun
from validation.sets.named import SETS_TO_NAME, named_sets
from validation.trials import selectors, services
from validation.trials.building import Which
from validation.trials.config import TrialConfig

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class NewTrialRunSerializer(StrictSerializer, Plain):
    """A run to be begun.

    ``config``: ``endpoint``, ``model``, ``key_env`` (the name of an environment variable), ``trials`` (in each order),
    ``no_rubric``, ``temperature``, ``max_tokens``, ``seed``, ``concurrency``, ``requests_per_minute``, ``timeout_s``,
    ``attempts``, ``pauses``, ``price_in``, ``price_out``, ``currency``.
    """

    groups = serializers.ListField(
        child=serializers.CharField(max_length=100), min_length=1, max_length=50, help_text="Names of groups of pairs."
    )
    which = serializers.ChoiceField(choices=Which.choices, default=Which.CONFIRMED)
    sets = serializers.ListField(
        child=serializers.CharField(max_length=MAX_RUBRIC_SET_NAME_LENGTH), max_length=20, required=False, default=list,
        help_text=SETS_TO_NAME,
    )  # fmt: skip
    config = model_field(TrialConfig, without=("sets", "cases"))
    budget = budget_field()


class PairRunSerializer(PipelineRunSerializer):
    """What lists say of a run, of trials or one that makes pairs."""

    model = serializers.CharField(source="model_name")


class TrialRunSerializer(PairRunSerializer):
    """A run of trials in a list."""

    sets = serializers.ListField(source="set_names", child=serializers.CharField(), help_text="Names of the sets.")
    no_rubric = serializers.BooleanField(source="has_no_rubric")
    pairs = serializers.IntegerField(source="n_pairs")
    trials = serializers.IntegerField()


class TrialRunDetailSerializer(TrialRunSerializer, WithProgress):
    """A run with its progress."""


def _user(request: Request) -> User:
    return cast("User", request.user)


def _detail(run: TrialRun, code: int = status.HTTP_200_OK) -> Response:
    return Response(TrialRunDetailSerializer(run).data, status=code)


def _groups(benchmark: Benchmark, names: list[str]) -> list[PairGroup]:
    known = {group.name: group for group in PairGroup.objects.filter(benchmark=benchmark, name__in=names)}
    if missing := [name for name in names if name not in known]:
        raise DomainError(_("There is no group of pairs “%(name)s”.") % {"name": missing[0]}, field="groups")
    return [known[name] for name in dict.fromkeys(names)]


@extend_schema(
    methods=["GET"], responses=TrialRunSerializer(many=True), parameters=PAGED, operation_id="pair_runs_list"
)
@extend_schema(
    methods=["POST"],
    request=NewTrialRunSerializer,
    responses={201: TrialRunDetailSerializer},
    operation_id="pair_runs_create",
)
@api_view(["GET", "POST"])
def pair_runs(request: Request, slug: str) -> Response:
    """List the runs of trials, the newest first.

    POST: Begin a run of trials.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.runs_on(benchmark), TrialRunSerializer)
    payload = valid(NewTrialRunSerializer(data=request.data))
    with config_errors():
        run = services.create_run(
            benchmark=benchmark,
            groups=_groups(benchmark, payload["groups"]),
            which=payload["which"],
            sets=named_sets(request.user, benchmark, payload["sets"], field="sets"),
            config=payload["config"],
            budget=payload["budget"],
            by=_user(request),
            at=timezone.now(),
        )
    return _detail(run, status.HTTP_201_CREATED)


@extend_schema(responses=TrialRunDetailSerializer, operation_id="pair_runs_retrieve")
@api_view(["GET"])
def pair_run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(access.get_trial_run(request.user, slug, public_id))


@extend_schema(request=None, responses=TrialRunDetailSerializer, operation_id="pair_runs_cancel")
@api_view(["POST"])
def pair_run_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Ask for nothing more; what was written stays."""
    run = access.get_trial_run(request.user, slug, public_id)
    pipeline_runs.cancel_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses=TrialRunDetailSerializer, operation_id="pair_runs_resume")
@api_view(["POST"])
def pair_run_resume(request: Request, slug: str, public_id: str) -> Response:
    """Ask for what is due and for what failed."""
    run = access.get_trial_run(request.user, slug, public_id)
    services.resume_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses={201: TrialRunDetailSerializer}, operation_id="pair_runs_replay")
@api_view(["POST"])
def pair_run_replay(request: Request, slug: str, public_id: str) -> Response:
    """Do a run that has ended again from stored answers alone."""
    run = access.get_trial_run(request.user, slug, public_id)
    again = pipeline_runs.replay_run(run=run, by=_user(request), at=timezone.now())
    return _detail(TrialRun.objects.get(pk=again.pk), status.HTTP_201_CREATED)
