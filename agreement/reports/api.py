"""API endpoints of reports: the list, a new one, and of a finished one its files and whether it is stale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agreement import access, services
from agreement.api.parameter_schemas import by_kind
from agreement.models import Report
from agreement.reports import files
from agreement.reports.download_views import WIDTHS, as_file, figure_response, look_of, table_response
from agreement.reports.figures import figures_of
from agreement.reports.freshness import freshness_of
from agreement.reports.methods import methods_of
from agreement.reports.naming import ReportNaming, name_report
from agreement.reports.stored import table_names, table_of
from consilium.core.api import StateField, StrictSerializer
from consilium.core.commands import CommandSerializer
from consilium.core.endpoints import PAGED, Pages
from consilium.core.jobs import JobStatus
from consilium.core.limits import MAX_LISTED_NAMES
from consilium.core.model_schemas import rows_field
from rubrics.access import get_benchmark

if TYPE_CHECKING:
    from accounts.models import User


def _finished(request: Request, slug: str, public_id: str) -> Report:
    report = access.get_report(request.user, slug, public_id)
    if report.status != JobStatus.DONE:
        raise Http404
    return report


class NewReportSerializer(StrictSerializer, serializers.Serializer[Any]):
    """What a new report is about. Each kind has its own parameters."""

    kind = serializers.ChoiceField(choices=Report.Kind.choices)
    parameters = serializers.DictField(child=serializers.JSONField())
    seed = serializers.IntegerField(min_value=0, max_value=services.LARGEST_SEED, default=0)
    interval = serializers.ChoiceField(choices=Report.Interval.choices, default=Report.Interval.JACKKNIFE)

    def validate_parameters(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Refuse long lists before the kind looks each name up."""
        long = [name for name, value in parameters.items() if isinstance(value, list) and len(value) > MAX_LISTED_NAMES]
        if long:
            message = _("At most %(n)s names are allowed.") % {"n": MAX_LISTED_NAMES}
            raise serializers.ValidationError({name: [message] for name in long})
        return parameters


class ReportNamingSerializer(StrictSerializer, CommandSerializer):
    """What people call a report, what they note about it, and whether lists show it."""

    commands = (ReportNaming,)


class ReportSerializer(serializers.Serializer[Report]):
    """A report in a list."""

    id = serializers.CharField(source="public_id")
    kind = serializers.ChoiceField(choices=Report.Kind.choices)
    parameters = serializers.DictField()
    seed = serializers.IntegerField()
    interval = serializers.CharField(help_text="The interval rule; empty in reports from before there was a choice.")
    name = serializers.CharField(help_text="That people gave it; empty for its title.")
    note = serializers.CharField()
    archived_at = serializers.DateTimeField(allow_null=True, help_text="Since when lists on pages do not show it.")
    status = StateField(JobStatus.choices)
    progress = serializers.FloatField()
    error = serializers.CharField()
    input_digest = serializers.CharField()
    software = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class ReportDetailSerializer(ReportSerializer):
    """A report with what it came to: single facts, remarks, and the names of its tables and figures."""

    facts = serializers.SerializerMethodField()
    notes = serializers.SerializerMethodField()
    tables = serializers.SerializerMethodField()
    figures = serializers.SerializerMethodField()

    def get_facts(self, report: Report) -> dict[str, Any]:
        return dict(report.result.get("facts", {}))

    def get_notes(self, report: Report) -> list[str]:
        return list(report.result.get("notes", []))

    def get_tables(self, report: Report) -> list[str]:
        return sorted(table_names(report))

    def get_figures(self, report: Report) -> list[str]:
        return [figure.name for figure in figures_of(report)]


class RecomputedSerializer(serializers.Serializer[Report]):
    """The new report."""

    id = serializers.CharField(source="public_id")
    status = StateField(JobStatus.choices)


# In the schema a report is one of its kinds, which says what its parameters are.
NEW_REPORT = PolymorphicProxySerializer(
    "NewReport", by_kind(NewReportSerializer, "NewReport"), resource_type_field_name="kind"
)
REPORTS = PolymorphicProxySerializer(
    "Report", by_kind(ReportSerializer, "Report"), resource_type_field_name="kind", many=True
)
REPORT_DETAIL = PolymorphicProxySerializer(
    "ReportDetail", by_kind(ReportDetailSerializer, "ReportDetail"), resource_type_field_name="kind"
)


