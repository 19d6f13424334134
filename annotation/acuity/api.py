"""API endpoints of reference sets, for staff."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.acuity import selectors
from annotation.api.serializers import Plain
from annotation.models import ReferenceItem
from consilium.core.endpoints import PAGED, page_of
from rubrics.access import get_benchmark
from rubrics.api.named import CASE


class ReferenceSetSerializer(Plain):
    """A signed reference set, and how many of its cases have each status."""

    number = serializers.IntegerField()
    scale = serializers.CharField()
    datasets = serializers.CharField(help_text="Names, by blanks.")
    ambiguous_rule = serializers.CharField(help_text="The rule and its threshold, such as dispersion:0.75.")
    minimum_votes = serializers.IntegerField()
    round = serializers.ChoiceField(["1", "last"], help_text="Which votes give the references of panels.")
    counts = serializers.DictField(child=serializers.IntegerField())
    signed_by = serializers.CharField()
    signed_at = serializers.CharField()
    digest = serializers.CharField()
    imported_from = serializers.CharField()
    note = serializers.CharField()


class ReferenceItemSerializer(Plain):
    """The reference of a case; figures of the panel are null without votes."""

    case = serializers.CharField(help_text=CASE)
    status = serializers.ChoiceField(choices=ReferenceItem.Status.choices)
    source = serializers.CharField()  # type: ignore[assignment]  # DRF has an attribute of this name, too
    low = serializers.CharField(allow_blank=True)
    high = serializers.CharField(allow_blank=True)
    m = serializers.IntegerField()
    n_cannot_tell = serializers.IntegerField()
    certainty = serializers.FloatField(allow_null=True)
    dispersion = serializers.FloatField(allow_null=True)
    entropy = serializers.FloatField(allow_null=True)
    round = serializers.IntegerField(allow_null=True, help_text="Of a panel: the round that its reference comes from.")
    m_last = serializers.IntegerField(allow_null=True, help_text="Votes of round 2, where the reference comes from it.")
    distribution = serializers.DictField(child=serializers.FloatField(allow_null=True))


@extend_schema(parameters=PAGED, responses=ReferenceSetSerializer(many=True))
@api_view(["GET"])
def reference_sets(request: Request, slug: str) -> Response:
    """The reference sets of a benchmark, the newest first."""
    benchmark = get_benchmark(request.user, slug)
    statuses = ReferenceItem.Status.values
    rows = [{**row, "counts": {status: row[status] for status in statuses}} for row in selectors.set_rows(benchmark)]
    return page_of(request, rows, ReferenceSetSerializer)


@extend_schema(parameters=PAGED, responses=ReferenceItemSerializer(many=True))
@api_view(["GET"])
def reference_items(request: Request, slug: str, number: int) -> Response:
    """The cases of a reference set, by key."""
    reference_set = access.get_reference_set(request.user, slug, number)
    rows = [
        {**row, "distribution": {name[2:]: value for name, value in row.items() if name.startswith("q_")}}
        for row in selectors.item_rows(reference_set)
    ]
    return page_of(request, rows, ReferenceItemSerializer)
