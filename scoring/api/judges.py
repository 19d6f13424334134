"""API endpoints of judges, runs and verdicts, for those who run the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework import status
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import BasePagination, CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.endpoints import PAGED, Pages, cursor_parameters, unknown_cursor, valid
from consilium.core.parameters import whole_number
from rubrics.access import get_benchmark
from rubrics.api.named import named_candidate
from scoring import access
from scoring.api import serializers
from scoring.api.config_errors import config_errors
from scoring.api.judge_schemas import by_kind
from scoring.judges.kinds.kind import KINDS, kind_key
from scoring.models import JudgeRun, Verdict
from scoring.runs import services as run_services
from scoring.runs.continuing import continue_run
from scoring.runs.spending import spending_of
from scoring.selectors import judges_and_runs

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User


class _Cursor(CursorPagination):
    ordering = "id"
    page_size = 200
    max_page_size = 1000

    def get_page_size(self, request: Request) -> int:
        return whole_number(request, "limit", default=self.page_size, low=1, high=self.max_page_size)

    def decode_cursor(self, request: Request) -> Any:
        """Where the page begins; a cursor that no page gave is a 400 that names it."""
        try:
            return super().decode_cursor(request)
        except NotFound as error:
            raise unknown_cursor() from error


def _paged(
    request: Request, queryset: QuerySet[Any], serializer: type[serializers.Plain], pages: BasePagination | None = None
) -> Response:
    pages = pages or Pages()
    page = pages.paginate_queryset(queryset, request) or []
    return pages.get_paginated_response(serializer(page, many=True).data)


def _me(request: Request) -> User:
    return cast("User", request.user)


# In the schema a judge is one of its kinds, which says what its settings are.
JUDGE = PolymorphicProxySerializer(
    "Judge", by_kind(serializers.JudgeSerializer, "Judge"), resource_type_field_name="kind"
)
JUDGES = PolymorphicProxySerializer(
    "Judge", by_kind(serializers.JudgeSerializer, "Judge"), resource_type_field_name="kind", many=True
)
NEW_JUDGE = PolymorphicProxySerializer(
    "NewJudge", by_kind(serializers.NewJudgeSerializer, "NewJudge"), resource_type_field_name="kind"
)


@extend_schema(methods=["GET"], responses=JUDGES, parameters=PAGED, operation_id="judges_list")
@extend_schema(
    methods=["POST"],
    request=NEW_JUDGE,
    responses={201: JUDGE},
    operation_id="judges_create",
)
@api_view(["GET", "POST"])
def judges(request: Request, slug: str) -> Response:
    """List the judges that are at home here or have run here, all versions.

    POST: Make a judge, or the next version of one.

    A trained judge is fitted by a worker: ask for it until its training is done. A jury does not run; by its name
    it is a rater as soon as all of its members have a finished run here.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        judges = judges_and_runs.judges_on(request.user, benchmark).order_by("name", "-version", "pk")
        return _paged(request, judges, serializers.JudgeSerializer)
    payload = valid(serializers.NewJudgeSerializer(data=request.data))
    kind = KINDS.get(kind_key(payload["kind"], payload["task"]))
    if kind is None or kind.value != payload["kind"]:
        raise ValidationError({"task": [_("Only a chat judge reads levels of care.")]})
    with config_errors():
        judge = kind.create(
            benchmark=benchmark,
            name=payload["name"],
            config=payload["config"],
            by=_me(request),
            at=timezone.now(),
        )
    judge = access.judges_for(request.user).get(pk=judge.pk)
    return Response(serializers.JudgeSerializer(judge).data, status=status.HTTP_201_CREATED)


@extend_schema(responses=JUDGE, operation_id="judges_retrieve")
@api_view(["GET"])
def judge(request: Request, slug: str, public_id: str) -> Response:
    """Show a judge, with its model card if it is a trained one."""
    _benchmark, judge = access.get_judge(request.user, slug, public_id)
    return Response(serializers.JudgeSerializer(judge).data)


