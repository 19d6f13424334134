"""API endpoints of rubric sets, for those who run the benchmark: list, make, upload, read, compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, parser_classes
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH
from consilium.core.limits import MAX_DESCRIPTION_LENGTH, MAX_RUBRIC_SET_NAME_LENGTH, MAX_TAG_LENGTH
from consilium.core.model_schemas import described_field
from drafting.models import DraftingRun
from rubrics.access import get_benchmark
from rubrics.api.named import CASE, CASE_ID
from rubrics.api.serializers import ImportSerializer
from rubrics.models import ImportJob
from rubrics.services import create_import
from validation.access import get_rubric_set
from validation.models import RubricSet, RubricSetMend
from validation.sets import comparison, selectors, services
from validation.sets.frames import MAX_TAGS, Frame, frame_of
from validation.sets.storing import SetName

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class FrameSerializer(StrictSerializer, Plain):
    """Which cases a set holds; without a field there is no such condition.

    ``criteria`` (of the gold rubric) and ``axes`` are a number or a range such as 8-10; a case has all of ``tags``.
    """

    criteria = serializers.CharField(max_length=20, required=False, allow_blank=True, default="")
    axes = serializers.CharField(max_length=20, required=False, allow_blank=True, default="")
    language = serializers.CharField(max_length=MAX_LANGUAGE_LENGTH, required=False, allow_blank=True, default="")
    tags = serializers.ListField(
        child=serializers.CharField(max_length=MAX_TAG_LENGTH), max_length=MAX_TAGS, required=False, default=list
    )


class NewRubricSetSerializer(FrameSerializer):
    """A set of the published rubrics of a ``track``, gold by default, of a drafting ``run``, or of generic criteria."""

    name = serializers.CharField(max_length=MAX_RUBRIC_SET_NAME_LENGTH)
    description = serializers.CharField(max_length=MAX_DESCRIPTION_LENGTH, required=False, allow_blank=True, default="")
    source = serializers.ChoiceField(choices=["track", "run", "generic"])  # type: ignore[assignment]
    track = serializers.CharField(max_length=40, required=False)
    run = serializers.CharField(max_length=16, required=False, help_text="The id of a run of drafting that has ended.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a track that would be ignored."""
        if attrs["source"] == "generic" and "track" in attrs:
            raise ValidationError({"track": ["generic criteria have no track"]})
        if attrs["source"] == "run" and "track" in attrs:
            raise ValidationError({"track": ["drafted criteria have no track"]})
        if (attrs["source"] == "run") != ("run" in attrs):
            raise ValidationError({"run": ["give a run with the source run, and with no other"]})
        return attrs


class FrameStepSerializer(Plain):
    """A condition, how many cases meet it alone, and how many together with those before it."""

    condition = serializers.CharField()
    value = serializers.CharField()
    alone = serializers.IntegerField()
    together = serializers.IntegerField()


class SetFrameSerializer(Plain):
    """Which cases a set is over, and how many met each condition."""

    criteria = serializers.CharField(allow_blank=True)
    axes = serializers.CharField(allow_blank=True)
    language = serializers.CharField(allow_blank=True)
    tags = serializers.ListField(child=serializers.CharField())
    funnel = FrameStepSerializer(many=True)


class RubricSetSerializer(Plain):
    """A set; ``digest`` is that of its items and depends on no id."""

    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    description = serializers.CharField()
    origin = serializers.ChoiceField(choices=RubricSet.Origin.choices)
    track = serializers.CharField()
    file_name = serializers.CharField()
    file_digest = serializers.CharField()
    frame = described_field(SetFrameSerializer)
    digest = serializers.CharField()
    cases = serializers.IntegerField(source="case_count")
    items = serializers.IntegerField(source="item_count")
    mends = serializers.IntegerField(source="mend_count")
    split_of = serializers.CharField(
        source="source.public_id",
        allow_null=True,
        help_text="The set whose criteria its items are points of.",
    )
    drafting_run = serializers.CharField(
        source="drafting_run.public_id", allow_null=True, help_text="The run that drafted its criteria."
    )
    unsplit = serializers.IntegerField(source="unsplit_count", help_text="Cases whose criteria stayed as they are.")
    corrected = serializers.IntegerField(source="corrected_count", help_text="Cases whose points an author corrected.")
    created_at = serializers.DateTimeField()


class RubricSetItemSerializer(Plain):
    """A criterion of a case in a set; in a split set a point, with the position of its criterion in the source."""

    case = serializers.CharField(source="case.key", help_text=CASE)
    case_id = serializers.CharField(source="case.public_id", help_text=CASE_ID)
    position = serializers.IntegerField()
    of_criterion = serializers.IntegerField(source="source_item.position", allow_null=True)
    criterion = serializers.CharField(source="text")
    points = serializers.IntegerField()
    axis = serializers.CharField()


class RubricSetMendSerializer(Plain):
    """What was changed in a criterion of the file of a set."""

    line = serializers.IntegerField()
    case = serializers.CharField(source="case.key", help_text=CASE)
    case_id = serializers.CharField(source="case.public_id", help_text=CASE_ID)
    number = serializers.IntegerField()
    field = serializers.CharField()
    how = serializers.ChoiceField(choices=RubricSetMend.How.choices)
    before = serializers.CharField()
    after = serializers.CharField()
    criterion = serializers.CharField(source="text")


