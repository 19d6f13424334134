"""API endpoint of a later edition: citations of earlier editions, and requests to reword criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from documents import access
from documents.editions.selectors import OldCitation, citing_criteria
from documents.editions.services import request_revisions
from documents.models import CarriedCitation
from rubrics.api.named import CASE, CASE_ID

if TYPE_CHECKING:
    from accounts.models import User


class OldCitationSerializer(serializers.Serializer[Any]):
    """A citation of an earlier edition; ``match`` is null until someone has looked for its words."""

    passage = serializers.CharField(source="passage.public_id")
    locator = serializers.CharField(source="passage.locator")
    quote = serializers.CharField()
    match = serializers.ChoiceField(choices=CarriedCitation.Match.choices, source="carried.match", allow_null=True)
    carried_to = serializers.SerializerMethodField()

    def get_carried_to(self, cited: OldCitation) -> str | None:
        """The locator of the passage that has the words now."""
        passage = cited.carried.new_passage if cited.carried else None
        return passage.locator if passage else None


class CitingCriterionSerializer(serializers.Serializer[Any]):
    """A criterion in force that cites an earlier edition; ``item`` names it in a request to reword it."""

    item = serializers.IntegerField(source="item.pk")
    case = serializers.CharField(source="item.rubric.case.key", help_text=CASE)
    case_id = serializers.CharField(source="item.rubric.case.public_id", help_text=CASE_ID)
    number = serializers.IntegerField(source="item.position")
    text = serializers.CharField(source="item.criterion.text")
    is_left_behind = serializers.BooleanField()
    is_requested = serializers.BooleanField()
    citations = OldCitationSerializer(many=True)


class RewordSerializer(StrictSerializer, serializers.Serializer[Any]):
    """Items of rubrics whose criteria are to be reworded."""

    items = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=1000)


class RequestsSerializer(serializers.Serializer[Any]):
    """The requests to reword criteria."""

    requests = serializers.ListField(child=serializers.CharField())


@extend_schema(
    methods=["GET"], responses=CitingCriterionSerializer(many=True), parameters=PAGED, operation_id="citations_list"
)
@extend_schema(methods=["POST"], request=RewordSerializer, responses={201: RequestsSerializer})
@api_view(["GET", "POST"])
def citations(request: Request, slug: str, public_id: str) -> Response:
    """List criteria that cite an earlier edition of this document.

    POST: Ask authors to reword the criteria that this edition leaves behind.
    """
    edition = access.get_managed_document(request.user, slug, public_id)
    if request.method == "POST":
        values = valid(RewordSerializer(data=request.data))
        rows = request_revisions(
            edition=edition, items=values["items"], by=cast("User", request.user), at=timezone.now()
        )
        return Response({"requests": [row.public_id for row in rows]}, status=status.HTTP_201_CREATED)
    return page_of(request, citing_criteria(edition), CitingCriterionSerializer)
