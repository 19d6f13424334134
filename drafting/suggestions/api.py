"""API endpoints of suggestions: authors read and decide on those that have opened to them; staff read all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer, about_field
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_KEY_LENGTH, MAX_REASON_LENGTH
from consilium.core.model_schemas import described_field
from drafting import access
from drafting.models import RejectionReason, Suggestion
from drafting.stages.findings import SEVERITIES
from drafting.suggestions import selectors, services
from drafting.suggestions.decisions import ASIDE, OPEN, REJECTED, decide
from drafting.suggestions.opening import open_suggestions
from rubrics.access import get_administered_benchmark, get_written_benchmark
from rubrics.api.named import CASE, CASE_ID, CASE_TO_NAME, named_case
from rubrics.api.serializers import CitationSerializer
from rubrics.models import Case

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User

Plain = serializers.Serializer[Any]


# What code and audit noticed; further fields depend on the code (`drafting.stages.findings`).
FINDING = {
    "type": "object",
    "properties": {"code": {"type": "string"}, "severity": {"type": "string", "enum": list(SEVERITIES)}},
    "required": ["code", "severity"],
    "additionalProperties": {},
}


class SuggestionSerializer(Plain):
    """A drafted criterion and the decision on it. ``facts`` and ``needs`` are numbers within run and case."""

    id = serializers.CharField(source="public_id")
    case = serializers.CharField(source="case.key", help_text=CASE)
    case_id = serializers.CharField(source="case.public_id", help_text=CASE_ID)
    run = serializers.CharField(source="run.public_id")
    number = serializers.IntegerField()
    text = serializers.CharField()
    points = serializers.IntegerField()
    axis = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    language = serializers.CharField()
    why = serializers.CharField()
    facts = serializers.ListField(child=serializers.IntegerField())
    needs = serializers.ListField(child=serializers.IntegerField())
    citations = CitationSerializer(many=True)
    source = serializers.CharField()  # type: ignore[assignment]
    findings = serializers.ListField(child=described_field(FINDING))
    state = serializers.ChoiceField(choices=Suggestion.State.choices)
    put_aside = serializers.BooleanField()
    reason = serializers.ChoiceField(choices=RejectionReason.choices, allow_null=True)
    note = serializers.CharField()
    decided_at = serializers.DateTimeField(allow_null=True)
    seconds_read = serializers.IntegerField()
    final_text = serializers.CharField(help_text="The criterion as it was first published; empty before.")
    distance = serializers.FloatField(allow_null=True, help_text="Edit distance of both texts, from 0 to 1.")


class OpenSerializer(StrictSerializer, Plain):
    """A case whose suggestions are to open to the author."""

    case = serializers.CharField(max_length=MAX_KEY_LENGTH, help_text=CASE_TO_NAME)


class SuggestionDecisionSerializer(StrictSerializer, Plain):
    """A decision that no save of the draft makes."""

    decision = serializers.ChoiceField(choices=[REJECTED, OPEN, ASIDE])
    reason = serializers.ChoiceField(choices=RejectionReason.choices, required=False, allow_null=True)
    note = serializers.CharField(required=False, allow_blank=True, max_length=MAX_REASON_LENGTH)


class WithdrawSerializer(StrictSerializer, Plain):
    """Suggestions by their ids, or all of a run."""

    suggestions = serializers.ListField(child=serializers.CharField(), required=False, max_length=1000)
    run = serializers.CharField(required=False)


class WithdrawnSerializer(Plain):
    """How many were withdrawn; those on which someone has decided stay."""

    withdrawn = serializers.IntegerField()


def _me(request: Request) -> User:
    return cast("User", request.user)


def _readable(request: Request, slug: str) -> QuerySet[Suggestion]:
    """All of the benchmark for those who run it; for an author, those that have opened. None that a review hides."""
    benchmark = get_written_benchmark(request.user, slug)
    if access.may_order(request.user, benchmark):
        rows = Suggestion.objects.filter(case__benchmark=benchmark).select_related("case", "run")
        return access.seen_by(request.user, benchmark, rows)
    return selectors.open_to(_me(request), benchmark)


@extend_schema(
    responses=SuggestionSerializer(many=True),
    parameters=[
        *PAGED,
        OpenApiParameter("case", str, description="of this case alone"),
        OpenApiParameter("run", str, description="of this run alone"),
        OpenApiParameter("state", str, enum=Suggestion.State.values, description="in this state alone"),
    ],
)
@api_view(["GET"])
def suggestions(request: Request, slug: str) -> Response:
    """Suggestions of the benchmark."""
    rows = _readable(request, slug)
    sent = {name: str(value) for name, value in request.query_params.items() if value}
    if "run" in sent:  # before the others: a run that merely has none for a case is no fault
        rows = rows.filter(run__public_id=sent["run"])
        if not rows.exists():
            raise ValidationError({"run": [_("No suggestions of this run are here.")]})
    if "case" in sent:
        benchmark = get_written_benchmark(request.user, slug)
        rows = rows.filter(case=named_case(Case.objects.filter(benchmark=benchmark), sent["case"]))
    if "state" in sent:
        rows = rows.filter(state=sent["state"])
    return page_of(request, rows.order_by("case", "run", "number"), SuggestionSerializer)


@extend_schema(responses=SuggestionSerializer)
@api_view(["GET"])
def suggestion(request: Request, slug: str, public_id: str) -> Response:
    """A suggestion."""
    return Response(SuggestionSerializer(get_object_or_404(_readable(request, slug), public_id=public_id)).data)


@extend_schema(
    request=OpenSerializer,
    responses={
        200: SuggestionSerializer(many=True),
        409: OpenApiResponse(description="The author writes criteria of their own first."),
    },
)
@api_view(["POST"])
def open_case(request: Request, slug: str) -> Response:
    """Open the suggestions for a case to the author; they are the answer."""
    access.get_deciding_benchmark(request.user, slug)
    named = valid(OpenSerializer(data=request.data))["case"]
    public_id = Case.objects.filter(benchmark__slug=slug).called([named]).values_list("public_id", flat=True).first()
    with about_field("case"):
        case = access.get_case_to_decide(request.user, slug, public_id or named)
    open_suggestions(case=case, author=_me(request), at=timezone.now())
    rows = selectors.in_panel(case).select_related("case", "run")
    return Response(SuggestionSerializer(rows, many=True).data)


@extend_schema(
    request=SuggestionDecisionSerializer,
    responses={200: SuggestionSerializer, 409: OpenApiResponse(description="It is in the draft.")},
)
@api_view(["POST"])
def decision(request: Request, slug: str, public_id: str) -> Response:
    """Reject a suggestion, undo that, or put it aside. Taking one is a save of the draft that has it."""
    row = access.get_suggestion(request.user, slug, public_id)
    sent = valid(SuggestionDecisionSerializer(data=request.data))
    if sent["decision"] != REJECTED and (sent.get("reason") is not None or sent.get("note")):
        raise ValidationError({"reason": [_("Only a rejection has a reason and a note.")]})
    decide(
        suggestion=row,
        decision=sent["decision"],
        reason=sent.get("reason"),
        note=sent.get("note", ""),
        by=_me(request),
        at=timezone.now(),
    )
    return Response(SuggestionSerializer(access.get_suggestion(request.user, slug, public_id)).data)


@extend_schema(request=WithdrawSerializer, responses=WithdrawnSerializer)
@api_view(["POST"])
def withdraw(request: Request, slug: str) -> Response:
    """Withdraw suggestions on which no one has decided: by ids, or all of a run. For admins."""
    benchmark = get_administered_benchmark(request.user, slug)
    sent = valid(WithdrawSerializer(data=request.data))
    if ("suggestions" in sent) == ("run" in sent):
        raise ValidationError({"suggestions": [_("Name suggestions, or a run.")]})
    rows = Suggestion.objects.filter(case__benchmark=benchmark)
    if "run" in sent:
        chosen = rows.filter(run__public_id=sent["run"])
        if not chosen.exists():
            raise ValidationError({"run": [_("No suggestions of this run are here.")]})
    else:
        chosen = rows.filter(public_id__in=sent["suggestions"])
        unknown = set(sent["suggestions"]) - set(chosen.values_list("public_id", flat=True))
        if unknown:
            raise ValidationError(
                {"suggestions": [_("There is no suggestion “%(name)s”.") % {"name": min(unknown)[:40]}]}
            )
    count = services.withdraw(suggestions=list(chosen), by=_me(request), at=timezone.now())
    return Response({"withdrawn": count}, status=status.HTTP_200_OK)
