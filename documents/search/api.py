"""The API endpoint that searches passages, for everybody who may read the documents of a benchmark."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.filters import checked, declared
from consilium.core.parameters import required, whole_number
from documents import access
from documents.references import page_label, short_reference
from documents.search.filters import Filters
from documents.search.finding import MAX_LIMIT, Hit, search
from documents.search.forms import SearchForm

DEFAULT_LIMIT = 20
FILTERS = declared(
    SearchForm,
    {
        "collection": "Only documents of the collection with this id.",
        "kind": "Only documents of this kind.",
        "language": "Only documents in this language, a tag such as `en`; `zh` includes `zh-Hans`.",
        "jurisdiction": "Only documents of this jurisdiction, a code such as `UK`.",
        "tier": "Only documents of this tier of authority or a higher one; 1 is the highest.",
        "published_from": "Only documents published on this day or later.",
        "may_send": "Only documents that may be sent to models, or only the others.",
        "retired": "Include retired documents.",
        "superseded": "Include superseded editions.",
    },
)


class HitSerializer(serializers.Serializer[Any]):
    """A passage that was found; ``state`` lists *retired*, *superseded* and *overdue*, or nothing."""

    passage = serializers.CharField(source="passage.public_id")
    score = serializers.FloatField()
    locator = serializers.CharField(source="passage.locator")
    text = serializers.CharField(source="passage.text")
    table_header = serializers.CharField(source="passage.table_header")
    headings = serializers.ListField(source="passage.headings", child=serializers.CharField())
    document = serializers.CharField(source="passage.document.public_id")
    collection = serializers.CharField(source="passage.document.collection.public_id")
    title = serializers.CharField(source="passage.document.title")
    publisher = serializers.CharField(source="passage.document.publisher")
    version = serializers.CharField(source="passage.document.version_label")
    page = serializers.SerializerMethodField()
    language = serializers.CharField(source="passage.document.language")
    licence = serializers.CharField(source="passage.document.licence")
    may_send = serializers.BooleanField(source="passage.document.may_send")
    may_quote = serializers.BooleanField(source="passage.document.may_quote")
    reference = serializers.SerializerMethodField()
    state = serializers.ListField(source="marks", child=serializers.CharField())

    def get_page(self, hit: Hit) -> str:
        """The page or pages; empty where the document has none."""
        return page_label(hit.passage)

    def get_reference(self, hit: Hit) -> str:
        """Publisher, title, version and page, for the source of a criterion."""
        return short_reference(hit.passage)


class HitsSerializer(serializers.Serializer[Any]):
    """The best passages, the best first."""

    results = HitSerializer(many=True)


@extend_schema(
    responses=HitsSerializer,
    parameters=[
        OpenApiParameter("q", str, required=True, description="words; nothing in them is syntax"),
        OpenApiParameter("limit", int, description=f"maximum number of passages (default 20, at most {MAX_LIMIT})"),
        *FILTERS,
    ],
    operation_id="passages_search",
)
@api_view(["GET"])
def passages(request: Request, slug: str) -> Response:
    """Search the passages of a benchmark's documents by words; filters are those of the page."""
    benchmark = access.get_read_benchmark(request.user, slug)
    required(request, "q")
    form = SearchForm(request.query_params, benchmark=benchmark)
    checked(form)
    hits = search(
        collections=form.collections(),
        query=form.query,
        filters=_filters(request, form),
        limit=_limit(request),
        at=timezone.now(),
    )
    return Response(HitsSerializer({"results": hits}).data)


def _filters(request: Request, form: SearchForm) -> Filters:
    """The filters of the page; ``may_send=false``, which a box on the page cannot say, leaves only the others."""
    if request.query_params.get("may_send") == "false":
        return replace(form.filters(), may_not_send=True)
    return form.filters()


def _limit(request: Request) -> int:
    """The limit that was asked for."""
    return whole_number(request, "limit", default=DEFAULT_LIMIT, low=1, high=MAX_LIMIT)
