"""API endpoints of the cohort, for admins: applications and their reviews, and the flow."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from annotation.api.serializers import Plain
from annotation.cohort import services
from annotation.cohort.access import get_application
from annotation.cohort.states import STEPS, ApplicationState, FlowStep, flow, followed_state_of, states_of
from annotation.models import Application, Membership
from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_GROUP_NAME_LENGTH, MAX_REASON_LENGTH, MAX_TITLE_LENGTH
from rubrics.access import get_administered_benchmark
from rubrics.api.invitations import invitation_fields

REVIEW_STEPS = ("overrule", "licence", "decline", "admit")


class ReviewSerializer(Plain):
    """A step of a review, or a check of the licence; the newest of a step counts."""

    step = serializers.CharField()
    passed = serializers.BooleanField()
    reason = serializers.CharField()
    register = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()


class ApplicationSerializer(Plain):
    """An application as it was submitted, the rules that it does not meet, and how far it came.

    Once it is erased (``erased_at``), what the applicant stated is empty. ``same_address_count``: how many other
    applications have its address; at most one is admitted. ``same_address``: the ids of the newest, 20 at most, and of
    the one that was admitted.
    """

    id = serializers.CharField(source="application.public_id")
    email = serializers.CharField(source="application.email")
    name = serializers.CharField(source="application.name")
    specialty = serializers.CharField(source="application.specialty")
    languages = serializers.ListField(child=serializers.CharField(), source="application.languages")
    licence_country = serializers.CharField(source="application.licence_country")
    licence_number = serializers.CharField(source="application.licence_number")
    years_in_practice = serializers.IntegerField(source="application.years_in_practice", allow_null=True)
    seniority = serializers.CharField(source="application.seniority")
    statement = serializers.CharField(source="application.statement")
    submitted_at = serializers.DateTimeField(source="application.submitted_at")
    erased_at = serializers.DateTimeField(source="application.erased_at", allow_null=True)
    same_address = serializers.SerializerMethodField()
    same_address_count = serializers.IntegerField()
    unmet = serializers.ListField(child=serializers.CharField(), source="application.unmet")
    reached = serializers.ChoiceField(choices=STEPS)
    out = serializers.BooleanField()
    reasons = serializers.ListField(child=serializers.CharField())
    reviews = serializers.SerializerMethodField()

    def get_same_address(self, state: ApplicationState) -> list[str]:
        """The admitted one first, then the newest."""
        return [row.public_id for row in state.same_address]

    def get_reviews(self, state: ApplicationState) -> list[dict[str, Any]]:
        """All of them, the oldest first."""
        lines = [
            {"step": str(row.step), "passed": row.passed, "reason": row.reason, "register": "",
             "by": str(row.reviewer), "at": row.at}
            for row in state.reviews
        ] + [
            {"step": "licence", "passed": check.confirmed, "reason": check.note, "register": check.register,
             "by": str(check.checked_by), "at": check.checked_at}
            for check in state.checks
        ]  # fmt: skip
        return list(ReviewSerializer(sorted(lines, key=lambda line: line["at"]), many=True).data)


ApplicationSerializer.get_reviews.__annotations__["return"] = ReviewSerializer(many=True)


class NewReviewSerializer(StrictSerializer, serializers.Serializer[Any]):
    """The next step of an application.

    ``overrule`` takes ``eligible`` and ``reason``, ``decline`` takes ``reason``. ``licence`` takes ``register`` and
    ``confirmed``; the number is that of the application, which never changes. What says the same as the newest entry,
    by the same person, is stored once; a check is stored again after five minutes. ``admit`` takes the names of
    ``group`` and ``role``, and answers with the invitation as adding a member does.
    """

    step = serializers.ChoiceField(choices=REVIEW_STEPS)
    reason = serializers.CharField(max_length=MAX_REASON_LENGTH, default="", allow_blank=True)
    register = serializers.CharField(max_length=MAX_TITLE_LENGTH, default="", allow_blank=True)
    eligible = serializers.BooleanField(required=False, allow_null=True, default=None)
    confirmed = serializers.BooleanField(required=False, allow_null=True, default=None)
    group = serializers.CharField(max_length=MAX_GROUP_NAME_LENGTH, default="", allow_blank=True)
    role = serializers.ChoiceField(choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR)


class FlowStepSerializer(Plain):
    """A step: how many reached it, how many of them are out or wait before the next one, and why they are out."""

    step = serializers.ChoiceField(choices=STEPS)
    reached = serializers.IntegerField()
    out = serializers.IntegerField()
    waiting = serializers.IntegerField()
    reasons = serializers.DictField(child=serializers.IntegerField())


@extend_schema(responses=ApplicationSerializer(many=True), parameters=PAGED, operation_id="applications_list")
@api_view(["GET"])
def applications(request: Request, slug: str) -> Response:
    """List the applications with their reviews, the newest first."""
    benchmark = get_administered_benchmark(request.user, slug)
    return page_of(request, states_of(benchmark, services.call_of(benchmark)), ApplicationSerializer)


@extend_schema(
    request=NewReviewSerializer, responses={201: ApplicationSerializer}, operation_id="application_review_create"
)
@api_view(["POST"])
def reviews(request: Request, slug: str, public_id: str) -> Response:
    """Review an application: overrule the rules, record a check of the licence, decline, or admit."""
    row = get_application(request.user, slug, public_id)
    benchmark = row.benchmark
    serializer = NewReviewSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    given = serializer.validated_data
    assert isinstance(request.user, User)
    common: dict[str, Any] = {"application": row, "by": request.user, "at": timezone.now()}
    answer: dict[str, Any] = {}
    if given["step"] == "overrule":
        if given["eligible"] is None:
            raise DomainError(_("Say whether the application is eligible."), field="eligible")
        services.overrule_eligibility(eligible=given["eligible"], reason=given["reason"], **common)
    elif given["step"] == "decline":
        services.decline(reason=given["reason"], **common)
    elif given["step"] == "licence":
        if given["confirmed"] is None:
            raise DomainError(_("Say whether the register has this number."), field="confirmed")
        result = {name: given[name] for name in ("register", "confirmed")}
        services.check_licence_of_application(note=given["reason"], **result, **common)
    else:
        group = benchmark.groups.filter(name=given["group"]).first()
        if group is None:
            raise DomainError(
                _("There is no expert group “%(group)s” in this benchmark.") % {"group": given["group"]}, field="group"
            )
        _membership, issued = services.admit(group=group, role=given["role"], reason=given["reason"], **common)
        answer = invitation_fields(issued)
    data = {**_stored(row), **answer}
    return Response(data, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


@extend_schema(request=None, responses=ApplicationSerializer, operation_id="application_erase")
@api_view(["POST"])
def erase(request: Request, slug: str, public_id: str) -> Response:
    """Erase the personal data of an application for good; the flow keeps its counts.

    ``same_address`` of the answer has the ids of all other applications with the address that was erased. They are kept
    as they are, because a stranger may have sent them: erase those that are of the same person.
    """
    row = get_application(request.user, slug, public_id)
    assert isinstance(request.user, User)
    others = services.erase_application(application=row, by=request.user, at=timezone.now())
    return Response({**_stored(row), "same_address": others, "same_address_count": len(others)})


def _stored(row: Application) -> dict[str, Any]:
    """An application after a write, which may have changed its row."""
    stored = Application.objects.select_related("benchmark", "user").get(pk=row.pk)
    state = followed_state_of(stored, services.call_of(stored.benchmark))
    return dict(ApplicationSerializer(state).data)


@extend_schema(responses=FlowStepSerializer(many=True), operation_id="cohort_flow")
@api_view(["GET"])
def cohort_flow(request: Request, slug: str) -> Response:
    """The steps of admission with their counts.

    All at once: there are at most seven steps.
    """
    rows: list[FlowStep] = flow(get_administered_benchmark(request.user, slug))
    return Response(FlowStepSerializer(rows, many=True).data)
