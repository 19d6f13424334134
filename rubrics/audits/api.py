"""API endpoints of audits: reading them for those who run the benchmark, drawing one for admins."""

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
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH
from consilium.core.limits import MAX_TAG_LENGTH, MAX_TITLE_LENGTH
from consilium.core.model_schemas import described_field
from rubrics.access import get_administered_benchmark, get_benchmark
from rubrics.audits import access, report
from rubrics.audits.drawing import ALL, STATES, CaseFilter
from rubrics.audits.findings import Rate
from rubrics.audits.services import LARGEST_SEED, MAX_AUDITORS, AuditTerms, start_audit
from rubrics.models import CaseAudit, Difficulty, Register

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class AuditFilterSerializer(Plain):
    """Which cases an audit was drawn from; what is not there left nothing out."""

    state = serializers.ChoiceField(choices=STATES)
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    difficulties = serializers.ListField(child=serializers.CharField(), required=False)
    registers = serializers.ListField(child=serializers.CharField(), required=False)
    languages = serializers.ListField(child=serializers.CharField(), required=False)


class AuditSerializer(Plain):
    """An audit; ``readings`` are asked, ``done`` of them submitted."""

    id = serializers.CharField(source="public_id")
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=CaseAudit.Status.choices)
    share = serializers.FloatField()
    seed = serializers.IntegerField()
    auditors_per_case = serializers.IntegerField()
    in_frame = serializers.IntegerField(source="frame.in_frame")
    drawn = serializers.IntegerField(source="frame.drawn")
    filter = described_field(AuditFilterSerializer, source="frame.filter")
    readings = serializers.IntegerField(source="n_items")
    done = serializers.IntegerField(source="n_done")
    created_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)


class AuditRateSerializer(Plain):
    """A rate with its Clopper–Pearson interval and the bounds of how many of the frame's cases it applies to."""

    what = serializers.CharField(source="name")
    n_defective = serializers.IntegerField(source="hits")
    n_read = serializers.IntegerField(source="n")
    n_in_frame = serializers.IntegerField(source="in_frame")
    rate = serializers.FloatField(source="figure.value", allow_null=True)
    low = serializers.FloatField(source="figure.low", allow_null=True)
    high = serializers.FloatField(source="figure.high", allow_null=True)
    least_in_frame = serializers.SerializerMethodField()
    greatest_in_frame = serializers.SerializerMethodField()
    note = serializers.CharField(source="figure.note")

    def get_least_in_frame(self, rate: Rate) -> int | None:
        """The minimum number of cases of the frame."""
        return rate.bounds[0] if rate.bounds else None

    def get_greatest_in_frame(self, rate: Rate) -> int | None:
        """The maximum number of cases of the frame."""
        return rate.bounds[1] if rate.bounds else None


class AuditDetailSerializer(AuditSerializer):
    """An audit with the rates found so far."""

    rates = AuditRateSerializer(many=True)


class NewAuditSerializer(StrictSerializer, Plain):
    """How an audit is drawn; ``share`` from 0 to 1."""

    title = serializers.CharField(max_length=MAX_TITLE_LENGTH)
    share = serializers.FloatField(min_value=0.000001, max_value=1, default=0.2)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST_SEED, default=1)
    auditors_per_case = serializers.IntegerField(min_value=1, max_value=MAX_AUDITORS, default=1)
    state = serializers.ChoiceField(choices=STATES, default=ALL)
    tags = serializers.ListField(child=serializers.CharField(max_length=MAX_TAG_LENGTH), max_length=100, default=list)
    difficulties = serializers.ListField(child=serializers.ChoiceField(choices=Difficulty.choices), default=list)
    registers = serializers.ListField(child=serializers.ChoiceField(choices=Register.choices), default=list)
    languages = serializers.ListField(
        child=serializers.CharField(max_length=MAX_LANGUAGE_LENGTH), max_length=100, default=list
    )


def _detail(audit: CaseAudit) -> dict[str, Any]:
    row = report.counted(CaseAudit.objects.filter(pk=audit.pk)).get()
    row.rates = report.report_of(row).rates  # type: ignore[attr-defined]
    return dict(AuditDetailSerializer(row).data)


@extend_schema(methods=["GET"], responses=AuditSerializer(many=True), parameters=PAGED, operation_id="audits_list")
@extend_schema(
    methods=["POST"],
    request=NewAuditSerializer,
    responses={200: AuditDetailSerializer, 201: AuditDetailSerializer},
    operation_id="audits_create",
)
@api_view(["GET", "POST"])
def audits(request: Request, slug: str) -> Response:
    """List the audits.

    POST: Draw an audit (admin): the same seed draws the same cases from the same benchmark anywhere.
    """
    if request.method == "GET":
        benchmark = get_benchmark(request.user, slug)
        audits = report.counted(CaseAudit.objects.filter(benchmark=benchmark)).order_by("-created_at", "-pk")
        return page_of(request, audits, AuditSerializer)
    benchmark = get_administered_benchmark(request.user, slug)
    payload = dict(valid(NewAuditSerializer(data=request.data)))
    chosen = CaseFilter(**{name: payload.pop(name) for name in CaseFilter.__dataclass_fields__})
    terms = AuditTerms(**payload, filter=chosen)
    row, is_new = start_audit(benchmark=benchmark, terms=terms, by=cast("User", request.user), at=timezone.now())
    return Response(_detail(row), status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)


@extend_schema(responses=AuditDetailSerializer)
@api_view(["GET"])
def audit(request: Request, slug: str, public_id: str) -> Response:
    """Show an audit with its rates."""
    return Response(_detail(access.get_audit(request.user, slug, public_id)))
