"""API endpoints of the banks, for authors and those who run the benchmark; files go in through the imports."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.endpoints import PAGED, page_of
from consilium.core.filters import checked, declared
from consilium.core.parameters import one_of
from rubrics import access
from rubrics.bank import catalogue
from rubrics.bank.catalogue import BankQuery
from rubrics.bank.consensus import NAME
from rubrics.bank.forms import BankFilters
from rubrics.bank.usage import Usage, usage
from rubrics.models import Bank
from rubrics.parsing.bank import BankEntry, in_language

FILTERS = declared(
    BankFilters,
    {
        "q": "Words of the criterion, in English or Chinese.",
        "section": "Only criteria of this section, as the items name it.",
        "points": "Only criteria that give points, or that take points away.",
        "only": "Only criteria of this kind: `cluster` for those of the consensus bank's clusters.",
        "bank": f"Only criteria of the bank with this short name; `{NAME}` is the consensus bank.",
    },
)
Plain = serializers.Serializer[Any]


class UsageSerializer(Plain):
    """In how many rubrics of the benchmark an item is."""

    published = serializers.IntegerField()
    drafts = serializers.IntegerField()


class BankItemSerializer(Plain):
    """A criterion of a bank; texts by language."""

    bank = serializers.CharField()
    key = serializers.CharField()
    section = serializers.CharField()
    text = serializers.DictField(child=serializers.CharField())
    guidance = serializers.DictField(child=serializers.CharField())
    dimension = serializers.SerializerMethodField()
    points = serializers.IntegerField()
    tags = serializers.ListField(child=serializers.CharField())
    applies_to = serializers.ListField(child=serializers.CharField())
    used = serializers.SerializerMethodField()

    def get_dimension(self, entry: BankEntry) -> str:
        """Its name in English where it has one."""
        return in_language(entry.dimension, "en")

    @extend_schema_field(UsageSerializer)
    def get_used(self, entry: BankEntry) -> dict[str, int]:
        """Counts of this benchmark."""
        usage: Usage = self.context["usage"].get(entry.name) or Usage()
        return {"published": usage.published, "drafts": usage.drafts}


class BankSerializer(Plain):
    """A bank that was imported."""

    slug = serializers.CharField()
    title = serializers.CharField()
    licence = serializers.CharField()
    active = serializers.BooleanField()
    created_at = serializers.DateTimeField()


@extend_schema(
    responses=BankItemSerializer(many=True),
    parameters=[*PAGED, *FILTERS],
    operation_id="bank_list",
)
@api_view(["GET"])
def bank(request: Request, slug: str) -> Response:
    """List the criteria of all banks in use."""
    benchmark = access.get_written_benchmark(request.user, slug)
    entries = catalogue.catalogue(benchmark)
    form = BankFilters(request.query_params, entries=entries, banks=catalogue.own_banks(benchmark))
    query = BankQuery(**checked(form))
    if "bank" not in form.fields and request.query_params.get("bank", "") not in ("", NAME):
        raise ValidationError({"bank": [one_of([NAME])]})
    return page_of(request, catalogue.matching(entries, query), BankItemSerializer, {"usage": usage(benchmark)})


@extend_schema(responses=BankSerializer(many=True), parameters=PAGED, operation_id="banks_list")
@api_view(["GET"])
def banks(request: Request, slug: str) -> Response:
    """List the banks that were imported, those out of use as well."""
    benchmark = access.get_written_benchmark(request.user, slug)
    return page_of(request, Bank.objects.filter(benchmark=benchmark).order_by("slug"), BankSerializer)
