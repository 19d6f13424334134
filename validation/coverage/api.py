"""API endpoints of runs of coverage, for staff, and of questions, for physicians."""

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
from consilium.core.limits import MAX_RUBRIC_SET_NAME_LENGTH
from consilium.core.model_schemas import model_field
from rubrics.access import get_benchmark
from rubrics.api.named import CASE_ID
from scoring.api.config_errors import config_errors
from scoring.models import EndpointKind
from scoring.pipelines import runs as pipeline_runs
from scoring.pipelines.api import ENDPOINT_KIND, CandidateRunProgressSerializer, progress_body
from scoring.pipelines.selectors import step_progress
from validation import access
from validation.coverage import selectors, services
from validation.coverage.config import CoverageConfig
from validation.models import CoverageDecision, CoverageRun
from validation.sets.named import SET_TO_NAME, SETS_TO_NAME, named_set, named_sets
from validation.skipping import skip_decision
from validation.skipping_api import SkippedQuestionSerializer

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class NewCoverageSerializer(StrictSerializer, Plain):
    """A run to be begun.

    ``config``: ``endpoint``, ``model``, ``key_env`` (the name of an environment variable), ``temperature``,
    ``max_tokens``, ``concurrency``, ``requests_per_minute``, ``timeout_s``, ``attempts``, ``pauses``, ``price_in``,
    ``price_out``, ``currency``, ``share`` (of the answers full and none that physicians decide on), ``draw_seed``.
    """

    gold = serializers.CharField(max_length=MAX_RUBRIC_SET_NAME_LENGTH, help_text=SET_TO_NAME)
    sets = serializers.ListField(
        child=serializers.CharField(max_length=MAX_RUBRIC_SET_NAME_LENGTH), min_length=1, max_length=20,
        help_text=SETS_TO_NAME,
    )  # fmt: skip
    config = model_field(CoverageConfig, without=("gold", "sets", "cases"))
    budget = serializers.DecimalField(max_digits=12, decimal_places=4, required=False, allow_null=True, default=None)


class CoverageRunSerializer(Plain):
    """A run in a list."""

    id = serializers.CharField(source="public_id")
    gold = serializers.CharField(source="gold_name", help_text="Name of the set.")
    sets = serializers.ListField(source="set_names", child=serializers.CharField(), help_text="Names of the sets.")
    model = serializers.CharField(source="model_name")
    endpoint_kind = serializers.ChoiceField(choices=EndpointKind.choices, help_text=ENDPOINT_KIND)
    status = serializers.ChoiceField(choices=CoverageRun.Status.choices)
    error = serializers.CharField()
    replay = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    resume_at = serializers.DateTimeField(allow_null=True, help_text="When a paused run asks again.")


class QueueSerializer(Plain):
    """How many questions physicians have decided, and how many there are."""

    decided = serializers.IntegerField()
    total = serializers.IntegerField()


class CoverageRunDetailSerializer(CoverageRunSerializer):
    """A run with its progress."""

    progress = serializers.SerializerMethodField()
    decisions = serializers.SerializerMethodField()

    @extend_schema_field(CandidateRunProgressSerializer)
    def get_progress(self, run: CoverageRun) -> dict[str, Any]:
        """As the page shows it."""
        return progress_body(run, step_progress(run, at=timezone.now()))

    @extend_schema_field(QueueSerializer)
    def get_decisions(self, run: CoverageRun) -> dict[str, int]:
        """As the page shows it."""
        counts = selectors.queue_counts([run.pk])[run.pk]
        return {"decided": counts.decided, "total": counts.total}


class PointSerializer(Plain):
    """A gold point, or a criterion."""

    text = serializers.CharField()
    points = serializers.IntegerField()


class QuestionSerializer(Plain):
    """A question to a physician; nothing says which set it is about, nor what the model answered."""

    id = serializers.CharField(source="decision.public_id")
    about = serializers.SerializerMethodField(help_text="point: how far does the list cover it; criterion: is it sound")
    case_id = serializers.CharField(source="case.public_id", help_text=CASE_ID)
    point = PointSerializer()
    criteria = PointSerializer(many=True)
    answers = serializers.SerializerMethodField()
    answer = serializers.CharField(source="decision.answer")

    def get_about(self, question: selectors.Question) -> str:
        return "criterion" if question.is_about_criterion else "point"

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_answers(self, question: selectors.Question) -> list[str]:
        """Those to choose from."""
        return [answer for answer, _label in question.answers]


class NextQuestionSerializer(Plain):
    """The next question, and how many wait, this one among them."""

    question = QuestionSerializer()
    waiting = serializers.IntegerField()


class AnswerSerializer(StrictSerializer, Plain):
    """The answer to a question."""

    answer = serializers.ChoiceField(choices=CoverageDecision.Answer.choices)


def _user(request: Request) -> User:
    return cast("User", request.user)


def _detail(run: CoverageRun, code: int = status.HTTP_200_OK) -> Response:
    return Response(CoverageRunDetailSerializer(run).data, status=code)


