"""API endpoints of named slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agreement import access
from agreement.models import NamedSlice
from agreement.scoreboard import subsets
from agreement.scoreboard.case_sets import counted_slices
from agreement.scoreboard.filtered import Matching, SliceFilter, match
from agreement.views.subsets import case_table
from consilium.core.api import StrictSerializer
from consilium.core.commands import CommandSerializer, command_of
from consilium.core.limits import MAX_KEY_LENGTH, MAX_LISTED_NAMES, MAX_SLICE_SLUG_LENGTH, MAX_TITLE_LENGTH
from consilium.core.model_schemas import described_field
from rubrics.access import get_benchmark
from rubrics.models import Case

if TYPE_CHECKING:
    from accounts.models import User


class SliceFilterSerializer(StrictSerializer, CommandSerializer):
    """Which cases a slice keeps; a field that is not given keeps all."""

    commands = (SliceFilter,)


class DrawingSerializer(StrictSerializer, serializers.Serializer[Any]):
    """What a slice is drawn from: the rule (``hard``, or ``above_zero``: cases on which some candidate scores above 0),
    whose scores, which candidates, how many cases (null: all, not for the rule ``hard``). The rule ``filter`` takes a
    ``filter`` of cases, and nothing else.
    """

    rule = serializers.ChoiceField(
        choices=NamedSlice.rules_to_choose(),
        error_messages={
            "invalid_choice": _(
                "The rule must be “hard”, “above_zero” or “filter”. For scores over the criteria of HealthBench "
                "Consensus, use the slice “level:cluster”."
            )
        },
    )
    rater = serializers.CharField(required=False)
    candidates = serializers.ListField(
        child=serializers.CharField(max_length=MAX_KEY_LENGTH),
        allow_empty=False,
        max_length=MAX_LISTED_NAMES,
        required=False,
    )
    n = serializers.IntegerField(min_value=1, max_value=1_000_000, allow_null=True, default=None)
    filter = SliceFilterSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Each rule has its own fields."""
        by_filter = attrs["rule"] == NamedSlice.Rule.FILTER
        of_scores, of_filter = ("rater", "candidates"), ("filter",)
        needed, foreign = (of_filter, of_scores) if by_filter else (of_scores, of_filter)
        required = serializers.Field.default_error_messages["required"]
        faults: dict[str, list[Any]] = {name: [required] for name in needed if name not in attrs}
        faults |= {name: [_("This rule does not take this field.")] for name in foreign if name in attrs}
        if faults:
            raise serializers.ValidationError(faults)
        return attrs

    @property
    def slice_filter(self) -> SliceFilter | None:
        """The filter of the rule ``filter``; None for another rule."""
        data = self.validated_data
        return command_of(SliceFilter, data["filter"]) if data["rule"] == NamedSlice.Rule.FILTER else None

    @property
    def drawing(self) -> dict[str, Any]:
        """What `agreement.scoreboard.subsets.draw` takes."""
        return {name: self.validated_data[name] for name in ("rule", "rater", "candidates", "n")}


class NewSliceSerializer(DrawingSerializer):
    """A slice to be kept. ``slug`` is made from the title where it is missing."""

    title = serializers.CharField(max_length=MAX_TITLE_LENGTH)
    slug = serializers.SlugField(max_length=MAX_SLICE_SLUG_LENGTH, default="")

    @property
    def naming(self) -> dict[str, str]:
        """What the slice is called."""
        return {name: self.validated_data[name] for name in ("title", "slug")}


class MeanSerializer(serializers.Serializer[Any]):
    """The mean score of a candidate over all cases that were looked at, and over those of the slice."""

    candidate = serializers.CharField()
    all = serializers.FloatField()
    taken = serializers.FloatField()
    n_all = serializers.IntegerField()
    n_taken = serializers.IntegerField()


class SliceParametersSerializer(serializers.Serializer[Any]):
    """What a slice was drawn from."""

    rater = serializers.CharField(required=False)
    candidates = serializers.ListField(child=serializers.CharField(), required=False)
    n = serializers.IntegerField(allow_null=True, required=False)
    n_cases = serializers.IntegerField(required=False)
    n_unscored = serializers.IntegerField(required=False)
    n_without_positive = serializers.IntegerField(required=False)
    means = MeanSerializer(many=True, required=False)
    filter = described_field(SliceFilterSerializer, required=False)
    n_excluded = serializers.IntegerField(required=False, help_text="Of the rule “filter”: matching excluded cases.")


