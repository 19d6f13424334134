"""API endpoints of near-miss pairs: for staff, and for physicians who judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import (
    MAX_AXIS_LENGTH,
    MAX_KEY_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_PAIR_GROUP_NAME_LENGTH,
    MAX_REASON_LENGTH,
)
from rubrics.access import get_benchmark
from rubrics.api.named import CASE, CASE_ID, CASE_TO_NAME, named_case
from rubrics.api.serializers import ImportSerializer
from rubrics.models import Case, ImportJob
from rubrics.services import create_import
from validation import access
from validation.models import ErrorKind, NearMissPair, PairJudgement
from validation.near_miss import MAX_FIND_LENGTH, MAX_REPLACE_LENGTH
from validation.pairs import selectors, services
from validation.pairs.reading import MAX_TEXT_LENGTH
from validation.skipping import skip_pair
from validation.skipping_api import SkippedQuestionSerializer

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class _GroupSerializer(StrictSerializer, Plain):
    group = serializers.CharField(max_length=MAX_PAIR_GROUP_NAME_LENGTH, help_text="Made where it is not there.")
    judgements = serializers.IntegerField(
        min_value=1, max_value=2, default=1, help_text="How many physicians have to say the same."
    )


class NewPairSerializer(_GroupSerializer):
    """A pair by hand: the words of the reference to replace, and those in their place."""

    case = serializers.CharField(max_length=MAX_KEY_LENGTH, help_text=CASE_TO_NAME)
    reference = serializers.CharField(
        max_length=MAX_TEXT_LENGTH, required=False, trim_whitespace=False, allow_blank=True, default="",
        help_text="Empty: the reference answer of the case.",
    )  # fmt: skip
    find = serializers.CharField(max_length=MAX_FIND_LENGTH, trim_whitespace=False)
    replace = serializers.CharField(max_length=MAX_REPLACE_LENGTH, trim_whitespace=False, allow_blank=True)
    kind = serializers.ChoiceField(choices=ErrorKind.choices)
    axis = serializers.CharField(max_length=MAX_AXIS_LENGTH, required=False, allow_blank=True, default="")
    why = serializers.CharField(max_length=MAX_REASON_LENGTH, required=False, allow_blank=True, default="")
    key = serializers.CharField(max_length=MAX_KEY_LENGTH, required=False, allow_blank=True, default="")


class PairUploadSerializer(_GroupSerializer):
    """A file of pairs: JSONL, or CSV with the same names as columns."""

    file = serializers.FileField(max_length=255)


class PairSerializer(Plain):
    """A pair. ``start`` is in both texts, in code points."""

    id = serializers.CharField(source="public_id")
    key = serializers.CharField()
    group = serializers.CharField(source="group.name")
    case = serializers.CharField(source="case.key", help_text=CASE)
    case_id = serializers.CharField(source="case.public_id", help_text=CASE_ID)
    kind = serializers.ChoiceField(choices=ErrorKind.choices)
    axis = serializers.CharField()
    reference_text = serializers.CharField(source="reference")
    candidate_text = serializers.CharField(source="candidate", help_text="The reference with one change.")
    start = serializers.IntegerField()
    reference_end = serializers.IntegerField()
    candidate_end = serializers.IntegerField()
    change = serializers.CharField()
    why = serializers.CharField()
    origin = serializers.ChoiceField(choices=NearMissPair.Origin.choices)
    warning = serializers.CharField()
    state = serializers.ChoiceField(choices=NearMissPair.State.choices)
    grade = serializers.ChoiceField(choices=NearMissPair.Grade.choices, allow_blank=True)
    disputed = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class PairToJudgeSerializer(Plain):
    """A pair as physicians see it; nothing says where it came from, nor what others say."""

    id = serializers.CharField(source="public_id")
    case_id = serializers.CharField(source="case.public_id", help_text=CASE_ID)
    first = serializers.CharField(source="reference")
    second = serializers.CharField(source="candidate")
    start = serializers.IntegerField()
    first_end = serializers.IntegerField(source="reference_end")
    second_end = serializers.IntegerField(source="candidate_end")


class NextPairSerializer(Plain):
    """The next pair, and how many wait, this one among them."""

    pair = PairToJudgeSerializer()
    waiting = serializers.IntegerField()


class PairJudgementSerializer(StrictSerializer, Plain):
    """What a physician says about a pair."""

    single = serializers.BooleanField(source="is_single", help_text="Whether the second text has exactly one error.")
    harm = serializers.ChoiceField(choices=PairJudgement.Harm.choices)
    other_flaw = serializers.BooleanField(
        source="has_other_flaw", help_text="Whether the first text itself has a flaw."
    )
    note = serializers.CharField(max_length=MAX_NOTE_LENGTH, required=False, allow_blank=True, default="")


def _user(request: Request) -> User:
    return cast("User", request.user)


@extend_schema(
    methods=["GET"],
    responses=PairSerializer(many=True),
    parameters=[
        *PAGED,
        OpenApiParameter("state", str, enum=NearMissPair.State.values, description="Only pairs in this state."),
        OpenApiParameter(
            "status",
            str,
            enum=selectors.STATUSES,
            description="what is still open, or what physicians agree on: `disputed`, or the `grade`",
        ),
        OpenApiParameter("kind", str, enum=ErrorKind.values, description="Only pairs with an error of this kind."),
    ],
    operation_id="pairs_list",
)
@extend_schema(
    methods=["POST"], request=NewPairSerializer, responses={201: PairSerializer}, operation_id="pairs_create"
)
@api_view(["GET", "POST"])
def pairs(request: Request, slug: str) -> Response:
    """List the near-miss pairs, the newest first.

    POST: Add a near-miss pair.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        chosen = {name: request.query_params.get(name, "") for name in ("state", "status", "kind")}
        return page_of(request, selectors.pairs_of(benchmark, **chosen), PairSerializer)
    payload = valid(NewPairSerializer(data=request.data))
    case = named_case(Case.objects.filter(benchmark=benchmark), payload["case"])
    pair = services.add_pair_to(
        benchmark=benchmark,
        group=payload["group"],
        judgements_due=payload["judgements"],
        case=case,
        reference=payload["reference"] or case.reference_answer,
        change=services.Change(
            **{name: payload[name] for name in ("find", "replace", "kind", "axis", "why")},
        ),
        key=payload["key"],
        by=_user(request),
        at=timezone.now(),
    )
    return Response(PairSerializer(pair).data, status=status.HTTP_201_CREATED)


