"""API endpoints of releases: the list, one, a new one, and its archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.db import transaction
from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.confirming import check_api_confirmation, record_signature
from consilium.core.api import StateField, StrictSerializer
from consilium.core.commands import CommandSerializer
from consilium.core.endpoints import Pages
from consilium.core.jobs import JobStatus
from consilium.core.limits import MAX_RELEASE_VERSION_LENGTH, MAX_TAG_LENGTH
from consilium.core.model_schemas import described_field
from releases import access, services
from releases.content.options import ReleaseOptions, read_options
from releases.models import Release
from releases.views.pages import archive_response
from rubrics.access import get_administered_benchmark, get_benchmark

if TYPE_CHECKING:
    from accounts.models import User


def _names() -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(max_length=MAX_TAG_LENGTH), default=list, max_length=500)


class StoredOptionsSerializer(CommandSerializer):
    """What a release contains."""

    commands = (ReleaseOptions,)


class ReleaseSerializer(serializers.Serializer[Release]):
    """A release. ``digest`` is the SHA-256 of its SHA256SUMS; ``facts`` contain counts, files, and what has changed."""

    id = serializers.CharField(source="public_id")
    public_id = serializers.CharField(help_text="The same as `id`.")
    version = serializers.CharField()
    notes = serializers.CharField()
    options = described_field(StoredOptionsSerializer)
    status = StateField(JobStatus.choices)
    progress = serializers.FloatField()
    error = serializers.CharField()
    digest = serializers.CharField()
    size = serializers.IntegerField()
    facts = serializers.DictField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class NewReleaseSerializer(StrictSerializer, CommandSerializer):
    """A release to be made. Everything beside cases, rubrics and prompts is in it only where it is asked for."""

    commands = (ReleaseOptions,)
    field_order = (
        *("version", "release_notes", "reference_answers", "responses", "decisions", "verdicts", "codes"),
        *("notes", "names", "raters", "judges", "candidates", "no_licence", "url"),
    )
    version = serializers.CharField(max_length=MAX_RELEASE_VERSION_LENGTH)
    release_notes = serializers.CharField(default="", allow_blank=True, max_length=services.MAX_NOTES_LENGTH)
    raters = _names()
    judges = _names()
    candidates = _names()
    url = serializers.URLField(default="", allow_blank=True, max_length=500)


class _Pages(Pages):
    default_limit = 100


class Releases(APIView):
    """The releases of a benchmark, the newest first; admins make new ones."""

    @extend_schema(responses=ReleaseSerializer(many=True), parameters=_Pages.parameters(), operation_id="releases_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the releases."""
        pages = _Pages()
        rows = Release.objects.filter(benchmark=get_benchmark(request.user, slug))
        page = pages.paginate_queryset(rows, request, view=self) or []
        return pages.get_paginated_response([ReleaseSerializer(release).data for release in page])

    @extend_schema(request=NewReleaseSerializer, responses={201: ReleaseSerializer}, operation_id="releases_create")
    def post(self, request: Request, slug: str) -> Response:
        """Make a release (admin); it is built in the background."""
        benchmark = get_administered_benchmark(request.user, slug)
        serializer = NewReleaseSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        given = dict(serializer.validated_data)
        check_api_confirmation(request)
        at = timezone.now()
        version, notes = given.pop("version"), given.pop("release_notes")
        with transaction.atomic():  # no signature without its line in the security log
            release = services.create_release(
                benchmark=benchmark,
                version=version,
                notes=notes,
                options=read_options(given),
                by=cast("User", request.user),
                at=at,
            )
            record_signature(request, kind="release", scope=slug, target=release.version, at=at)
        return Response(ReleaseSerializer(release).data, status=201)


class ReleaseDetail(APIView):
    """One release."""

    @extend_schema(responses=ReleaseSerializer, operation_id="releases_retrieve")
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a release."""
        return Response(ReleaseSerializer(access.get_release(request.user, slug, public_id)).data)


class ReleaseArchive(APIView):
    """A release as a ZIP."""

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY}, operation_id="releases_archive")
    def get(self, request: Request, slug: str, public_id: str) -> FileResponse:
        """Download a finished release."""
        return archive_response(access.get_release(request.user, slug, public_id))