class ChangeSerializer(serializers.Serializer[Any]):
    """How many things of one kind changed: ``in_words`` in the language of the request."""

    what = serializers.CharField()
    n = serializers.IntegerField()
    in_words = serializers.CharField()


class FreshnessSerializer(serializers.Serializer[Any]):
    """``fresh`` is false where the inputs have changed, null where only the record says that something has."""

    fresh = serializers.BooleanField(allow_null=True)
    since = serializers.DateTimeField()
    input_digest = serializers.CharField(help_text="Of what went into the report.")
    digest_now = serializers.CharField(help_text="Of the same as it is now; empty where it cannot be read.")
    changes = ChangeSerializer(many=True)
    reason = serializers.CharField(help_text="Why the inputs cannot be read any more, where they cannot.")


class MethodsSerializer(serializers.Serializer[Any]):
    """The methods paragraph: by paragraphs with the sources they name, and as a whole in three formats."""

    title = serializers.CharField()
    paragraphs = serializers.ListField(child=serializers.CharField())
    sources = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField()
    markdown = serializers.CharField()
    latex = serializers.CharField()


class RowsSerializer(serializers.Serializer[Any]):
    """Rows of a table by column name; an undefined figure is null, its reason in ``note``."""

    columns = serializers.ListField(child=serializers.CharField())
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = rows_field()


