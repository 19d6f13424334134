"""API endpoints of case labels: questions and their results, for staff; a physician's own tasks and answers.

Physicians' serializers read `annotation.labels.selectors.question_lines`, so that they hold no more than the page does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from annotation import access
from annotation.acuity.earlier_votes import EarlierVotes, earlier_votes
from annotation.acuity.panel import PanelStatus
from annotation.acuity.panel_results import LevelResults, PanelResult
from annotation.acuity.rounds_api import RoundVotesSerializer
from annotation.api.serializers import EvidenceSerializer, Plain
from annotation.api.work import LISTED, in_benchmark
from annotation.labels import selectors, services
from annotation.models import Batch, LabelAnswer, LabelTask
from annotation.payload import LARGEST_ID, LARGEST_VERSION
from annotation.selectors import reading_pages
from annotation.selectors.case_work import of_excluded_cases
from annotation.selectors.queue_places import label_place
from consilium.core.api import StrictSerializer
from consilium.core.endpoints import page_of
from consilium.core.limits import MAX_LABEL_VALUE_LENGTH, MAX_NOTE_LENGTH
from consilium.core.model_schemas import described_field
from consilium.core.schema import stale, unanswered
from consilium.core.versioning import StaleSave
from consilium.statistics.estimate import Figure
from rubrics.access import get_benchmark
from rubrics.api.named import CASE
from rubrics.codes.code import MAX_CODE_KEY_LENGTH
from rubrics.models import Case


class OptionSerializer(Plain):
    """An answer that may be given."""

    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF has an attribute of this name, too
    help = serializers.CharField(allow_blank=True)


class FigureSerializer(Plain):
    """A figure with what it rests on; ``value`` is null where it is undefined, and ``note`` says why."""

    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    note = serializers.CharField()


class AgreementFigureSerializer(FigureSerializer):
    """A figure of agreement by its name, with the ends of its 95% interval where one is due."""

    figure = serializers.CharField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class LabelQuestionSerializer(Plain):
    """A question and how far its answers are."""

    id = serializers.CharField(source="question.public_id")
    name = serializers.CharField(source="question.name")
    text = serializers.CharField(source="question.text")
    kind = serializers.CharField(source="question.kind")
    options = OptionSerializer(source="question.choices", many=True)
    scale = serializers.CharField(source="question.scale.name", default="", help_text="Of levels: the scale.")
    threshold = serializers.FloatField(source="question.threshold")
    minimum_answers = serializers.IntegerField(source="question.minimum_answers")
    active = serializers.BooleanField(source="question.active")
    answers = serializers.IntegerField()
    cases = serializers.IntegerField()
    agreed = serializers.IntegerField()


class LabelledCaseSerializer(Plain):
    """A case and what its answers come to."""

    case = serializers.CharField(source="key", help_text=CASE)
    asked = serializers.IntegerField(source="n_annotators")
    answers = serializers.IntegerField(source="summary.n")
    counts = serializers.ListField(
        source="summary.counts", child=serializers.IntegerField(), help_text="In the order of the options."
    )
    majority = serializers.CharField(source="summary.majority", help_text="Empty on a tie.")
    share = serializers.FloatField(source="summary.share.value", allow_null=True)
    dispersion = serializers.FloatField(
        source="summary.dispersion.value", allow_null=True, help_text="Normalised entropy; of a single choice."
    )
    level = serializers.FloatField(source="summary.level.value", allow_null=True, help_text="Of acuity: the mean.")
    spread = serializers.FloatField(
        source="summary.spread.value", allow_null=True, help_text="Of acuity: the standard deviation."
    )
    certainty = serializers.FloatField(
        source="summary.certainty.value", allow_null=True, help_text="Of acuity: the median."
    )
    state = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ChoiceField(choices=list(selectors.ANSWER_STATES.values())))
    def get_state(self, case: selectors.LabelledCase) -> str:
        """How far the case is."""
        return selectors.ANSWER_STATES[case.summary.state]


def _agreement(results: selectors.QuestionResults | LevelResults) -> list[dict[str, Any]]:
    return [
        {
            "figure": name,
            "value": figure.value,
            "low": figure.low,
            "high": figure.high,
            "n": figure.n,
            "note": figure.note,
        }
        for name, figure in results.agreement.items()
    ]


class LabelResultsSerializer(Plain):
    """A question, its alpha, and its cases."""

    id = serializers.CharField(source="question.public_id")
    name = serializers.CharField(source="question.name")
    kind = serializers.CharField(source="question.kind")
    options = OptionSerializer(source="question.options", many=True)
    answers = serializers.IntegerField()
    alpha = serializers.SerializerMethodField()
    agreement = serializers.SerializerMethodField()
    cases = LabelledCaseSerializer(many=True)

    @extend_schema_field(FigureSerializer)
    def get_alpha(self, results: selectors.QuestionResults) -> dict[str, Any]:
        """Krippendorff's alpha: nominal for a choice, ordinal for acuity."""
        alpha: Figure = results.alpha
        return {"value": alpha.value, "n": alpha.n, "note": alpha.note}

    @extend_schema_field(AgreementFigureSerializer(many=True))
    def get_agreement(self, results: selectors.QuestionResults) -> list[dict[str, Any]]:
        """Every figure of agreement over the cases, with its interval where one is due."""
        return _agreement(results)