@extend_schema(
    methods=["GET"], responses=serializers.JudgeRunSerializer(many=True), parameters=PAGED, operation_id="runs_list"
)
@extend_schema(
    methods=["POST"],
    request=serializers.NewRunSerializer,
    responses={200: serializers.JudgeRunDetailSerializer, 201: serializers.JudgeRunDetailSerializer},
    operation_id="runs_create",
)
@api_view(["GET", "POST"])
def runs(request: Request, slug: str) -> Response:
    """List the runs on this benchmark, the newest first.

    POST: Begin a run of a judge. 200 with the run that is there where one of the same judge asks exactly the same
    and has not ended.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return _paged(request, judges_and_runs.runs_on(benchmark), serializers.JudgeRunSerializer)
    payload = valid(serializers.NewRunSerializer(data=request.data))
    chosen = access.judges_for(request.user).filter(public_id=payload["judge"]).first()
    if chosen is None:
        raise ValidationError({"judge": [_("No benchmark that you administer has a judge with this id.")]})
    row, is_new = run_services.start_run(
        benchmark=benchmark,
        judge=chosen,
        frame=run_services.frame_of(payload.get("frame", {})),
        replicates=payload["replicates"],
        budget=payload["budget"],
        by=_me(request),
        at=timezone.now(),
    )
    return _detail(row, status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)


def _detail(run: JudgeRun, code: int = status.HTTP_200_OK) -> Response:
    context = {"progress": judges_and_runs.progress_of(run, at=timezone.now()), "spending": spending_of([run])[run.pk]}
    return Response(serializers.JudgeRunDetailSerializer(run, context=context).data, status=code)


@extend_schema(responses=serializers.JudgeRunDetailSerializer, operation_id="runs_retrieve")
@api_view(["GET"])
def run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(access.get_run(request.user, slug, public_id))


@extend_schema(request=None, responses=serializers.JudgeRunDetailSerializer, operation_id="runs_cancel")
@api_view(["POST"])
def run_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Stop a run; what was written stays."""
    run = access.get_run(request.user, slug, public_id)
    run_services.cancel_run(run=run, at=timezone.now())
    return _detail(access.get_run(request.user, slug, public_id))


@extend_schema(
    request=serializers.ResumedRunSerializer, responses=serializers.JudgeRunDetailSerializer, operation_id="runs_resume"
)
@api_view(["POST"])
def run_resume(request: Request, slug: str, public_id: str) -> Response:
    """Continue with what is missing of a run that was cancelled, is paused, could not finish or failed."""
    run = access.get_run(request.user, slug, public_id)
    payload = valid(serializers.ResumedRunSerializer(data=request.data))
    run_services.resume_run(run=run, at=timezone.now(), budget=payload.get("budget"))
    return _detail(access.get_run(request.user, slug, public_id))


@extend_schema(
    request=serializers.ResumedRunSerializer,
    responses={201: serializers.JudgeRunDetailSerializer},
    operation_id="runs_continue",
)
@api_view(["POST"])
def run_continue(request: Request, slug: str, public_id: str) -> Response:
    """Continue a finished run on newer versions of its rubrics: a new run with all verdicts that still apply."""
    run = access.get_run(request.user, slug, public_id)
    payload = valid(serializers.ResumedRunSerializer(data=request.data))
    continuation = continue_run(run=run, by=_me(request), at=timezone.now(), budget=payload.get("budget"))
    body = _detail(access.get_run(request.user, slug, continuation.public_id))
    return Response(body.data, status=status.HTTP_201_CREATED)


@extend_schema(
    responses=serializers.VerdictSerializer(many=True),
    parameters=[
        *cursor_parameters(_Cursor.page_size, _Cursor.max_page_size),
        OpenApiParameter("outcome", str, enum=Verdict.Outcome.values, description="Only verdicts with this outcome."),
        OpenApiParameter("candidate", str, description="name of a candidate"),
    ],
    operation_id="verdicts_list",
)
@api_view(["GET"])
def verdicts(request: Request, slug: str, public_id: str) -> Response:
    """List the verdicts of a run in the order in which they were written."""
    run = access.get_run(request.user, slug, public_id)
    outcome, candidate = (request.query_params.get(name, "") for name in ("outcome", "candidate"))
    about = named_candidate(judges_and_runs.candidates_of(run), candidate) if candidate else None
    rows = judges_and_runs.verdicts_of(run, outcome=outcome, candidate=about.public_id if about else "")
    rows = rows.select_related("response__case", "response__candidate", "criterion")
    return _paged(request, rows, serializers.VerdictSerializer, _Cursor())