class Reports(APIView):
    """Reports of a benchmark, the newest first; a new one is computed by a worker."""

    @extend_schema(
        parameters=[
            *PAGED,
            OpenApiParameter("kind", str, enum=list(Report.Kind.values), description="Only reports of this kind."),
            OpenApiParameter("archived", bool, description="Only reports that are archived, or only the others."),
        ],
        responses=REPORTS,
        operation_id="reports_list",
    )
    def get(self, request: Request, slug: str) -> Response:
        reports = Report.objects.filter(benchmark=get_benchmark(request.user, slug)).defer("result")
        kind = request.query_params.get("kind")
        if kind:
            reports = reports.filter(kind=kind)
        archived = request.query_params.get("archived", "")
        if archived:
            reports = reports.archived() if archived == "true" else reports.current()
        paginator = Pages()
        page = paginator.paginate_queryset(reports, request, view=self) or []
        return paginator.get_paginated_response([ReportSerializer(report).data for report in page])

    @extend_schema(
        request=NEW_REPORT,
        responses={200: REPORT_DETAIL, 201: REPORT_DETAIL},
        operation_id="reports_create",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a report. 200 with the one that is there where exactly the same waits or is being computed."""
        benchmark = get_benchmark(request.user, slug)
        serializer = NewReportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        report, is_new = services.start_report(
            benchmark=benchmark,
            kind=serializer.validated_data["kind"],
            parameters=serializer.validated_data["parameters"],
            seed=serializer.validated_data["seed"],
            interval=serializer.validated_data["interval"],
            by=cast("User", request.user),
            at=timezone.now(),
        )
        return Response(ReportDetailSerializer(report).data, status=201 if is_new else 200)


class ReportDetail(APIView):
    """One report; ask again until ``status`` is finished or failed."""

    @extend_schema(responses=REPORT_DETAIL, operation_id="reports_retrieve")
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        return Response(ReportDetailSerializer(access.get_report(request.user, slug, public_id)).data)

    @extend_schema(request=ReportNamingSerializer, responses=REPORT_DETAIL, operation_id="reports_name")
    def patch(self, request: Request, slug: str, public_id: str) -> Response:
        """Give the report a name or a note, archive it, or restore it; what is not given stays."""
        report = access.get_report(request.user, slug, public_id)
        serializer = ReportNamingSerializer(data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        report = name_report(report=report, changes=serializer.validated_data, at=timezone.now())
        return Response(ReportDetailSerializer(report).data)


class Freshness(APIView):
    """Whether a report still says what it would say now: its inputs are read and hashed again."""

    @extend_schema(responses=FreshnessSerializer, operation_id="reports_freshness")
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        report = _finished(request, slug, public_id)
        freshness = freshness_of(report)
        payload = {
            "fresh": freshness.fresh,
            "since": freshness.since,
            "input_digest": report.input_digest,
            "digest_now": freshness.digest,
            "changes": freshness.changes,
            "reason": freshness.reason,
        }
        return Response(FreshnessSerializer(payload).data)


class Methods(APIView):
    """How the figures of a report came about, in English, for the methods section of a paper."""

    @extend_schema(responses=MethodsSerializer, operation_id="reports_methods")
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        return Response(MethodsSerializer(methods_of(_finished(request, slug, public_id))).data)


class _Pages(Pages):
    default_limit = 500
    max_limit = 5000


class TableRows(APIView):
    """The rows of a table of a report as JSON, a page at a time."""

    @extend_schema(
        responses=RowsSerializer,
        operation_id="reports_table_rows",
        parameters=_Pages.parameters(),
    )
    def get(self, request: Request, slug: str, public_id: str, name: str) -> Response:
        try:
            table = table_of(_finished(request, slug, public_id), name)
        except KeyError:
            raise Http404 from None
        pages = _Pages()
        pages.request, pages.count = request, len(table.rows)
        pages.limit, pages.offset = pages.get_limit(request), pages.get_offset(request)
        rows = table.rows[pages.offset : pages.offset + pages.limit]
        return Response(
            {
                "columns": list(table.columns),
                "count": pages.count,
                "next": pages.get_next_link(),
                "previous": pages.get_previous_link(),
                "results": [dict(zip(table.columns, row, strict=True)) for row in rows],
            }
        )


class TableFile(APIView):
    """A table of a report as a file: ``csv`` byte for byte as the page and the command write it, ``xlsx``, ``tex``,
    ``md`` or ``dta`` (Stata), and ``parquet`` where the server has pyarrow.
    """

    @extend_schema(
        responses={
            (200, each.content_type.partition(";")[0]): OpenApiTypes.BINARY for each in files.TABLE_FORMATS.values()
        },
        parameters=[OpenApiParameter("ending", str, "path", enum=list(files.TABLE_FORMATS))],
        operation_id="reports_table",
    )
    def get(self, request: Request, slug: str, public_id: str, name: str, ending: str) -> HttpResponseBase:
        return table_response(_finished(request, slug, public_id), name, ending)


class FigureFile(APIView):
    """A figure of a report as ``svg``, ``png`` (300 dots an inch) or ``pdf``, with real colours."""

    @extend_schema(
        responses={(200, kind): OpenApiTypes.BINARY for kind in files.FIGURE_TYPES.values()},
        parameters=[
            OpenApiParameter("ending", str, "path", enum=list(files.FIGURE_TYPES)),
            OpenApiParameter("width", int, enum=list(WIDTHS), description="In millimetres: one column, or two."),
            OpenApiParameter("grey", int, enum=[1], description="1 for greys."),
        ],
        operation_id="reports_figure",
    )
    def get(self, request: Request, slug: str, public_id: str, name: str, ending: str) -> HttpResponse:
        report = _finished(request, slug, public_id)
        look = look_of(request.query_params)
        if look is None:
            raise serializers.ValidationError(
                {"width": [_("“width” must be 85 or 174 (millimetres), and “grey” must be 1.")]}
            )
        return figure_response(report, name, ending, look)


class Archive(APIView):
    """Tables, figures, methods and what it takes to get them again, as one ZIP: the same bytes each time."""

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY}, operation_id="reports_archive")
    def get(self, request: Request, slug: str, public_id: str) -> FileResponse:
        report = _finished(request, slug, public_id)
        return as_file(files.archive(report), f"{report.kind}-{report.public_id}.zip", "application/zip")


class Workbook(APIView):
    """All tables of a report as one workbook (XLSX)."""

    @extend_schema(responses={(200, files.XLSX_TYPE): OpenApiTypes.BINARY}, operation_id="reports_workbook")
    def get(self, request: Request, slug: str, public_id: str) -> FileResponse:
        report = _finished(request, slug, public_id)
        return as_file(files.workbook(report), f"{report.kind}-{report.public_id}.xlsx", files.XLSX_TYPE)


class Recompute(APIView):
    """Compute a report once more, as a new one: what was computed before stays."""

    @extend_schema(request=None, responses={201: RecomputedSerializer}, operation_id="reports_recompute")
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        report = access.get_report(request.user, slug, public_id)
        new_report = services.recompute_report(report=report, by=cast("User", request.user), at=timezone.now())
        return Response(RecomputedSerializer(new_report).data, status=201)