class PanelCaseSerializer(Plain):
    """A case and what its votes come to; a figure that is undefined is null."""

    case = serializers.CharField(source="key", help_text=CASE)
    asked = serializers.IntegerField(source="n_annotators")
    m = serializers.IntegerField(source="panel.m", help_text="Votes that name a level.")
    cannot_tell = serializers.IntegerField(source="panel.n_cannot_tell")
    q = serializers.ListField(
        source="shares", child=serializers.FloatField(allow_null=True), help_text="Shares, in the order of the levels."
    )
    low = serializers.SerializerMethodField(help_text="The reference; on a border its lower level.")
    high = serializers.SerializerMethodField(help_text="The reference; on a border its upper level.")
    dispersion = serializers.FloatField(allow_null=True)
    entropy = serializers.FloatField(allow_null=True)
    panel_status = serializers.ChoiceField([str(status) for status in PanelStatus], source="status")

    def get_low(self, case: PanelResult) -> str:
        """The value of the level; empty without a vote."""
        return self._value(case, case.panel.reference_low)

    def get_high(self, case: PanelResult) -> str:
        """The value of the level; empty without a vote."""
        return self._value(case, case.panel.reference_high)

    def _value(self, case: PanelResult, place: int) -> str:
        values: tuple[str, ...] = self.context["values"]
        return values[place] if case.panel.m else ""


class LevelResultsSerializer(Plain):
    """A question on a scale, its agreement, and the panel of each case."""

    id = serializers.CharField(source="question.public_id")
    name = serializers.CharField(source="question.name")
    kind = serializers.CharField(source="question.kind")
    scale = serializers.CharField(source="question.scale.name")
    options = OptionSerializer(source="question.choices", many=True)
    answers = serializers.IntegerField()
    agreement = serializers.SerializerMethodField()
    cases = PanelCaseSerializer(many=True)

    @extend_schema_field(AgreementFigureSerializer(many=True))
    def get_agreement(self, results: LevelResults) -> list[dict[str, Any]]:
        """Alpha of the votes for a single level, and of all votes."""
        return _agreement(results)


class LabelTaskSerializer(Plain):
    """A case that waits for your answers, or has them."""

    id = serializers.CharField(source="public_id")
    benchmark = serializers.CharField(source="batch.group.benchmark.slug")
    batch = serializers.CharField(source="batch.public_id")
    batch_title = serializers.CharField(source="batch.title")
    status = serializers.ChoiceField(choices=LabelTask.Status.choices)
    position = serializers.IntegerField(source="place", help_text="Its place among your cases of the batch, from 1.")
    round = serializers.IntegerField(help_text="2 where you vote again on a case.")


class GivenCodeSerializer(StrictSerializer, Plain):
    """A code that a response shows, with the id of a criterion of the case, and the words that show it."""

    code = serializers.CharField(max_length=MAX_CODE_KEY_LENGTH)
    criterion = serializers.IntegerField(min_value=1, max_value=LARGEST_ID, allow_null=True, default=None)
    evidence = serializers.ListField(child=described_field(EvidenceSerializer), default=list)


