"""API endpoints of second rounds and rulings: for those who run the benchmark, and for adjudicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from annotation import access
from annotation.acuity import round_plan, rulings
from annotation.acuity.earlier_votes import RoundVotes, rounds_of
from annotation.acuity.moves import MOVE_COLUMNS, move_rows
from annotation.acuity.panel import AmbiguousRule
from annotation.acuity.panel_results import level_results
from annotation.acuity.round_plan import RoundTerms
from annotation.acuity.ruling_selectors import RULING_COLUMNS, ruling_rows
from annotation.api.named_groups import group_of_field
from annotation.api.serializers import Plain
from annotation.api.work import LISTED, in_benchmark
from annotation.models import AcuityRuling, LabelQuestion, RulingRequest
from annotation.selectors import reading_pages
from annotation.services import new_seed
from annotation.services.batch_terms import MAX_SEED
from consilium.core.api import StrictSerializer
from consilium.core.commands import CommandSerializer, command_of
from consilium.core.endpoints import PAGED, page_of
from consilium.core.limits import MAX_LABEL_VALUE_LENGTH, MAX_NOTE_LENGTH
from rubrics.api.named import CASE


class MovesSerializer(Plain):
    """How the votes on a case moved from round 1 to round 2; levels are empty without a vote that names one."""

    case = serializers.CharField(help_text=CASE)
    n_votes = serializers.IntegerField(help_text="Physicians who voted in both rounds.")
    kept = serializers.IntegerField()
    towards = serializers.IntegerField(help_text="Nearer to the median of round 1 than before.")
    away = serializers.IntegerField()
    across = serializers.IntegerField(help_text="As far from the median, on its other side.")
    cannot_tell = serializers.IntegerField(help_text="One of the two votes names no level.")
    low = serializers.CharField(allow_blank=True, help_text="The median of round 1.")
    high = serializers.CharField(allow_blank=True)
    last_low = serializers.CharField(allow_blank=True, help_text="The median of round 2.")
    last_high = serializers.CharField(allow_blank=True)
    dispersion = serializers.FloatField(allow_null=True)
    last_dispersion = serializers.FloatField(allow_null=True)


class AcuityRulingSerializer(Plain):
    """A case that a ruling was asked for, and the ruling."""

    case = serializers.CharField(help_text=CASE)
    state = serializers.ChoiceField(["waiting", "level", "stays-ambiguous"])
    low = serializers.CharField(allow_blank=True)
    high = serializers.CharField(allow_blank=True)
    reason = serializers.ChoiceField(AcuityRuling.Reason.choices, allow_blank=True)
    note = serializers.CharField(allow_blank=True)
    adjudicator = serializers.CharField(allow_blank=True)
    ruled_at = serializers.CharField(allow_blank=True)
    requested_at = serializers.CharField()
    group = serializers.CharField()


class _AmbiguousSerializer(serializers.Serializer[Any]):
    group = serializers.CharField(max_length=16)
    ambiguous = serializers.CharField(
        max_length=40, default="dispersion:0.75", help_text="The rule and its threshold, such as dispersion:0.75."
    )

    def validate_ambiguous(self, text: str) -> AmbiguousRule:
        """The rule that the text names."""
        try:
            return AmbiguousRule.of(text)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None


class SecondRoundSerializer(_AmbiguousSerializer, CommandSerializer, StrictSerializer):
    """A second round to be opened."""

    commands = (RoundTerms,)


class AskForRulingsSerializer(_AmbiguousSerializer, StrictSerializer):
    """Rulings to be asked for; the seed shuffles the cases."""

    seed = serializers.IntegerField(min_value=0, max_value=MAX_SEED, required=False)


class OpenedSerializer(Plain):
    """A batch that was opened, and how many votes it asks for."""

    batch = serializers.CharField()
    votes = serializers.IntegerField()


class AskedSerializer(Plain):
    """How many cases a ruling was asked for."""

    cases = serializers.IntegerField()


class VoteLineSerializer(Plain):
    """A level, the border of two, or why someone could not tell, in words, and how many votes it has."""

    label = serializers.CharField()  # type: ignore[assignment]  # DRF has an attribute of this name, too
    n = serializers.IntegerField()


class RoundVotesSerializer(Plain):
    """The votes of one round on a case, without names."""

    round = serializers.IntegerField()
    lines = VoteLineSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())


class RequestedRulingSerializer(Plain):
    """A case that waits for your ruling."""

    id = serializers.CharField(source="public_id")
    benchmark = serializers.CharField(source="question.benchmark.slug")
    question = serializers.CharField(source="question.text")
    requested_at = serializers.DateTimeField()


class LevelChoiceSerializer(Plain):
    """A level that a ruling may give."""

    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF has an attribute of this name, too
    help = serializers.CharField(allow_blank=True)


class RulingTurnSerializer(Plain):
    """A turn of the conversation."""

    role = serializers.CharField()
    text = serializers.CharField()


@dataclass(frozen=True, slots=True)
class RequestedRuling:
    """A case that a ruling was asked for, as its adjudicator sees it: a part of `RulingRequest`, and what is read."""

    public_id: str
    question: LabelQuestion
    requested_at: datetime
    conversation: Sequence[reading_pages.Turn]
    levels: Sequence[Mapping[str, str]]
    rounds: Sequence[RoundVotes]
    is_ruled: bool


class RequestedRulingDetailSerializer(RequestedRulingSerializer):
    """A case with its conversation, its votes without names, and your ruling, if you gave one."""

    conversation = RulingTurnSerializer(many=True)
    levels = LevelChoiceSerializer(many=True)
    rounds = RoundVotesSerializer(many=True)
    is_ruled = serializers.BooleanField()


class RulingInputSerializer(StrictSerializer, Plain):
    """A ruling: a level, two adjacent ones, or that the case stays ambiguous."""

    level = serializers.CharField(max_length=MAX_LABEL_VALUE_LENGTH, help_text="A level, or stays-ambiguous.")
    upper = serializers.CharField(max_length=MAX_LABEL_VALUE_LENGTH, allow_blank=True, default="")
    reason = serializers.ChoiceField(AcuityRuling.Reason.choices)
    note = serializers.CharField(max_length=MAX_NOTE_LENGTH, allow_blank=True, default="")


@extend_schema(parameters=PAGED, responses=MovesSerializer(many=True))
@api_view(["GET"])
def moves(request: Request, slug: str, public_id: str) -> Response:
    """How the votes on each case of a second round moved, by key."""
    question = access.get_question_on_scale(request.user, slug, public_id)
    results = level_results(question, {})
    rows = [dict(zip(MOVE_COLUMNS, row, strict=True)) for row in move_rows(results.moves, results.scale)]
    return page_of(request, rows, MovesSerializer)


@extend_schema(parameters=PAGED, responses=AcuityRulingSerializer(many=True))
@api_view(["GET"])
def acuity_rulings(request: Request, slug: str, public_id: str) -> Response:
    """The rulings about a question, and those that are waited for, by key."""
    question = access.get_question_on_scale(request.user, slug, public_id)
    rows = [dict(zip(RULING_COLUMNS, row, strict=True)) for row in ruling_rows(question)]
    return page_of(request, rows, AcuityRulingSerializer)


@extend_schema(request=SecondRoundSerializer, responses={201: OpenedSerializer})
@api_view(["POST"])
def second_round(request: Request, slug: str, public_id: str) -> Response:
    """Give the ambiguous cases once more to those who voted on them."""
    question = access.get_administered_question_on_scale(request.user, slug, public_id)
    sent = SecondRoundSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    data = sent.validated_data
    batch = round_plan.open_round(
        group=group_of_field(question.benchmark, data["group"], field="group"),
        question=question,
        rule=data["ambiguous"],
        terms=command_of(RoundTerms, data),
        by=_me(request),
        at=timezone.now(),
    )
    body = {"batch": batch.public_id, "votes": batch.label_tasks.count()}
    return Response(OpenedSerializer(body).data, status=201)


@extend_schema(request=AskForRulingsSerializer, responses={201: AskedSerializer})
@api_view(["POST"])
def ask_for_rulings(request: Request, slug: str, public_id: str) -> Response:
    """Ask the adjudicators of a group to rule on the cases that stay ambiguous."""
    question = access.get_administered_question_on_scale(request.user, slug, public_id)
    sent = AskForRulingsSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    data = sent.validated_data
    number = rulings.request_rulings(
        group=group_of_field(question.benchmark, data["group"], field="group"),
        question=question,
        rule=data["ambiguous"],
        seed=data.get("seed", new_seed()),
        by=_me(request),
        at=timezone.now(),
    )
    return Response(AskedSerializer({"cases": number}).data, status=201)


def _me(request: Request) -> User:
    assert isinstance(request.user, User)  # every endpoint asks for a signed-in user
    return request.user


@extend_schema(parameters=LISTED, responses=RequestedRulingSerializer(many=True), operation_id="ruling_requests_list")
@api_view(["GET"])
def ruling_requests(request: Request) -> Response:
    """Cases that wait for your ruling, or another adjudicator's, in an order that says nothing."""
    rows = in_benchmark(request, access.open_ruling_requests(request.user), "question__benchmark")
    rows = rows.select_related("question__benchmark")
    return page_of(request, rows, RequestedRulingSerializer)


