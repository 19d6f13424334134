"""API endpoints of draft rubrics: the draft, its lint, and tables parsed into items."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view, parser_classes
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.errors import ImportRefused, LineError
from consilium.core.i18n import translate
from consilium.core.schema import stale
from consilium.core.versioning import StaleSave
from rubrics import access, cited
from rubrics.api.serializers import CitationSerializer
from rubrics.editor import editing
from rubrics.editor.draft_content import MAX_ITEMS, read_items
from rubrics.models import Case, Rubric
from rubrics.parsing.faults import Faults
from rubrics.selectors.axes import used_axes
from rubrics.services.drafts import put_draft
from rubrics.tables import ZIP, rows_of_file, rows_with_heading

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class DraftItemSerializer(Plain):
    """A criterion that is being written. Unknown fields are refused."""

    id = serializers.CharField(help_text="A name for it, unique within the draft, at most 40 characters.")
    text = serializers.CharField(allow_blank=True, required=False)
    points = serializers.IntegerField(required=False, min_value=-10, max_value=10, help_text="0: not set yet.")
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    source = serializers.CharField(allow_blank=True, required=False)  # type: ignore[assignment]
    element = serializers.CharField(allow_blank=True, required=False)
    expectation = serializers.CharField(allow_blank=True, required=False)
    bank = serializers.CharField(allow_blank=True, required=False)
    citations = CitationSerializer(many=True, required=False)
    suggestion = serializers.CharField(allow_blank=True, required=False, help_text="The suggestion that it began as.")
    criterion = serializers.IntegerField(
        required=False, allow_null=True, help_text="The criterion that it is, as long as its text is unchanged."
    )


class MissingSerializer(Plain):
    """What keeps a draft from review; line 0 is the rubric as a whole."""

    line = serializers.IntegerField()
    field = serializers.CharField()
    message = serializers.CharField()


class CitedSerializer(CitationSerializer):
    """What pages show of a citation."""

    reference = serializers.CharField(help_text="Publisher, title, version and page.")
    address = serializers.CharField(help_text="The page of the passage, with the quotation marked.")
    words = serializers.CharField(help_text="The quotation, or the whole passage.")
    marks = serializers.ListField(
        child=serializers.CharField(), help_text="What speaks against the document: superseded, retired, review due."
    )
    superseded = serializers.BooleanField(help_text="A later edition of the document exists.")
    gone = serializers.BooleanField(help_text="The words were not found in the latest edition.")


class DraftSerializer(Plain):
    """A draft as it is. Version 0: nothing is written yet; `status` is empty where nothing is published either."""

    status = serializers.ChoiceField(choices=Rubric.Status.choices, allow_blank=True)
    draft = serializers.IntegerField(allow_null=True, help_text="Which draft it is; a later one has another number.")
    version = serializers.IntegerField()
    items = DraftItemSerializer(many=True)
    cited = CitedSerializer(many=True, help_text="Every citation of the items once.")
    saved_at = serializers.CharField()
    saved_by = serializers.CharField()
    missing = MissingSerializer(many=True)


class FixSerializer(Plain):
    """How to follow a remark: the texts that may replace the criterion."""

    label = serializers.CharField()  # type: ignore[assignment]
    texts = serializers.ListField(child=serializers.CharField())


class RemarkSerializer(Plain):
    """A remark of lint on a criterion; ``start`` and ``end`` are code points of its text."""

    rule = serializers.CharField()
    severity = serializers.CharField()
    item = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    why = serializers.CharField()
    advice = serializers.CharField(allow_blank=True)
    other = serializers.CharField(allow_blank=True, help_text="The id of another criterion that it is about.")
    fix = FixSerializer(allow_null=True)


class RemarksSerializer(Plain):
    """The remarks of lint."""

    remarks = RemarkSerializer(many=True)


def _by_place(faults: Sequence[LineError]) -> Any:
    """Faults of items as the framework nests those of a list: place from 0 → field → messages."""
    nested: dict[str, dict[str, list[str]]] = {}
    for fault in faults:
        if fault.line == 0:  # of the list as a whole
            return [translate(fault.message)]
        fields = nested.setdefault(str(fault.line - 1), {})
        fields.setdefault(fault.field or "non_field_errors", []).append(translate(fault.message))
    return nested


@extend_schema_field(DraftItemSerializer(many=True))
class _Items(serializers.JSONField):
    """A list of items; the faults of `read_items`, by place and field."""

    def to_internal_value(self, data: Any) -> Any:
        """Items, or every fault."""
        reading = read_items(data)
        if reading.faults:
            raise serializers.ValidationError(_by_place(reading.faults))
        return reading.items


class SaveSerializer(StrictSerializer, Plain):
    """The whole list in place of the stored one, if ``version`` is the stored one."""

    version = serializers.IntegerField(min_value=0)
    draft = serializers.IntegerField(
        required=False, allow_null=True, help_text="The draft that was seen; 409 where another one is written by now."
    )
    client_id = serializers.UUIDField(required=False, help_text="The same id again changes nothing.")
    items = _Items()


class LintedSerializer(StrictSerializer, Plain):
    """Items to be looked at."""

    items = _Items()


class TableSerializer(StrictSerializer, Plain):
    """A file with a heading: criterion, points, tags, source, element, expectation, bank, citations."""

    file = serializers.FileField()


def _me(request: Request) -> User:
    return cast("User", request.user)


def _rubric_payload(case: Case, reader: User) -> dict[str, Any]:
    rubric, items = editing.current_rubric(case)
    if rubric is None:
        return {"status": "", **editing.nothing_yet(case.benchmark)}
    if rubric.status == Rubric.Status.PUBLISHED:
        nothing = editing.nothing_yet(case.benchmark)
        return {"status": rubric.status, **nothing, **editing.items_json(items, case.benchmark), "missing": []}
    return {"status": rubric.status, **editing.draft_json(rubric.draft, case=case, reader=reader)}


@extend_schema(methods=["GET"], responses=DraftSerializer)
@extend_schema(
    methods=["PUT"],
    request=SaveSerializer,
    responses={200: DraftSerializer, 409: stale("RubricDraft", DraftSerializer())},
)
@api_view(["GET", "PUT"])
def draft(request: Request, slug: str, public_id: str) -> Response:
    """Show what is being written. Version 0 is what is published, or nothing.

    PUT: Put a list in the place of what is being written. With version 0 this begins a draft.
    """
    case = access.get_case_to_write(request.user, slug, public_id)
    if request.method == "GET":
        return Response(_rubric_payload(case, _me(request)))
    serializer = SaveSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    sent = serializer.validated_data
    try:
        put_draft(
            case=case,
            items=sent["items"],
            version=sent["version"],
            seen=sent.get("draft"),
            client_id=sent.get("client_id", uuid.uuid4()),
            by=_me(request),
            at=timezone.now(),
        )
    except StaleSave as refused:
        # Read anew: where the draft that was seen is gone, the refusal has taken back the one that it began.
        current = _rubric_payload(case, _me(request))
        return Response({"detail": str(refused), "current": current}, status=status.HTTP_409_CONFLICT)
    return Response(_rubric_payload(case, _me(request)))


@extend_schema(request=LintedSerializer, responses=RemarksSerializer)
@api_view(["POST"])
def draft_lint(request: Request, slug: str, public_id: str) -> Response:
    """Look at items as lint does; nothing is kept. ``start`` and ``end`` are code points of the text."""
    case = access.get_case_to_write(request.user, slug, public_id)
    serializer = LintedSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return Response({"remarks": editing.remarks(serializer.validated_data["items"], case)})


@extend_schema(
    request={"multipart/form-data": TableSerializer},
    responses=DraftItemSerializer(many=True),
)
@api_view(["POST"])
@parser_classes([MultiPartParser])
def draft_table(request: Request, slug: str, public_id: str) -> Response:
    """Read a table (CSV or XLSX) into items; nothing is kept. Put them into the draft, or send them to lint."""
    case = access.get_case_to_write(request.user, slug, public_id)
    serializer = TableSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    file, faults = serializer.validated_data["file"], Faults()
    exact = file.read(4) == ZIP
    file.seek(0)
    cells, own_axes = rows_of_file(file, faults), used_axes(case.benchmark)
    table = rows_with_heading(cells, faults, with_case=False, exact=exact, own_axes=own_axes)
    rows = list(islice(table, MAX_ITEMS + 1))
    if len(rows) > MAX_ITEMS:
        faults.add(rows[-1].line, "criterion", _("A rubric can have at most %(n)d criteria.") % {"n": MAX_ITEMS})
    if not faults.total:
        cited.resolve_rows(case.benchmark, rows, faults)
    if faults.total:
        raise ImportRefused(faults.first, faults.total)
    items = [{"id": f"t{place}", **row.as_json()} for place, row in enumerate(rows, start=1)]
    for item in items:
        del item["line"]
    return Response(items)