class CriterionOfCaseSerializer(Plain):
    """A criterion of the case, to which a code may be tied."""

    id = serializers.SerializerMethodField()
    text = serializers.SerializerMethodField()

    def get_id(self, criterion: tuple[int, str]) -> int:
        """Its id."""
        return criterion[0]

    def get_text(self, criterion: tuple[int, str]) -> str:
        """Its text."""
        return criterion[1]


class QuestionLineSerializer(Plain):
    """A question as you see it, with your own answer so far."""

    id = serializers.CharField()
    text = serializers.CharField()
    acuity = serializers.BooleanField(help_text="It asks for a certainty, too.")
    levels = serializers.BooleanField(help_text="The options are levels of a scale, the least urgent first.")
    coded = serializers.BooleanField(help_text="The options are codes of a code book; several may be given.")
    options = OptionSerializer(many=True)
    criteria = CriterionOfCaseSerializer(many=True)
    codes = GivenCodeSerializer(many=True)
    value = serializers.CharField(allow_blank=True)
    upper = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    certainty = serializers.IntegerField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    version = serializers.IntegerField()


class LabelTurnSerializer(Plain):
    """A turn of the conversation."""

    role = serializers.CharField()
    text = serializers.CharField()


class EarlierVotesSerializer(Plain):
    """In round 2: the votes and notes of round 1 without names, and your own vote."""

    votes = RoundVotesSerializer()
    own = serializers.CharField(allow_blank=True)
    own_note = serializers.CharField(allow_blank=True)


@dataclass(frozen=True, slots=True)
class LabelTaskDetail:
    """A task as its physician sees it: a part of `LabelTask`, and what is read and asked."""

    public_id: str
    batch: Batch
    status: str
    place: int
    round: int
    total: int
    case: Case
    conversation: Sequence[reading_pages.Turn]
    text: str
    questions: Sequence[selectors.QuestionLine]
    earlier: EarlierVotes | None


class LabelTaskDetailSerializer(LabelTaskSerializer):
    """A case with its conversation and the questions about it."""

    total = serializers.IntegerField()
    language = serializers.CharField(source="case.language")
    conversation = LabelTurnSerializer(many=True)
    text = serializers.CharField(help_text="The response that is read; empty where the questions are about the case.")
    questions = QuestionLineSerializer(many=True)
    earlier = EarlierVotesSerializer(allow_null=True)


class LabelAnswerSerializer(StrictSerializer, Plain):
    """The whole state of one answer; ``version`` is the one that you saw, 0 for none."""

    question = serializers.CharField(max_length=16)
    value = serializers.CharField(
        max_length=MAX_LABEL_VALUE_LENGTH,
        allow_blank=True,
        help_text="An option; of levels also cannot-tell, without a certainty; of codes coded, or none, or empty once "
        "all codes are taken away again.",
    )
    upper = serializers.CharField(
        max_length=MAX_LABEL_VALUE_LENGTH,
        allow_blank=True,
        default="",
        help_text="Of levels: the next level up, in a vote between the two.",
    )
    reason = serializers.ChoiceField(
        LabelAnswer.Reason.choices, allow_blank=True, default="", help_text="Why someone cannot tell."
    )
    certainty = serializers.IntegerField(min_value=0, max_value=100, allow_null=True, default=None)
    note = serializers.CharField(max_length=MAX_NOTE_LENGTH, allow_blank=True, default="")
    escalation = serializers.CharField(
        max_length=MAX_LABEL_VALUE_LENGTH,
        allow_blank=True,
        default="",
        help_text="Of a response: the level that it advises under a condition.",
    )
    evidence = serializers.ListField(
        child=described_field(EvidenceSerializer),
        default=list,
        help_text="Of a response: start and end of the words that say so, in characters.",
    )
    codes = GivenCodeSerializer(
        many=True, default=list, help_text="Of codes: each code that the response shows; with none, `value` is `none`."
    )
    version = serializers.IntegerField(min_value=0, max_value=LARGEST_VERSION, default=0)
    client_id = serializers.UUIDField(allow_null=True, default=None)


class StoredAnswerSerializer(Plain):
    """An answer as it is stored."""

    value = serializers.CharField(allow_blank=True)
    upper = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    certainty = serializers.IntegerField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    escalation = serializers.CharField(allow_blank=True)
    evidence = serializers.ListField(child=described_field(EvidenceSerializer))
    codes = GivenCodeSerializer(many=True)
    version = serializers.IntegerField()


