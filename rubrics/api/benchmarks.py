"""API endpoints of benchmarks, cases, candidates, responses and imports, for those who run the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import api_view, parser_classes
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.second_step import closed_benchmarks
from accounts.token_scopes import bound_benchmark
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.filters import checked, declared
from rubrics import access, models, services
from rubrics.api import serializers
from rubrics.api.named import named_candidate, named_case
from rubrics.forms import CaseFilters
from rubrics.selectors import lists
from rubrics.selectors.attributes import attributes_of
from rubrics.services.attribute_values import AttributeValues

if TYPE_CHECKING:
    from accounts.models import User


def me(request: Request) -> User:
    """Who asks: endpoints are open to signed-in people alone."""
    return cast("User", request.user)


@extend_schema(
    methods=["GET"],
    responses=serializers.BenchmarkSerializer(many=True),
    parameters=PAGED,
    operation_id="benchmarks_list",
)
@extend_schema(
    methods=["POST"],
    request=serializers.NewBenchmarkSerializer,
    responses={201: serializers.BenchmarkSerializer},
)
@api_view(["GET", "POST"])
def benchmarks(request: Request) -> Response:
    """List the benchmarks that you run, but those that require a second step of you that you have not set up.

    POST: Make a benchmark (staff).
    """
    if request.method == "GET":
        rows = models.Benchmark.objects.run_by(request.user).exclude(slug__in=closed_benchmarks(request))
        rows = rows.order_by("slug")
        if bound := bound_benchmark(request):
            rows = rows.filter(slug=bound)
        return page_of(request, rows, serializers.BenchmarkSerializer)
    if not me(request).is_staff:
        raise PermissionDenied(_("Only people who administer the server can create a benchmark."))
    benchmark = services.create_benchmark(
        by=me(request), **valid(serializers.NewBenchmarkSerializer(data=request.data))
    )
    return Response(serializers.BenchmarkSerializer(benchmark).data, status=status.HTTP_201_CREATED)


@extend_schema(methods=["GET"], responses=serializers.BenchmarkSerializer)
@extend_schema(methods=["PATCH"], request=serializers.BenchmarkSerializer, responses=serializers.BenchmarkSerializer)
@api_view(["GET", "PATCH"])
def benchmark(request: Request, slug: str) -> Response:
    """Show a benchmark.

    PATCH: Change what describes a benchmark (admin).
    """
    if request.method == "GET":
        return Response(serializers.BenchmarkSerializer(access.get_benchmark(request.user, slug)).data)
    benchmark = access.get_administered_benchmark(request.user, slug)
    changes = valid(serializers.BenchmarkSerializer(data=request.data, partial=True))
    stored = {
        name: getattr(benchmark, name) for name in ("title", "description", "guidelines", "rule_sheet", "licence")
    }
    services.update_benchmark(benchmark=benchmark, **{**stored, **changes})
    return Response(serializers.BenchmarkSerializer(benchmark).data)


CASE_SORTS = [f"{sign}{name}" for name in lists.CASE_ORDERS for sign in ("", "-")]
CASE_FILTERS = [
    *declared(
        CaseFilters,
        {
            "q": "Words of the conversation, or a part of the short name.",
            "difficulty": "Only cases of this difficulty; `none` for those without one.",
            "register": "Only cases asked in this register; `none` for those without one.",
            "language": "Only cases in this language, a tag such as `en`; `none` for those without one.",
            "tag": "Only cases with this tag.",
            "state": "Only cases whose rubric is in this state.",
        },
    ),
    OpenApiParameter("sort", str, enum=CASE_SORTS, description="Order; `-` reverses it. Default `key`."),
]


@extend_schema(
    responses=serializers.CaseSerializer(many=True),
    parameters=[*PAGED, *CASE_FILTERS],
    operation_id="cases_list",
)
@api_view(["GET"])
def cases(request: Request, slug: str) -> Response:
    """List the cases."""
    benchmark = access.get_benchmark(request.user, slug)
    chosen = checked(CaseFilters(request.query_params, benchmark=benchmark))
    sort = request.query_params.get("sort") or "key"
    narrowed = lists.narrowed(lists.listed_cases(benchmark), chosen)
    return page_of(request, lists.in_order(narrowed, sort, lists.CASE_ORDERS, "key"), serializers.CaseSerializer)


@extend_schema(responses=serializers.CaseDetailSerializer)
@api_view(["GET"])
def case(request: Request, slug: str, public_id: str) -> Response:
    """Show a case with its conversation and criteria."""
    return Response(serializers.CaseDetailSerializer(access.get_case(request.user, slug, public_id)).data)


@extend_schema(responses=serializers.CandidateSerializer(many=True), parameters=PAGED, operation_id="candidates_list")
@api_view(["GET"])
def candidates(request: Request, slug: str) -> Response:
    """List the candidates."""
    benchmark = access.get_benchmark(request.user, slug)
    return page_of(request, lists.listed_candidates(benchmark).order_by("name"), serializers.CandidateSerializer)


@extend_schema(responses=serializers.CandidateSerializer)
@api_view(["GET"])
def candidate(request: Request, slug: str, public_id: str) -> Response:
    """Show a candidate."""
    candidate = access.get_candidate(request.user, slug, public_id)
    return Response(
        serializers.CandidateSerializer(lists.listed_candidates(candidate.benchmark).get(pk=candidate.pk)).data
    )


@extend_schema(
    methods=["GET"], responses=serializers.AttributesSerializer, operation_id="candidate_attributes_retrieve"
)
@extend_schema(
    methods=["PUT"],
    request=serializers.AttributesSerializer,
    responses=serializers.AttributesSerializer,
    operation_id="candidate_attributes_update",
)
@api_view(["GET", "PUT"])
def candidate_attributes(request: Request, slug: str, public_id: str) -> Response:
    """Show the attributes of a candidate.

    PUT: Replace them all; an attribute that is not given becomes unknown.
    """
    candidate = access.get_candidate(request.user, slug, public_id)
    if request.method == "PUT":
        payload = valid(serializers.AttributesSerializer(data=request.data))
        services.set_attributes(
            candidate=candidate, values=AttributeValues(**payload), by=me(request), at=timezone.now()
        )
    return Response(
        serializers.AttributesSerializer(attributes_of(access.get_candidate(request.user, slug, public_id))).data
    )


@extend_schema(
    methods=["GET"],
    responses=serializers.ResponseSerializer(many=True),
    parameters=[
        *PAGED,
        OpenApiParameter("candidate", str, description="name of a candidate"),
        OpenApiParameter("case", str, description="key or id of a case"),
    ],
    operation_id="responses_list",
)
@extend_schema(
    methods=["POST"],
    request=serializers.NewResponsesSerializer,
    responses={201: serializers.CountsSerializer},
)
@api_view(["GET", "POST"])
def responses(request: Request, slug: str) -> Response:
    """List responses.

    POST: Add responses: all or none. The line of an error is the place in the list, from 1.
    """
    benchmark = access.get_benchmark(request.user, slug)
    if request.method == "GET":
        listed = models.Response.objects.filter(case__benchmark=benchmark).select_related("case", "candidate")
        if name := request.query_params.get("candidate"):
            listed = listed.filter(candidate=named_candidate(benchmark.candidates.all(), name))
        if key := request.query_params.get("case"):
            listed = listed.filter(case=named_case(models.Case.objects.filter(benchmark=benchmark), key))
        return page_of(request, listed.order_by("pk"), serializers.ResponseSerializer)
    payload = valid(serializers.NewResponsesSerializer(data=request.data))
    counts = services.add_responses(
        benchmark=benchmark,
        rows=payload["responses"],
        candidate_kind=payload.get("candidate_kind", ""),
        by=me(request),
        at=timezone.now(),
    )
    return Response({"counts": counts}, status=status.HTTP_201_CREATED)


@extend_schema(responses=serializers.ResponseSerializer)
@api_view(["GET"])
def response(request: Request, slug: str, public_id: str) -> Response:
    """Show a response."""
    return Response(serializers.ResponseSerializer(access.get_response(request.user, slug, public_id)).data)


@extend_schema(
    methods=["GET"], responses=serializers.ImportSerializer(many=True), parameters=PAGED, operation_id="imports_list"
)
@extend_schema(
    methods=["POST"],
    request={"multipart/form-data": serializers.NewImportSerializer},
    responses={201: serializers.ImportSerializer},
)
@api_view(["GET", "POST"])
@parser_classes([MultiPartParser])
def imports(request: Request, slug: str) -> Response:
    """List the imports.

    POST: Upload a file to import. A worker imports all of it or nothing; ask the import how far it is.
    """
    benchmark = access.get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, models.ImportJob.objects.filter(benchmark=benchmark), serializers.ImportSerializer)
    payload = valid(serializers.NewImportSerializer(data=request.data))
    job = services.create_import(
        benchmark=benchmark,
        kind=payload["kind"],
        file=payload["file"],
        file_name=payload["file"].name or "",
        options=_options(payload),
        by=me(request),
    )
    return Response(serializers.ImportSerializer(job).data, status=status.HTTP_201_CREATED)


def _options(payload: dict[str, Any]) -> dict[str, str]:
    """The options of an import as they are stored: texts; what is off is left out."""
    given = {name: value for name, value in payload.items() if name not in ("kind", "file")}
    return {name: "1" if value is True else str(value) for name, value in given.items() if value is not False}


@extend_schema(responses=serializers.ImportSerializer)
@api_view(["GET"])
def import_job(request: Request, slug: str, public_id: str) -> Response:
    """Show an import: how far it is, what it created, or what is wrong with the file."""
    return Response(serializers.ImportSerializer(access.get_import(request.user, slug, public_id)).data)


@extend_schema(request=None, responses=serializers.ImportSerializer)
@api_view(["POST"])
def import_restart(request: Request, slug: str, public_id: str) -> Response:
    """Try a refused or failed import again."""
    job = access.get_import(request.user, slug, public_id)
    services.restart_import(job=job)
    return Response(serializers.ImportSerializer(job).data)
