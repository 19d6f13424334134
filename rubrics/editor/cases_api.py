"""API endpoints of authoring: cases as drafts, privacy findings in them, and the benchmark's authors."""

from __future__ import annotations

import uuid
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.services import person_of
from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.i18n import translate
from consilium.core.limits import MAX_PERSON_NAME_LENGTH, MAX_REASON_LENGTH
from consilium.core.schema import stale
from consilium.core.versioning import StaleSave
from rubrics import access, services
from rubrics.api.benchmarks import me
from rubrics.api.serializers import CaseTurnSerializer, Plain
from rubrics.editor import case_content
from rubrics.editor.case_content import CaseContent, Turn
from rubrics.editor.privacy import PlacedFinding, all_findings
from rubrics.models import AuthoringRole, Case
from rubrics.selectors import lists
from rubrics.services import case_editing
from rubrics.services.privacy import draft_items, waive_finding


class WrittenCaseSerializer(Plain):
    """A case as its author sees it; ``version`` counts saves, and a change names the one that it saw."""

    id = serializers.CharField(source="public_id")
    key = serializers.CharField()
    version = serializers.IntegerField(source="edit_version")
    conversation = CaseTurnSerializer(many=True)
    reference_answer = serializers.CharField()
    difficulty = serializers.CharField()
    register = serializers.CharField()
    language = serializers.CharField(help_text="A tag of BCP 47; empty: not known.")
    language_detected = serializers.BooleanField(help_text="Whether it was detected by the words of the case.")
    tags = serializers.ListField(child=serializers.CharField())
    frozen = serializers.SerializerMethodField()
    supersedes = serializers.CharField(source="supersedes.public_id", allow_null=True, default=None)

    @extend_schema_field(serializers.ChoiceField(choices=["", "published", "in_review"]))
    def get_frozen(self, case: Case) -> str:
        """Why the content cannot change, or empty."""
        return case_editing.why_frozen(case)


class ListedCaseSerializer(Plain):
    """A case with the state of its rubric."""

    id = serializers.CharField(source="public_id")
    key = serializers.CharField()
    published_version = serializers.IntegerField(allow_null=True)
    open_version = serializers.IntegerField(allow_null=True)
    open_status = serializers.CharField(allow_null=True)
    excluded = serializers.SerializerMethodField()

    def get_excluded(self, case: Case) -> bool:
        """Whether it counts in nothing new."""
        return case.excluded_at is not None


class ContentSerializer(StrictSerializer, Plain):
    """What an author says of a case; what is not named stays as it stands."""

    key = serializers.CharField(required=False, trim_whitespace=False)
    conversation = CaseTurnSerializer(many=True, required=False)
    reference_answer = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    difficulty = serializers.CharField(required=False, allow_blank=True)
    register = serializers.CharField(required=False, allow_blank=True)
    language = serializers.CharField(required=False, allow_blank=True)
    tags = serializers.ListField(child=serializers.CharField(), required=False)


class NewCaseSerializer(ContentSerializer):
    """A case to be begun; without a key it gets the next one."""


class CaseChangeSerializer(ContentSerializer):
    """A change: the version that was seen, and an id by which a repeated one is known."""

    version = serializers.IntegerField(min_value=1, max_value=2**31 - 2)
    client_id = serializers.UUIDField(required=False)


class FindingSerializer(Plain):
    """Something that looks as if it named a person; ``start`` and ``end`` in code points of its text."""

    kind = serializers.CharField()
    quote = serializers.CharField()
    start = serializers.IntegerField(source="finding.start")
    end = serializers.IntegerField(source="finding.end")
    why = serializers.SerializerMethodField()
    part = serializers.CharField(source="place.part")
    number = serializers.IntegerField(source="place.number")
    field = serializers.CharField(source="place.field")
    waived = serializers.SerializerMethodField()

    def get_why(self, finding: PlacedFinding) -> str:
        """In the reader's language."""
        return translate(finding.finding.why)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_waived(self, finding: PlacedFinding) -> str | None:
        """The reason why it may stay."""
        return finding.waiver.reason if finding.waiver is not None else None


class WaiverSerializer(StrictSerializer, Plain):
    """Words of a finding, and why they may stay."""

    kind = serializers.CharField(max_length=30)
    quote = serializers.CharField(trim_whitespace=False)
    reason = serializers.CharField(max_length=MAX_REASON_LENGTH)


class AuthoringRoleSerializer(Plain):
    """A person's part in the making of the benchmark."""

    id = serializers.IntegerField(source="pk")
    email = serializers.CharField(source="user.email")
    name = serializers.CharField(source="user.name")
    role = serializers.ChoiceField(choices=AuthoringRole.Role.choices)
    active = serializers.BooleanField()


class NewAuthoringRoleSerializer(StrictSerializer, Plain):
    """A part to be given; a person without an account gets one, and no email."""

    email = serializers.EmailField()
    name = serializers.CharField(max_length=MAX_PERSON_NAME_LENGTH, required=False, allow_blank=True, default="")
    role = serializers.ChoiceField(choices=AuthoringRole.Role.choices)


class ActiveSerializer(StrictSerializer, Plain):
    """Whether the part is held."""

    active = serializers.BooleanField()


