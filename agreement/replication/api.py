"""API endpoints of replications: the papers, what can be made of each, a new replication, and its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.http import FileResponse, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agreement.calibration.thresholds import LARGEST_K
from agreement.forms import LARGEST_SEED
from agreement.models import Replication, Report
from agreement.replication import services, views
from agreement.replication.building import State
from agreement.replication.choosing import Options
from agreement.replication.files import artefact_rows, made_of, packed, published_table
from agreement.replication.papers import PAPERS
from agreement.replication.published import MAX_ROW_LENGTH, MAX_VALUE_LENGTH, MAX_VALUES, published_rows
from agreement.reports.download_views import as_file
from consilium.core.api import StateField, StrictSerializer
from consilium.core.endpoints import PAGED, Pages
from consilium.core.jobs import JobStatus
from consilium.core.limits import MAX_KEY_LENGTH, MAX_LISTED_NAMES, MAX_RATER_LENGTH, MAX_URL_LENGTH
from rubrics.access import get_benchmark
from rubrics.models import Benchmark

if TYPE_CHECKING:
    from accounts.models import User


class ArtefactSerializer(serializers.Serializer[Any]):
    """A table or figure of a paper: ``missing`` and ``next_step`` say why it is not made, and how to get it.

    Drawings and texts of the paper have the state ``not made from data``.
    """

    artefact = serializers.CharField()
    place = serializers.CharField(help_text="Where it is in the paper; empty where that is not known for certain.")
    form = serializers.ChoiceField(choices=("table", "figure"))
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=[str(state) for state in State])
    kind = serializers.CharField(help_text="The kind of report that it is made of; empty for none.")
    reports = serializers.CharField(help_text="The ids of its reports, separated by spaces.")
    missing = serializers.CharField()
    next_step = serializers.CharField()
    files = serializers.CharField(help_text="Its files in the ZIP, separated by spaces.")


class PaperSerializer(serializers.Serializer[Any]):
    """A paper, and the state of each of its tables and figures: as made last, else what can be made."""

    paper = serializers.ChoiceField(choices=Replication.Paper.choices)
    title = serializers.CharField()
    citation = serializers.CharField()
    replication = serializers.CharField(allow_null=True, help_text="The newest that is done.")
    artefacts = ArtefactSerializer(many=True)


@extend_schema_field({"oneOf": [{"type": "number"}, {"type": "string", "maxLength": MAX_VALUE_LENGTH}]})
class PublishedValueField(serializers.Field[Any, Any, Any, Any]):
    """A number, or text as it stands in a file of published values: ``"71%"``."""

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, bool) or not isinstance(data, int | float | str) or len(str(data)) > MAX_VALUE_LENGTH:
            raise serializers.ValidationError(_("Write a number, or text with a number and a percent sign."))
        return str(data)

    def to_representation(self, value: Any) -> Any:
        return value


class PublishedSerializer(StrictSerializer, serializers.Serializer[Any]):
    """A value of the paper: of which artefact, row and column of its table, and its source.

    ``value`` is a number in the unit of its column, or text with a percent sign as in a file: ``"0.4%"`` is 0.4 in a
    column on a scale of 100, where the number 0.4 is refused.
    """

    artefact = serializers.CharField(max_length=MAX_KEY_LENGTH)
    row = serializers.CharField(max_length=MAX_ROW_LENGTH)
    column = serializers.CharField(max_length=MAX_KEY_LENGTH)
    value = PublishedValueField()
    source = serializers.CharField(  # type: ignore[assignment]  # every field of REST framework has a source
        max_length=MAX_URL_LENGTH, default="", allow_blank=True
    )


class NewReplicationSerializer(StrictSerializer, serializers.Serializer[Any]):
    """Which paper, and what is chosen in place of the usual.

    Without ``published`` the values stay that were given to the newest replication of the paper.
    """

    paper = serializers.ChoiceField(choices=Replication.Paper.choices)
    judges = serializers.ListField(
        child=serializers.CharField(max_length=MAX_RATER_LENGTH), max_length=MAX_LISTED_NAMES, default=list
    )
    groups = serializers.ListField(
        child=serializers.CharField(max_length=MAX_RATER_LENGTH), max_length=MAX_LISTED_NAMES, default=list
    )
    candidate = serializers.CharField(max_length=MAX_KEY_LENGTH, default="", allow_blank=True)
    k = serializers.IntegerField(min_value=1, max_value=LARGEST_K, allow_null=True, default=None)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST_SEED, default=0)
    interval = serializers.ChoiceField(choices=Report.Interval.choices, default=Report.Interval.JACKKNIFE)
    published = serializers.ListField(child=PublishedSerializer(), max_length=MAX_VALUES, required=False)


class ReplicationOptionsSerializer(serializers.Serializer[Any]):
    """What was chosen in place of the usual; ``k`` is 0 and the others are empty where nothing was."""

    judges = serializers.ListField(child=serializers.CharField())
    groups = serializers.ListField(child=serializers.CharField())
    candidate = serializers.CharField()
    k = serializers.IntegerField()
    seed = serializers.IntegerField()
    interval = serializers.ChoiceField(choices=Report.Interval.choices)


class ReplicationSerializer(serializers.Serializer[Replication]):
    """A replication; ask again until ``status`` is finished or failed."""

    id = serializers.CharField(source="public_id")
    paper = serializers.ChoiceField(choices=Replication.Paper.choices)
    options = ReplicationOptionsSerializer()
    status = StateField(JobStatus.choices)
    progress = serializers.FloatField()
    error = serializers.CharField()
    software = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class ReplicationDetailSerializer(ReplicationSerializer):
    """A replication with the state of each table and figure."""

    artefacts = serializers.SerializerMethodField()

    @extend_schema_field(ArtefactSerializer(many=True))
    def get_artefacts(self, replication: Replication) -> list[dict[str, Any]]:
        rows = artefact_rows(replication, made_of(replication))
        return [dict(ArtefactSerializer(row).data) for row in rows]


def _paper(benchmark: Benchmark, key: str) -> dict[str, Any]:
    paper = PAPERS[key]
    done = services.newest_replication(benchmark, key, JobStatus.DONE)
    statuses = made_of(done) if done else views.plan_of(benchmark, key)
    return {
        "paper": key,
        "title": paper.title,
        "citation": paper.citation,
        "replication": done.public_id if done else None,
        "artefacts": list(artefact_rows(done or Replication(benchmark=benchmark, paper=key), statuses)),
    }


class Papers(APIView):
    """List the papers whose tables and figures can be made, with the state of each.

    All at once: there are four papers.
    """

    pagination_class = None

    @extend_schema(
        parameters=[OpenApiParameter("paper", str, enum=list(PAPERS), description="Only this paper.")],
        responses=PaperSerializer(many=True),
        operation_id="replication_papers",
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = get_benchmark(request.user, slug)
        chosen = request.query_params.get("paper")
        papers = [_paper(benchmark, key) for key in PAPERS if chosen in (None, "", key)]
        return Response(PaperSerializer(papers, many=True).data)


class Replications(APIView):
    """Replications of a benchmark, the newest first; a new one is made by a worker."""

    @extend_schema(parameters=PAGED, responses=ReplicationSerializer(many=True), operation_id="replications_list")
    def get(self, request: Request, slug: str) -> Response:
        rows = Replication.objects.filter(benchmark=get_benchmark(request.user, slug)).defer("result")
        paginator = Pages()
        page = paginator.paginate_queryset(rows, request, view=self) or []
        return paginator.get_paginated_response([ReplicationSerializer(row).data for row in page])

    @extend_schema(
        request=NewReplicationSerializer,
        responses={200: ReplicationDetailSerializer, 201: ReplicationDetailSerializer},
        operation_id="replications_create",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a replication. 200 with the one that is there where exactly the same waits or is being made."""
        benchmark = get_benchmark(request.user, slug)
        serializer = NewReplicationSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        given = serializer.validated_data
        values = given.get("published")
        replication, is_new = services.start_replication(
            benchmark=benchmark,
            paper=given["paper"],
            options=Options(
                judges=tuple(given["judges"]),
                groups=tuple(given["groups"]),
                candidate=given["candidate"],
                k=given["k"] or 0,
                seed=given["seed"],
                interval=given["interval"],
            ),
            published=None if values is None else published_rows(values, PAPERS[given["paper"]]),
            by=cast("User", request.user),
            at=timezone.now(),
        )
        return Response(ReplicationDetailSerializer(replication).data, status=201 if is_new else 200)


class ReplicationDetail(APIView):
    """One replication."""

    @extend_schema(responses=ReplicationDetailSerializer, operation_id="replications_retrieve")
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        return Response(ReplicationDetailSerializer(views.get_replication(request.user, slug, public_id)).data)


class Archive(APIView):
    """All files of a replication as one ZIP."""

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY}, operation_id="replications_archive")
    def get(self, request: Request, slug: str, public_id: str) -> FileResponse:
        replication = views.finished(request.user, slug, public_id)
        return as_file(packed(replication), views.archive_name(replication), "application/zip")


class Published(APIView):
    """Values of the paper beside those made here."""

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR}, operation_id="replications_published")
    def get(self, request: Request, slug: str, public_id: str) -> HttpResponseBase:
        replication = views.finished(request.user, slug, public_id)
        return views.csv_of(published_table(replication, made_of(replication)), "published")


class ArtefactTable(APIView):
    """The table of one artefact as CSV."""

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR}, operation_id="replications_table")
    def get(self, request: Request, slug: str, public_id: str, name: str) -> HttpResponseBase:
        return views.csv_of(views.table_called(views.finished(request.user, slug, public_id), name), name)