@extend_schema(
    request={"multipart/form-data": PairUploadSerializer},
    responses={201: ImportSerializer},
    operation_id="pairs_upload",
)
@api_view(["POST"])
@parser_classes([MultiPartParser])
def upload(request: Request, slug: str) -> Response:
    """Upload a file of pairs: all of it comes in, or nothing; ask the import how far it is."""
    benchmark = get_benchmark(request.user, slug)
    payload = valid(PairUploadSerializer(data=request.data))
    job = create_import(
        benchmark=benchmark,
        kind=ImportJob.Kind.PAIRS,
        file=payload["file"],
        file_name=payload["file"].name or "",
        options={"group": payload["group"], "judgements": str(payload["judgements"])},
        by=_user(request),
    )
    return Response(ImportSerializer(job).data, status=status.HTTP_201_CREATED)


@extend_schema(responses=PairSerializer, operation_id="pairs_retrieve")
@api_view(["GET"])
def pair(request: Request, slug: str, public_id: str) -> Response:
    """Show a pair."""
    return Response(PairSerializer(access.get_pair(request.user, slug, public_id)).data)


@extend_schema(request=None, responses={200: NextPairSerializer, 204: None}, operation_id="pairs_next_to_judge")
@api_view(["POST"])
def next_pair(request: Request, slug: str) -> Response:
    """Show the next pair that waits for the caller, a member of an expert group or an author; 204 for none."""
    benchmark = access.get_deciding_benchmark(request.user, slug)
    waiting = selectors.open_pairs(benchmark, _user(request)).select_related("case")
    first = waiting.first()
    if first is None:
        return Response(status=status.HTTP_204_NO_CONTENT)
    return Response(NextPairSerializer({"pair": first, "waiting": waiting.count()}).data)


@extend_schema(methods=["GET"], responses=PairToJudgeSerializer, operation_id="pairs_to_judge")
@extend_schema(
    methods=["PUT"], request=PairJudgementSerializer, responses=PairJudgementSerializer, operation_id="pairs_judge"
)
@api_view(["GET", "PUT"])
def judgement(request: Request, slug: str, public_id: str) -> Response:
    """Show a pair as physicians see it.

    PUT: Say what one thinks of a pair; one's own judgement may be changed.
    """
    row = access.get_pair_to_judge(request.user, slug, public_id)
    if request.method == "GET":
        return Response(PairToJudgeSerializer(row).data)
    payload = valid(PairJudgementSerializer(data=request.data))
    own = services.judge(pair=row, answers=services.Answers(**payload), by=_user(request), at=timezone.now())
    return Response(PairJudgementSerializer(own).data)


@extend_schema(request=SkippedQuestionSerializer, responses={204: None}, operation_id="pairs_skip")
@api_view(["POST"])
def skip(request: Request, slug: str, public_id: str) -> Response:
    """Skip a pair that the caller cannot judge: it gives no judgement, and others judge it."""
    row = access.get_pair_to_judge(request.user, slug, public_id)
    payload = valid(SkippedQuestionSerializer(data=request.data))
    skip_pair(pair=row, reason=payload["reason"], by=_user(request), at=timezone.now())
    return Response(status=status.HTTP_204_NO_CONTENT)