@extend_schema(
    methods=["GET"], responses=CoverageRunSerializer(many=True), parameters=PAGED, operation_id="coverage_list"
)
@extend_schema(
    methods=["POST"],
    request=NewCoverageSerializer,
    responses={201: CoverageRunDetailSerializer},
    operation_id="coverage_create",
)
@api_view(["GET", "POST"])
def coverage_runs(request: Request, slug: str) -> Response:
    """List the runs that compare sets with gold points, the newest first.

    POST: Begin a run that compares sets with gold points.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.runs_on(benchmark), CoverageRunSerializer)
    payload = valid(NewCoverageSerializer(data=request.data))
    with config_errors():
        run = services.create_run(
            benchmark=benchmark,
            gold=named_set(request.user, benchmark, payload["gold"], field="gold"),
            sets=named_sets(request.user, benchmark, payload["sets"], field="sets"),
            config=payload["config"],
            budget=payload["budget"],
            by=_user(request),
            at=timezone.now(),
        )
    return _detail(run, status.HTTP_201_CREATED)


@extend_schema(responses=CoverageRunDetailSerializer, operation_id="coverage_retrieve")
@api_view(["GET"])
def coverage_run(request: Request, slug: str, public_id: str) -> Response:
    """Show a run and how far it is; ask again until its status is finished, incomplete, cancelled or failed."""
    return _detail(access.get_coverage_run(request.user, slug, public_id))


@extend_schema(request=None, responses=CoverageRunDetailSerializer, operation_id="coverage_cancel")
@api_view(["POST"])
def coverage_cancel(request: Request, slug: str, public_id: str) -> Response:
    """Ask for nothing more; what was written stays."""
    run = access.get_coverage_run(request.user, slug, public_id)
    pipeline_runs.cancel_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses=CoverageRunDetailSerializer, operation_id="coverage_resume")
@api_view(["POST"])
def coverage_resume(request: Request, slug: str, public_id: str) -> Response:
    """Ask for what is due and for what failed."""
    run = access.get_coverage_run(request.user, slug, public_id)
    services.resume_run(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses={201: CoverageRunDetailSerializer}, operation_id="coverage_replay")
@api_view(["POST"])
def coverage_replay(request: Request, slug: str, public_id: str) -> Response:
    """Do a run that has ended again from stored answers alone."""
    run = access.get_coverage_run(request.user, slug, public_id)
    again = pipeline_runs.replay_run(run=run, by=_user(request), at=timezone.now())
    return _detail(CoverageRun.objects.get(pk=again.pk), status.HTTP_201_CREATED)


@extend_schema(request=None, responses=CoverageRunDetailSerializer, operation_id="coverage_ask")
@api_view(["POST"])
def coverage_ask(request: Request, slug: str, public_id: str) -> Response:
    """Ask physicians about the answers that they decide on; questions that were asked before stay as they are."""
    run = access.get_coverage_run(request.user, slug, public_id)
    services.ask_physicians(run=run, at=timezone.now())
    return _detail(run)


@extend_schema(request=None, responses={200: NextQuestionSerializer, 204: None}, operation_id="coverage_next_question")
@api_view(["POST"])
def next_question(request: Request, slug: str) -> Response:
    """Show the next question that waits for the caller, a member of an expert group or an author; 204 for none."""
    benchmark = access.get_deciding_benchmark(request.user, slug)
    waiting = selectors.open_decisions(benchmark, _user(request))
    first = waiting.first()
    if first is None:
        return Response(status=status.HTTP_204_NO_CONTENT)
    question = selectors.question_of(first)
    return Response(NextQuestionSerializer({"question": question, "waiting": waiting.count()}).data)


@extend_schema(methods=["GET"], responses=QuestionSerializer, operation_id="coverage_question")
@extend_schema(methods=["PUT"], request=AnswerSerializer, responses=QuestionSerializer, operation_id="coverage_decide")
@api_view(["GET", "PUT"])
def question(request: Request, slug: str, public_id: str) -> Response:
    """Show a question.

    PUT: Answer a question; one's own answer may be changed.
    """
    row = access.get_coverage_decision(request.user, slug, public_id)
    if request.method == "PUT":
        payload = valid(AnswerSerializer(data=request.data))
        row = services.decide(decision=row, answer=payload["answer"], by=_user(request), at=timezone.now())
    return Response(QuestionSerializer(selectors.question_of(row)).data)


@extend_schema(request=SkippedQuestionSerializer, responses={204: None}, operation_id="coverage_skip")
@api_view(["POST"])
def skip(request: Request, slug: str, public_id: str) -> Response:
    """Skip a question that the caller cannot judge: it gives no answer, and others decide it."""
    row = access.get_coverage_decision(request.user, slug, public_id)
    payload = valid(SkippedQuestionSerializer(data=request.data))
    skip_decision(decision=row, reason=payload["reason"], by=_user(request), at=timezone.now())
    return Response(status=status.HTTP_204_NO_CONTENT)