def _content(sent: dict[str, Any], stored: CaseContent) -> CaseContent:
    reading = case_content.read_content(sent, stored=stored)
    if reading.errors:
        raise ValidationError(reading.errors)
    return CaseContent(**reading.values)


@extend_schema(
    methods=["GET"], responses=ListedCaseSerializer(many=True), parameters=PAGED, operation_id="written_cases_list"
)
@extend_schema(methods=["POST"], request=NewCaseSerializer, responses={201: WrittenCaseSerializer})
@api_view(["GET", "POST"])
def cases(request: Request, slug: str) -> Response:
    """List the cases with the state of their rubrics.

    POST: Begin a case (authors, and those who run the benchmark).
    """
    benchmark = access.get_written_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, lists.with_rubric_states(benchmark.cases.order_by("key")), ListedCaseSerializer)
    sent = valid(NewCaseSerializer(data=request.data))
    empty = CaseContent(key=case_editing.suggested_key(benchmark), conversation=(Turn("user", ""),))
    content = _content(sent, empty)
    case = case_editing.create_case(benchmark=benchmark, content=content, by=me(request), at=timezone.now())
    return Response(WrittenCaseSerializer(case).data, status=status.HTTP_201_CREATED)


@extend_schema(methods=["GET"], responses=WrittenCaseSerializer)
@extend_schema(
    methods=["PATCH"],
    request=CaseChangeSerializer,
    responses={200: WrittenCaseSerializer, 409: stale("Case", WrittenCaseSerializer())},
)
@extend_schema(methods=["DELETE"], responses={204: None})
@api_view(["GET", "PATCH", "DELETE"])
def case(request: Request, slug: str, public_id: str) -> Response:
    """Show a case as its author sees it.

    PATCH: Change a case that is written.

    DELETE: Throw away a draft case that no one has reviewed.
    """
    case = access.get_case_to_write(request.user, slug, public_id)
    if request.method == "GET":
        return Response(WrittenCaseSerializer(case).data)
    if request.method == "DELETE":
        case_editing.delete_case(case=case, by=me(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
    sent = valid(CaseChangeSerializer(data=request.data))
    version, client_id = sent.pop("version"), sent.pop("client_id", None)
    try:
        saved = case_editing.save_case(
            case=case,
            content=_content(sent, case_content.content_of(case)),
            version=version,
            client_id=client_id or uuid.uuid4(),
            by=me(request),
            at=timezone.now(),
        )
    except StaleSave as refused:
        body = {"detail": str(refused), "current": WrittenCaseSerializer(refused.current).data}
        return Response(body, status=status.HTTP_409_CONFLICT)
    return Response(WrittenCaseSerializer(saved).data)


@extend_schema(methods=["GET"], responses=FindingSerializer(many=True))
@extend_schema(methods=["POST"], request=WaiverSerializer, responses={201: FindingSerializer(many=True)})
@api_view(["GET", "POST"])
def privacy(request: Request, slug: str, public_id: str) -> Response:
    """List what in a case and its draft may name a person.

    All at once: those of one case.

    POST: Say why what may name a person is kept. It is not open from then on: ``waived`` is set.
    """
    case = access.get_case_to_write(request.user, slug, public_id)
    code: int = status.HTTP_200_OK
    if request.method == "POST":
        waive_finding(case=case, by=me(request), at=timezone.now(), **valid(WaiverSerializer(data=request.data)))
        code = status.HTTP_201_CREATED
    findings = all_findings(case, draft_items(case))
    return Response(FindingSerializer(findings, many=True).data, status=code)


@extend_schema(methods=["GET"], responses=AuthoringRoleSerializer(many=True), operation_id="authors_list")
@extend_schema(methods=["POST"], request=NewAuthoringRoleSerializer, responses={201: AuthoringRoleSerializer})
@api_view(["GET", "POST"])
def authors(request: Request, slug: str) -> Response:
    """List authors and auditors, former ones too.

    All at once: the people of one benchmark.

    POST: Add an author or an auditor (admins).
    """
    benchmark = access.get_administered_benchmark(request.user, slug)
    if request.method == "GET":
        rows = benchmark.authoring_roles.select_related("user").order_by("role", "pk")
        return Response(AuthoringRoleSerializer(rows, many=True).data)
    sent = valid(NewAuthoringRoleSerializer(data=request.data))
    person = person_of(email=sent["email"], name=sent["name"])
    row = services.give_authoring_role(benchmark=benchmark, user=person, role=sent["role"], at=timezone.now())
    return Response(AuthoringRoleSerializer(row).data, status=status.HTTP_201_CREATED)


@extend_schema(request=ActiveSerializer, responses=AuthoringRoleSerializer)
@api_view(["PATCH"])
def author(request: Request, slug: str, role: int) -> Response:
    """Withdraw a part, or give it again (admins)."""
    row = access.get_authoring_role(request.user, slug, role)
    if valid(ActiveSerializer(data=request.data))["active"]:
        services.give_authoring_role(benchmark=row.benchmark, user=row.user, role=row.role, at=timezone.now())
    else:
        services.withdraw_authoring_role(role=row, at=timezone.now())
    row.refresh_from_db()
    return Response(AuthoringRoleSerializer(row).data)