@extend_schema(methods=["GET"], responses=RequestedRulingDetailSerializer)
@extend_schema(
    methods=["POST"],
    request=RulingInputSerializer,
    responses={201: RequestedRulingDetailSerializer},
)
@api_view(["GET", "POST"])
def ruling_request(request: Request, public_id: str) -> Response:
    """Show a case that waits for a ruling with its votes, without names.

    POST: Rule on the case for good. 409 where someone has ruled meanwhile.
    """
    is_post = request.method == "POST"
    row = access.get_ruling_request(request.user, public_id, ruled_by_others=is_post)
    if not is_post:
        return Response(_detail(row))
    sent = RulingInputSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    ruling_input = rulings.RulingInput(**sent.validated_data)
    rulings.give_ruling(request=row, adjudicator=_me(request), ruling=ruling_input, at=timezone.now())
    return Response(_detail(row), status=201)


def _detail(row: RulingRequest) -> dict[str, Any]:
    shown = RequestedRuling(
        public_id=row.public_id,
        question=row.question,
        requested_at=row.requested_at,
        conversation=reading_pages.reading_of(row.case, "").turns,
        levels=row.question.choices,
        rounds=rounds_of(row.question, row.case_id),
        is_ruled=AcuityRuling.objects.filter(question=row.question, case=row.case_id).exists(),
    )
    return dict(RequestedRulingDetailSerializer(shown).data)
