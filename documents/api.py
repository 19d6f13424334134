"""API endpoints of collections, documents and passages: members read, those who run the benchmark write."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.commands import CommandSerializer, command_of
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.filters import checked, declared
from consilium.core.limits import MAX_DOCUMENT_KEY_LENGTH, MAX_TITLE_LENGTH
from documents import access, selectors, services
from documents.forms import DocumentFilters
from documents.models import Document, Passage
from documents.services.described import check_key
from documents.services.reading import FORMATS
from documents.services.terms import CollectionTerms, DocumentDetails, LicenceTerms
from rubrics.access import get_benchmark
from rubrics.api.serializers import ImportSerializer

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]
FILTERS = declared(
    DocumentFilters,
    {
        "q": "A part of the title, the publisher or the key.",
        "collection": "Only documents of the collection with this id.",
        "kind": "Only documents of this kind.",
        "language": "Only documents in this language, a tag such as `en`.",
        "jurisdiction": "Only documents of this jurisdiction, a code such as `UK`.",
        "tier": "Only documents of this tier of authority; 1 is the highest.",
        "state": "Only documents in this state, or `all`. Without it, those in use.",
    },
)


def _me(request: Request) -> User:
    return cast("User", request.user)


class CollectionSerializer(Plain):
    """A collection; ``document_count`` counts the documents in use, ``passage_count`` the passages of all editions."""

    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    description = serializers.CharField()
    document_count = serializers.IntegerField()
    passage_count = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class CollectionTermsSerializer(StrictSerializer, CommandSerializer):
    """What a collection is called."""

    commands = (CollectionTerms,)


class DocumentSerializer(Plain):
    """A document: one edition of a text. ``state`` lists *retired*, *superseded* and *overdue*, or nothing."""

    id = serializers.CharField(source="public_id")
    collection = serializers.CharField(source="collection.public_id")
    key = serializers.CharField()
    edition = serializers.IntegerField()
    supersedes = serializers.CharField(source="supersedes_public_id", allow_null=True)
    title = serializers.CharField()
    publisher = serializers.CharField()
    kind = serializers.ChoiceField(choices=Document.Kind.choices)
    tier = serializers.IntegerField()
    url = serializers.CharField()
    version_label = serializers.CharField()
    published_on = serializers.DateField(allow_null=True)
    review_by = serializers.DateField(allow_null=True)
    jurisdictions = serializers.ListField(child=serializers.CharField())
    language = serializers.CharField()
    audience = serializers.CharField()
    licence = serializers.CharField()
    may_send = serializers.BooleanField()
    may_quote = serializers.BooleanField()
    may_redistribute = serializers.BooleanField()
    state = serializers.SerializerMethodField()
    retired_at = serializers.DateTimeField(allow_null=True)
    media_type = serializers.CharField()
    sha256 = serializers.CharField()
    pages = serializers.IntegerField(allow_null=True)
    pages_without_text = serializers.ListField(child=serializers.IntegerField())
    passage_count = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    def get_state(self, document: Document) -> list[str]:
        """Why a citation of it needs a look."""
        return selectors.marks_of(document, timezone.localdate())


class DocumentChangesSerializer(StrictSerializer, CommandSerializer):
    """What is to be changed about a document; what is not given stays."""

    commands = (DocumentDetails, LicenceTerms)
    jurisdictions = serializers.ListField(child=serializers.CharField(max_length=3), max_length=300, required=False)
    retired = serializers.BooleanField(required=False)


class PassageSerializer(Plain):
    """A passage; its text is that of the document from ``start`` to ``end``."""

    id = serializers.CharField(source="public_id")
    document = serializers.CharField(source="document.public_id")
    ordinal = serializers.IntegerField()
    locator = serializers.CharField()
    text = serializers.CharField()
    table_header = serializers.CharField()
    headings = serializers.ListField(child=serializers.CharField())
    page_from = serializers.IntegerField(allow_null=True)
    page_to = serializers.IntegerField(allow_null=True)
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    sha256 = serializers.CharField()


class NewDocumentsSerializer(StrictSerializer, CommandSerializer):
    """A file of documents, and what applies to each of them that does not say otherwise itself."""

    commands = (DocumentDetails, LicenceTerms)
    file = serializers.FileField(max_length=255)
    format = serializers.ChoiceField(choices=FORMATS, required=False)
    key = serializers.CharField(
        max_length=MAX_DOCUMENT_KEY_LENGTH, required=False, help_text="Without it: the name of the file."
    )
    title = serializers.CharField(max_length=MAX_TITLE_LENGTH, required=False)
    jurisdictions = serializers.CharField(required=False, help_text="Codes, separated by commas.")
    field_order = ("file", "format", "key")

    def validate_key(self, key: str) -> str:
        """Refuse a key that could not name a document."""
        if problem := check_key(key):
            raise serializers.ValidationError(problem)
        return key


@extend_schema(
    methods=["GET"], responses=CollectionSerializer(many=True), parameters=PAGED, operation_id="collections_list"
)
@extend_schema(methods=["POST"], request=CollectionTermsSerializer, responses={201: CollectionSerializer})
@api_view(["GET", "POST"])
def collections(request: Request, slug: str) -> Response:
    """List the collections.

    POST: Make a collection (those who run the benchmark).
    """
    if request.method == "GET":
        benchmark = access.get_read_benchmark(request.user, slug)
        return page_of(request, selectors.collections_of(benchmark).order_by("name"), CollectionSerializer)
    benchmark = get_benchmark(request.user, slug)
    terms = command_of(CollectionTerms, valid(CollectionTermsSerializer(data=request.data)))
    collection = services.create_collection(benchmark=benchmark, terms=terms, by=_me(request), at=timezone.now())
    return Response(
        CollectionSerializer(selectors.collections_of(benchmark).get(pk=collection.pk)).data,
        status=status.HTTP_201_CREATED,
    )


@extend_schema(methods=["GET"], responses=CollectionSerializer)
@extend_schema(methods=["PATCH"], request=CollectionTermsSerializer, responses=CollectionSerializer)
@api_view(["GET", "PATCH"])
def collection(request: Request, slug: str, public_id: str) -> Response:
    """Show a collection.

    PATCH: Rename or describe a collection (those who run the benchmark).
    """
    if request.method == "GET":
        collection = access.get_collection(request.user, slug, public_id)
    else:
        collection = access.get_managed_collection(request.user, slug, public_id)
        changes = valid(CollectionTermsSerializer(data=request.data, partial=True))
        stored = {"name": collection.name, "description": collection.description}
        services.change_collection(collection=collection, terms=CollectionTerms(**{**stored, **changes}))
    return Response(CollectionSerializer(selectors.collections_of(collection.benchmark).get(pk=collection.pk)).data)


@extend_schema(request={"multipart/form-data": NewDocumentsSerializer}, responses={201: ImportSerializer})
@api_view(["POST"])
@parser_classes([MultiPartParser])
def collection_documents(request: Request, slug: str, public_id: str) -> Response:
    """Import a file into a collection: a worker imports all of it or nothing; ask the import how far it is."""
    collection = access.get_managed_collection(request.user, slug, public_id)
    sent = valid(NewDocumentsSerializer(data=request.data))
    file = sent.pop("file")
    (job,) = services.upload_documents(
        collection=collection,
        uploads=[(file, file.name or "")],
        options=_options(sent, set(request.data)),
        by=_me(request),
    )
    return Response(ImportSerializer(job).data, status=status.HTTP_201_CREATED)


def _options(sent: dict[str, Any], given: Collection[str]) -> dict[str, str]:
    """What was sent, as options of an import; ``given`` names the fields that are not there by their default alone."""
    stated = {name: value for name, value in sent.items() if name in given and value is not None}
    return {name: "1" if value is True else str(value) for name, value in stated.items() if value is not False}


@extend_schema(
    responses=DocumentSerializer(many=True),
    parameters=[*PAGED, *FILTERS],
    operation_id="documents_list",
)
@api_view(["GET"])
def documents(request: Request, slug: str) -> Response:
    """List the documents."""
    benchmark = access.get_read_benchmark(request.user, slug)
    chosen = checked(DocumentFilters(request.query_params, benchmark=benchmark))
    rows = selectors.narrowed(selectors.listed(benchmark), chosen, timezone.localdate())
    return page_of(request, rows.order_by("key", "edition", "pk"), DocumentSerializer)


@extend_schema(methods=["GET"], responses=DocumentSerializer)
@extend_schema(methods=["PATCH"], request=DocumentChangesSerializer, responses=DocumentSerializer)
@api_view(["GET", "PATCH"])
def document(request: Request, slug: str, public_id: str) -> Response:
    """Show a document.

    PATCH: Change the details and licence of a document, retire it, or bring it back (those who run it).
    """
    if request.method == "GET":
        document = access.get_document(request.user, slug, public_id)
    else:
        document = access.get_managed_document(request.user, slug, public_id)
        changes = valid(DocumentChangesSerializer(data=request.data, partial=True))
        services.change_document(document=document, changes=changes, at=timezone.now())
    listed = selectors.listed(document.collection.benchmark).get(pk=document.pk)
    return Response(DocumentSerializer(listed).data)


@extend_schema(responses=PassageSerializer(many=True), parameters=PAGED, operation_id="document_passages_list")
@api_view(["GET"])
def document_passages(request: Request, slug: str, public_id: str) -> Response:
    """List the passages of a document in the order of its text."""
    document = access.get_document(request.user, slug, public_id)
    passages = Passage.objects.filter(document=document).select_related("document").defer("document__text")
    return page_of(request, passages.order_by("ordinal"), PassageSerializer)


@extend_schema(responses=PassageSerializer)
@api_view(["GET"])
def passage(request: Request, slug: str, public_id: str) -> Response:
    """Show a passage."""
    return Response(PassageSerializer(access.get_passage(request.user, slug, public_id)).data)
