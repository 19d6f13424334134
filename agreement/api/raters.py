"""API endpoint of the raters of a benchmark."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agreement.selectors.rater_choices import rater_choices
from rubrics.access import get_benchmark


class OfferSerializer(serializers.Serializer[Any]):
    """A rater that has decisions: its name as commands and reports take it. ``note`` is there where older runs of a
    judge contain more than the runs that its name means.
    """

    rater = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]  # a field of that name, not the attribute of Field
        help_text="For people: in the language of the request. `rater` is the same in every language."
    )
    kind = serializers.ChoiceField(choices=["group", "consensus", "judge", "jury", "run", "physician"])
    note = serializers.CharField(required=False)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown = super().to_representation(instance)
        return shown if shown["note"] else {name: value for name, value in shown.items() if name != "note"}


class Raters(APIView):
    """The raters of a benchmark that have decisions.

    All at once: a few for each group and judge, and one for each physician and run.
    """

    @extend_schema(responses=OfferSerializer(many=True), operation_id="raters_list")
    def get(self, request: Request, slug: str) -> Response:
        rater_offers = rater_choices(get_benchmark(request.user, slug))
        return Response(OfferSerializer(rater_offers, many=True).data)
