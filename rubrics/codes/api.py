"""API endpoints of the code book, for those who run the benchmark: list, read, and save the newest version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_REASON_LENGTH
from rubrics import access
from rubrics.codes import services
from rubrics.codes.code import (
    KEY,
    MAX_CODE_KEY_LENGTH,
    MAX_CODE_TEXT_LENGTH,
    MAX_CODE_TITLE_LENGTH,
    MAX_EXAMPLES,
    SEVERITIES,
    code_of,
)
from rubrics.models import CodeBook

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


def _text(longest: int, *, required: bool = False) -> serializers.CharField:
    if required:
        return serializers.CharField(max_length=longest)
    return serializers.CharField(max_length=longest, required=False, default="", allow_blank=True)


def _texts(longest: int) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.CharField(max_length=longest), required=False, default=list, max_length=MAX_EXAMPLES
    )


class CodeSerializer(StrictSerializer, Plain):
    """A code; ``was`` names the codes of the version before that it continues."""

    key = serializers.RegexField(f"^{KEY.pattern}$", max_length=MAX_CODE_KEY_LENGTH)
    title_en = _text(MAX_CODE_TITLE_LENGTH, required=True)
    definition_en = _text(MAX_CODE_TEXT_LENGTH, required=True)
    title_zh = _text(MAX_CODE_TITLE_LENGTH)
    definition_zh = _text(MAX_CODE_TEXT_LENGTH)
    group_en = _text(MAX_CODE_TITLE_LENGTH)
    group_zh = _text(MAX_CODE_TITLE_LENGTH)
    applies_en = _text(MAX_CODE_TEXT_LENGTH)
    applies_zh = _text(MAX_CODE_TEXT_LENGTH)
    not_en = _text(MAX_CODE_TEXT_LENGTH)
    not_zh = _text(MAX_CODE_TEXT_LENGTH)
    examples_en = _texts(MAX_CODE_TEXT_LENGTH)
    examples_zh = _texts(MAX_CODE_TEXT_LENGTH)
    severity = serializers.ChoiceField(choices=list(SEVERITIES), required=False, default="", allow_blank=True)
    was = _texts(MAX_CODE_KEY_LENGTH)


class CodeBookSerializer(Plain):
    """A version; ``sha256`` is that of its codes as canonical JSON, and ``used_at`` when it was frozen."""

    version = serializers.IntegerField()
    n_codes = serializers.SerializerMethodField()
    note = serializers.CharField()
    sha256 = serializers.CharField(source="digest")
    created_at = serializers.DateTimeField()
    used_at = serializers.DateTimeField(allow_null=True)

    def get_n_codes(self, book: CodeBook) -> int:
        """How many codes it has."""
        return len(book.codes)


class CodeBookWithCodesSerializer(CodeBookSerializer):
    """A version with its codes."""

    codes = CodeSerializer(many=True)


class NewCodeBookSerializer(StrictSerializer, Plain):
    """All codes of the newest version, or ``starter``; ``seen`` is the ``sha256`` that you saw, empty for none."""

    codes = CodeSerializer(many=True, required=False)
    starter = serializers.BooleanField(default=False, help_text="adopt the starter, where there is no code book yet")
    note = serializers.CharField(max_length=MAX_REASON_LENGTH, default="", allow_blank=True)
    seen = serializers.CharField(max_length=64, required=False, allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse two sources, and none."""
        if ("codes" in attrs) == attrs["starter"]:
            raise ValidationError({"codes": [_("Send either “codes” or “starter”.")]})
        return attrs


@extend_schema(
    methods=["GET"], responses=CodeBookSerializer(many=True), parameters=PAGED, operation_id="code_books_list"
)
@extend_schema(
    methods=["POST"],
    request=NewCodeBookSerializer,
    responses={201: CodeBookWithCodesSerializer},
    operation_id="code_books_create",
)
@api_view(["GET", "POST"])
def code_books(request: Request, slug: str) -> Response:
    """List the versions of the code book, the newest first.

    POST: Save the newest version (admins): the present one if nothing was coded by it, else the next. 409 where
    ``seen`` is not the newest.
    """
    if request.method == "GET":
        benchmark = access.get_benchmark(request.user, slug)
        return page_of(request, CodeBook.objects.filter(benchmark=benchmark).order_by("-version"), CodeBookSerializer)
    benchmark = access.get_administered_benchmark(request.user, slug)
    payload = valid(NewCodeBookSerializer(data=request.data))
    common: dict[str, Any] = {"benchmark": benchmark, "by": cast("User", request.user), "at": timezone.now()}
    if payload["starter"]:
        book = services.adopt_starter(**common)
    else:
        codes = [code_of(code) for code in payload["codes"]]
        book = services.save_codes(codes=codes, note=payload["note"], seen=payload.get("seen"), **common)
    return Response(CodeBookWithCodesSerializer(book).data, status=status.HTTP_201_CREATED)


@extend_schema(responses=CodeBookWithCodesSerializer, operation_id="code_books_read")
@api_view(["GET"])
def code_book(request: Request, slug: str, version: int) -> Response:
    """Show a version of the code book."""
    return Response(CodeBookWithCodesSerializer(access.get_code_book(request.user, slug, version)).data)