class DrawnSerializer(serializers.Serializer[Any]):
    """What the rule takes now, with the mean score of each candidate over all cases and over those.

    By a filter there are no scores: ``filter`` is what would be stored, and ``n_excluded`` matching cases are excluded.
    """

    rater = serializers.CharField(required=False)
    n_taken = serializers.SerializerMethodField()
    n_cases = serializers.IntegerField()
    n_unscored = serializers.IntegerField(required=False)
    n_without_positive = serializers.IntegerField(required=False)
    means = serializers.ListField(child=described_field(MeanSerializer), required=False)
    filter = described_field(SliceFilterSerializer, required=False)
    n_excluded = serializers.IntegerField(required=False)
    cases = serializers.SerializerMethodField()

    def get_n_taken(self, drawn: subsets.Drawn | Matching) -> int:
        return len(drawn.case_ids)

    def get_cases(self, drawn: subsets.Drawn | Matching) -> list[str]:
        return keys_of(drawn.case_ids)


class SliceSerializer(serializers.Serializer[NamedSlice]):
    """A named slice in a list."""

    slug = serializers.CharField()
    title = serializers.CharField()
    rule = serializers.ChoiceField(choices=NamedSlice.Rule.choices)
    parameters = described_field(SliceParametersSerializer)
    n_cases = serializers.IntegerField()
    input_digest = serializers.CharField()
    created_at = serializers.DateTimeField()
    retired_at = serializers.DateTimeField(allow_null=True)


class SliceDetailSerializer(SliceSerializer):
    """A named slice with the keys of its cases."""

    cases = serializers.SerializerMethodField()

    def get_cases(self, named: NamedSlice) -> list[str]:
        return keys_of(named.case_ids)


def keys_of(case_ids: list[int]) -> list[str]:
    """The keys of some cases, in order."""
    return list(Case.objects.filter(pk__in=case_ids).order_by("key").values_list("key", flat=True))


class Slices(APIView):
    """List the named slices of a benchmark.

    All at once: people draw them up one by one.

    POST: Make a slice: it is drawn up at once and kept.
    """

    @extend_schema(responses=SliceSerializer(many=True), operation_id="slices_list")
    def get(self, request: Request, slug: str) -> Response:
        slices = counted_slices(get_benchmark(request.user, slug))
        return Response([SliceSerializer(named_slice).data for named_slice in slices])

    @extend_schema(request=NewSliceSerializer, responses={201: SliceDetailSerializer}, operation_id="slices_create")
    def post(self, request: Request, slug: str) -> Response:
        benchmark = get_benchmark(request.user, slug)
        serializer = NewSliceSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        by_filter = serializer.slice_filter
        given: dict[str, Any] = {**serializer.naming, "by": cast("User", request.user), "at": timezone.now()}
        if by_filter:
            named_slice = subsets.save_filter(benchmark=benchmark, filter=by_filter, **given)
        else:
            named_slice = subsets.draw_up_slice(benchmark=benchmark, **serializer.drawing, **given)
        return Response(SliceDetailSerializer(named_slice).data, status=201)


class SlicePreview(APIView):
    """What a rule would take; nothing is kept."""

    @extend_schema(request=DrawingSerializer, responses=DrawnSerializer, operation_id="slices_preview")
    def post(self, request: Request, slug: str) -> Response:
        benchmark = get_benchmark(request.user, slug)
        serializer = DrawingSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        by_filter = serializer.slice_filter
        if by_filter:
            return Response(DrawnSerializer(match(benchmark=benchmark, filter=by_filter)).data)
        return Response(DrawnSerializer(subsets.draw(benchmark=benchmark, **serializer.drawing)).data)


class SliceDetail(APIView):
    """One named slice."""

    @extend_schema(responses=SliceDetailSerializer, operation_id="slices_retrieve")
    def get(self, request: Request, slug: str, name: str) -> Response:
        return Response(SliceDetailSerializer(access.get_slice(request.user, slug, name)).data)


class SliceCases(APIView):
    """The cases of a named slice as CSV."""

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR}, operation_id="slices_cases")
    def get(self, request: Request, slug: str, name: str) -> HttpResponseBase:
        named = access.get_slice(request.user, slug, name)
        response = StreamingHttpResponse(case_table(named).csv(), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{named.slug}.csv"'
        return response


class SliceRetirement(APIView):
    """Offer a slice no longer; reports that name it are unchanged."""

    @extend_schema(request=None, responses=SliceDetailSerializer, operation_id="slices_retire")
    def post(self, request: Request, slug: str, name: str) -> Response:
        named = access.get_slice(request.user, slug, name)
        subsets.retire_slice(named=named, at=timezone.now())
        named.refresh_from_db()
        return Response(SliceDetailSerializer(named).data)
