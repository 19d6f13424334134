"""API endpoints of screenings, for those who run the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_EXCLUSION_REASON_LENGTH, MAX_KEY_LENGTH, MAX_RATER_LENGTH, MAX_TITLE_LENGTH
from consilium.core.model_schemas import described_field
from rubrics.access import get_benchmark
from rubrics.api.named import CASE, CASE_ID, CASES_TO_NAME, named_cases
from rubrics.models import Case
from scoring.models import Screening
from scoring.screening import selectors
from scoring.screening.compute import AGGREGATES, MEAN
from scoring.screening.services import (
    DECISIONS,
    MIN_CANDIDATES,
    ScreeningTerms,
    close_screening,
    create_screening,
    decide,
)
from scoring.screening.views import get_screening

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class ScreeningFactsSerializer(Plain):
    """What the scores rest on."""

    at_least = serializers.IntegerField(help_text="How many candidates must have a score on a case.", required=False)
    rules = serializers.CharField(required=False)
    runs = serializers.ListField(child=serializers.CharField(), help_text="Ids of the judges' runs.", required=False)
    notes = serializers.ListField(child=serializers.CharField(), required=False)
    n_excluded_before = serializers.IntegerField(required=False)


class ScreeningSerializer(Plain):
    """A screening with its counts; ``undecided`` are flagged cases without a decision."""

    id = serializers.CharField(source="public_id")
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=Screening.Status.choices)
    rater = serializers.CharField()
    candidates = serializers.ListField(child=serializers.CharField())
    threshold = serializers.FloatField()
    aggregate = serializers.ChoiceField(choices=AGGREGATES)
    digest = serializers.CharField()
    facts = described_field(ScreeningFactsSerializer)
    created_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    screened = serializers.IntegerField(source="n_screened")
    undefined = serializers.IntegerField(source="n_undefined")
    flagged = serializers.IntegerField(source="n_flagged")
    excluded = serializers.IntegerField(source="n_excluded")
    kept = serializers.IntegerField(source="n_kept")
    undecided = serializers.IntegerField(source="n_undecided")


class NewScreeningSerializer(StrictSerializer, Plain):
    """What a screening is made by: ``candidates`` by name, ``rater`` as reports take it."""

    title = serializers.CharField(max_length=MAX_TITLE_LENGTH)
    rater = serializers.CharField(max_length=MAX_RATER_LENGTH)
    candidates = serializers.ListField(
        child=serializers.CharField(max_length=MAX_KEY_LENGTH), min_length=1, max_length=200
    )
    threshold = serializers.FloatField(min_value=0, max_value=1, default=0.5)
    aggregate = serializers.ChoiceField(choices=AGGREGATES, default=MEAN)
    at_least = serializers.IntegerField(min_value=1, max_value=200, default=MIN_CANDIDATES)


class ScreenedCaseSerializer(Plain):
    """A case in a screening; ``score`` is null where undefined, and ``note`` says why."""

    case = serializers.CharField(source="case.key", help_text=CASE)
    case_id = serializers.CharField(source="case.public_id", help_text=CASE_ID)
    key = serializers.CharField(source="case.key", help_text="The same as `case`.")
    score = serializers.FloatField(allow_null=True)
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))
    n_responses = serializers.IntegerField()
    flagged = serializers.BooleanField()
    note = serializers.CharField()
    decision = serializers.CharField()
    reason = serializers.CharField()
    decided_at = serializers.DateTimeField(allow_null=True)


class ScreeningDecisionSerializer(StrictSerializer, Plain):
    """One decision on some cases (ids); an exclusion takes a reason."""

    cases = serializers.ListField(
        child=serializers.CharField(max_length=MAX_KEY_LENGTH), min_length=1, max_length=1000, help_text=CASES_TO_NAME
    )
    decision = serializers.ChoiceField(choices=DECISIONS)
    reason = serializers.CharField(max_length=MAX_EXCLUSION_REASON_LENGTH, allow_blank=True, default="")


def _shown(screening: Screening) -> dict[str, Any]:
    row = selectors.tallied(Screening.objects.filter(pk=screening.pk)).get()
    return dict(ScreeningSerializer(row).data)


@extend_schema(
    methods=["GET"], responses=ScreeningSerializer(many=True), parameters=PAGED, operation_id="screenings_list"
)
@extend_schema(
    methods=["POST"],
    request=NewScreeningSerializer,
    responses={201: ScreeningSerializer},
    operation_id="screenings_create",
)
@api_view(["GET", "POST"])
def screenings(request: Request, slug: str) -> Response:
    """List the screenings.

    POST: Make a screening: cases at or above the threshold are flagged, and none is excluded by it.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        screenings = selectors.tallied(Screening.objects.filter(benchmark=benchmark)).order_by("-created_at", "-pk")
        return page_of(request, screenings, ScreeningSerializer)
    terms = ScreeningTerms(**valid(NewScreeningSerializer(data=request.data)))
    screening = create_screening(benchmark=benchmark, terms=terms, by=cast("User", request.user), at=timezone.now())
    return Response(_shown(screening), status=status.HTTP_201_CREATED)


@extend_schema(responses=ScreeningSerializer)
@api_view(["GET"])
def screening(request: Request, slug: str, public_id: str) -> Response:
    """Show a screening with its counts."""
    return Response(_shown(get_screening(cast("User", request.user), slug, public_id)))


@extend_schema(
    responses=ScreenedCaseSerializer(many=True),
    parameters=[*PAGED, OpenApiParameter("show", str, enum=selectors.SHOWS, description="default all")],
    operation_id="screened_cases_list",
)
@api_view(["GET"])
def screened_cases(request: Request, slug: str, public_id: str) -> Response:
    """List the cases of a screening, flagged first, the highest score first."""
    screening = get_screening(cast("User", request.user), slug, public_id)
    show = request.query_params.get("show") or "all"
    return page_of(request, selectors.shown_cases(screening, show), ScreenedCaseSerializer)


@extend_schema(request=ScreeningDecisionSerializer, responses=ScreenedCaseSerializer(many=True))
@api_view(["POST"])
def screening_decide(request: Request, slug: str, public_id: str) -> Response:
    """Keep or exclude cases, or undo that while the screening is open: all of them or none."""
    screening = get_screening(cast("User", request.user), slug, public_id)
    payload = valid(ScreeningDecisionSerializer(data=request.data))
    chosen = named_cases(Case.with_stubs.filter(benchmark=screening.benchmark), payload["cases"])
    payload["cases"] = [case.public_id for case in chosen]
    rows = decide(screening=screening, by=cast("User", request.user), at=timezone.now(), **payload)
    return Response(ScreenedCaseSerializer(rows, many=True).data)


@extend_schema(request=None, responses=ScreeningSerializer)
@api_view(["POST"])
def screening_close(request: Request, slug: str, public_id: str) -> Response:
    """Close a screening: what was decided stays."""
    screening = get_screening(cast("User", request.user), slug, public_id)
    close_screening(screening=screening, at=timezone.now())
    return Response(_shown(screening))