class UploadSerializer(StrictSerializer, Plain):
    """A file of a rubric set. The conditions of the frame as in a new set; ``tags`` has one tag a line; ``mend`` is 1.

    Files: HealthBench examples, JSONL with ``rubrics`` or ``generated_rubrics``, a table of criteria (CSV, XLSX).
    """

    file = serializers.FileField(max_length=255)
    name = serializers.CharField(max_length=MAX_RUBRIC_SET_NAME_LENGTH)
    description = serializers.CharField(max_length=MAX_DESCRIPTION_LENGTH, required=False)
    criteria = serializers.CharField(max_length=20, required=False)
    axes = serializers.CharField(max_length=20, required=False)
    language = serializers.CharField(max_length=MAX_LANGUAGE_LENGTH, required=False)
    tags = serializers.CharField(required=False)
    mend = serializers.ChoiceField(choices=["1"], required=False)


class ComparedSerializer(Plain):
    """A measure of two sets; ``difference`` is the second minus the first."""

    measure = serializers.CharField()
    axis = serializers.CharField()
    first = serializers.FloatField(allow_null=True)
    second = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    note = serializers.CharField()


def _track_of(payload: dict[str, Any]) -> str:
    return str(payload.get("track", selectors.GOLD)) if payload["source"] == "track" else ""


def _run_of(request: Request, slug: str, payload: dict[str, Any]) -> DraftingRun | None:
    if payload["source"] != "run":
        return None
    run = selectors.drafting_runs(get_benchmark(request.user, slug)).filter(public_id=payload["run"]).first()
    if run is None:
        raise ValidationError({"run": ["there is no such run of drafting that has ended"]})
    return run


def _frame_of(payload: dict[str, Any]) -> Frame:
    return frame_of(**{name: payload[name] for name in ("criteria", "axes", "language", "tags")})


@extend_schema(
    methods=["GET"], responses=RubricSetSerializer(many=True), parameters=PAGED, operation_id="rubric_sets_list"
)
@extend_schema(
    methods=["POST"],
    request=NewRubricSetSerializer,
    responses={201: RubricSetSerializer},
    operation_id="rubric_sets_create",
)
@api_view(["GET", "POST"])
def rubric_sets(request: Request, slug: str) -> Response:
    """List the rubric sets, the newest first.

    POST: Make a rubric set of published rubrics, drafted or generic criteria.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        sets = selectors.rubric_sets(request.user, benchmark)
        return page_of(request, sets, RubricSetSerializer)
    payload = valid(NewRubricSetSerializer(data=request.data))
    row = services.make_set(
        benchmark=benchmark,
        name=SetName(payload["name"], payload["description"]),
        track=_track_of(payload),
        run=_run_of(request, slug, payload),
        frame=_frame_of(payload),
        by=cast("User", request.user),
        at=timezone.now(),
    )
    return Response(RubricSetSerializer(row).data, status=status.HTTP_201_CREATED)


@extend_schema(
    request=NewRubricSetSerializer, responses=FrameStepSerializer(many=True), operation_id="rubric_sets_frame"
)
@api_view(["POST"])
def frame(request: Request, slug: str) -> Response:
    """Show how many cases each condition of a frame leaves; nothing is made."""
    benchmark = get_benchmark(request.user, slug)
    payload = valid(_FrameOfSource(data=request.data))
    funnel = selectors.funnel(
        benchmark, _frame_of(payload), track=_track_of(payload), run=_run_of(request, slug, payload)
    )
    return Response(FrameStepSerializer(funnel.steps, many=True).data)


class _FrameOfSource(NewRubricSetSerializer):
    """As for a new set, which need not have a name yet."""

    name = serializers.CharField(max_length=MAX_RUBRIC_SET_NAME_LENGTH, required=False)


@extend_schema(
    request={"multipart/form-data": UploadSerializer},
    responses={201: ImportSerializer},
    operation_id="rubric_sets_upload",
)
@api_view(["POST"])
@parser_classes([MultiPartParser])
def upload(request: Request, slug: str) -> Response:
    """Upload a file: a worker makes a set of all of it or of nothing; ask the import how far it is."""
    benchmark = get_benchmark(request.user, slug)
    payload = valid(UploadSerializer(data=request.data))
    job = create_import(
        benchmark=benchmark,
        kind=ImportJob.Kind.RUBRIC_SET,
        file=payload["file"],
        file_name=payload["file"].name or "",
        options={name: value for name, value in payload.items() if name != "file"},
        by=cast("User", request.user),
    )
    return Response(ImportSerializer(job).data, status=status.HTTP_201_CREATED)


@extend_schema(responses=RubricSetSerializer, operation_id="rubric_sets_read")
@api_view(["GET"])
def rubric_set(request: Request, slug: str, public_id: str) -> Response:
    """Show a rubric set."""
    return Response(RubricSetSerializer(get_rubric_set(request.user, slug, public_id)).data)


@extend_schema(responses=RubricSetItemSerializer(many=True), parameters=PAGED, operation_id="rubric_sets_items")
@api_view(["GET"])
def items(request: Request, slug: str, public_id: str) -> Response:
    """List the criteria of a set: cases in the order of import, criteria in theirs."""
    row = get_rubric_set(request.user, slug, public_id)
    return page_of(request, selectors.items_of(row), RubricSetItemSerializer)


@extend_schema(responses=RubricSetMendSerializer(many=True), parameters=PAGED, operation_id="rubric_sets_mends")
@api_view(["GET"])
def mends(request: Request, slug: str, public_id: str) -> Response:
    """List what was corrected in the file of a set."""
    row = get_rubric_set(request.user, slug, public_id)
    return page_of(request, selectors.mends_of(row), RubricSetMendSerializer)


@extend_schema(responses=ComparedSerializer(many=True), operation_id="rubric_sets_compare")
@api_view(["GET"])
def compare(request: Request, slug: str, first: str, second: str) -> Response:
    """Compare two sets, named by their ids.

    All at once: one row for each measure and axis.
    """
    pair = [get_rubric_set(request.user, slug, name) for name in (first, second)]
    result = comparison.compare(*pair)
    return Response(ComparedSerializer([*result.rows, *result.axes], many=True).data)