StaleAnswerSerializer = stale("Answer", StoredAnswerSerializer(required=False))
UnansweredQuestionsSerializer = unanswered("Questions", serializers.CharField())


@extend_schema(responses=LabelQuestionSerializer(many=True), operation_id="label_questions_list")
@api_view(["GET"])
def questions(request: Request, slug: str) -> Response:
    """Questions about the cases of a benchmark, those that are asked first.

    All at once: people write them one by one.
    """
    counts = selectors.question_counts(get_benchmark(request.user, slug))
    return Response(LabelQuestionSerializer(counts, many=True).data)


@extend_schema(
    responses=PolymorphicProxySerializer(
        "LabelResultsOfAKind",
        serializers=[LabelResultsSerializer, LevelResultsSerializer],
        resource_type_field_name=None,
    )
)
@api_view(["GET"])
def question(request: Request, slug: str, public_id: str) -> Response:
    """What the answers to a question come to, case by case."""
    row = access.get_label_question(request.user, slug, public_id)
    if row.is_levels:
        results = selectors.level_results_of(row)
        return Response(LevelResultsSerializer(results, context={"values": results.scale.values}).data)
    return Response(LabelResultsSerializer(selectors.results_of(row)).data)


def _me(request: Request) -> User:
    assert isinstance(request.user, User)  # every endpoint asks for a signed-in user
    return request.user


@extend_schema(responses=LabelTaskSerializer(many=True), parameters=LISTED, operation_id="label_tasks_list")
@api_view(["GET"])
def tasks(request: Request) -> Response:
    """Cases that you were asked about, in the order of your queues."""
    rows = in_benchmark(request, access.own_label_tasks(request.user), "batch__group__benchmark")
    rows = rows.exclude(of_excluded_cases()).select_related("batch__group__benchmark")
    return page_of(request, rows.order_by("batch", "position", "pk").annotate(place=label_place()), LabelTaskSerializer)


@extend_schema(responses=LabelTaskDetailSerializer)
@api_view(["GET"])
def task(request: Request, public_id: str) -> Response:
    """One case: the conversation, the questions, and what you answered."""
    return Response(_task(access.get_own_label_task(request.user, public_id)))


def _task(row: LabelTask) -> dict[str, Any]:
    place = selectors.place_of(row)
    detail = LabelTaskDetail(
        public_id=row.public_id,
        batch=row.batch,
        status=row.status,
        place=place.position,
        round=row.round,
        total=place.total,
        case=row.case,
        conversation=reading_pages.reading_of(row.case, "").turns,
        text=row.response.text if row.response else "",
        questions=selectors.question_lines(row),
        earlier=earlier_votes(row),
    )
    return dict(LabelTaskDetailSerializer(detail).data)


@extend_schema(request=LabelAnswerSerializer, responses={200: LabelTaskDetailSerializer, 409: StaleAnswerSerializer})
@api_view(["POST"])
def answers(request: Request, public_id: str) -> Response:
    """Save one answer. 409 with ``current`` where it was saved elsewhere since you saw it."""
    row = access.get_own_label_task(request.user, public_id)
    sent = LabelAnswerSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    change = services.AnswerInput(**sent.validated_data)
    try:
        services.save_answer(task=row, annotator=_me(request), change=change, at=timezone.now())
    except StaleSave as stale:
        names = ("value", "upper", "reason", "certainty", "note", "escalation", "evidence", "codes", "version")
        current = {name: getattr(stale.current, name) for name in names}
        return Response({"detail": str(stale), "current": current}, status=stale.status_code)
    return Response(_task(row))


@extend_schema(request=None, responses={200: LabelTaskDetailSerializer, 422: UnansweredQuestionsSerializer})
@api_view(["POST"])
def submit(request: Request, public_id: str) -> Response:
    """Hand your answers in. 422 with ``missing`` (ids of questions) while something is not answered."""
    row = access.get_own_label_task(request.user, public_id)
    try:
        services.submit_labels(task=row, annotator=_me(request), at=timezone.now())
    except services.Unlabelled as refused:
        return Response({"detail": str(refused), "missing": refused.questions}, status=refused.status_code)
    return Response(_task(row))
