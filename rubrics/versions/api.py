"""API endpoints of reviews and versions, for one rubric and for many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, Pages, valid
from consilium.core.errors import DomainError, FaultsRefused
from consilium.core.limits import MAX_KEY_LENGTH, MAX_REVIEW_COMMENT_LENGTH
from consilium.core.model_schemas import described_field
from consilium.core.parameters import whole_number
from consilium.core.schema import FaultSerializer
from rubrics import access, origins
from rubrics.api.named import CASE, CASE_ID, CASE_TO_NAME, CASES_TO_NAME, named_cases
from rubrics.editor.draft_content import items_of
from rubrics.editor.drafts_api import DraftItemSerializer
from rubrics.models import Case, Rubric, RubricReview
from rubrics.services import publishing, publishing_many
from rubrics.versions import selectors

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class VersionSerializer(Plain):
    """A version of a rubric."""

    version = serializers.IntegerField()
    status = serializers.ChoiceField(choices=Rubric.Status.choices)
    note = serializers.CharField()
    written_by = serializers.ListField(child=serializers.CharField())
    approved_by = serializers.ListField(child=serializers.CharField())
    published_at = serializers.DateTimeField(allow_null=True)
    criteria = serializers.IntegerField()
    reworded = serializers.IntegerField(help_text="Against the version before; so are the next ones.")
    new = serializers.IntegerField()
    removed = serializers.IntegerField()
    changed = serializers.IntegerField(help_text="Other points or tags, same text.")


class CriterionChangeSerializer(Plain):
    """What became of one criterion."""

    change = serializers.CharField(help_text="same, changed, reworded, new or removed")
    moved = serializers.BooleanField()
    old_number = serializers.IntegerField(allow_null=True)
    new_number = serializers.IntegerField(allow_null=True)
    old_text = serializers.CharField(allow_null=True)
    new_text = serializers.CharField(allow_null=True)
    old_points = serializers.IntegerField(allow_null=True)
    new_points = serializers.IntegerField(allow_null=True)
    old_tags = serializers.CharField(allow_null=True)
    new_tags = serializers.CharField(allow_null=True)
    also_changed = serializers.CharField(allow_null=True)


class InReviewSerializer(Plain):
    """A rubric in review: what is read, and its digest, by which it is approved."""

    case = serializers.CharField(help_text=CASE)
    case_id = serializers.CharField(help_text=CASE_ID)
    key = serializers.CharField(help_text="The same as `case`.")
    version = serializers.IntegerField()
    digest = serializers.CharField()
    note = serializers.CharField()
    items = serializers.ListField(child=described_field(DraftItemSerializer))


class NoteSerializer(StrictSerializer, Plain):
    """What changed, and why."""

    note = serializers.CharField(max_length=MAX_REVIEW_COMMENT_LENGTH, allow_blank=True, default="")


class ReviewDecisionSerializer(StrictSerializer, Plain):
    """What a reviewer says. Item comments: id of the item → text."""

    outcome = serializers.ChoiceField(choices=RubricReview.Outcome.choices)
    digest = serializers.CharField(max_length=64, help_text="Of what was read; 409 where there is another text.")
    comment = serializers.CharField(max_length=MAX_REVIEW_COMMENT_LENGTH, allow_blank=True, default="")
    item_comments = serializers.DictField(
        child=serializers.CharField(max_length=MAX_REVIEW_COMMENT_LENGTH), default=dict
    )


class SendManySerializer(StrictSerializer, Plain):
    """Drafts of these cases, with one note."""

    cases = serializers.ListField(
        child=serializers.CharField(max_length=MAX_KEY_LENGTH),
        max_length=publishing_many.MAX_AT_ONCE,
        min_length=1,
        help_text=CASES_TO_NAME,
    )
    note = serializers.CharField(max_length=MAX_REVIEW_COMMENT_LENGTH)


class ReadSerializer(StrictSerializer, Plain):
    """A rubric that was read: its case, and the digest of what was read."""

    case = serializers.CharField(max_length=MAX_KEY_LENGTH, help_text=CASE_TO_NAME)
    digest = serializers.CharField(max_length=64)


class ApproveManySerializer(StrictSerializer, Plain):
    """Rubrics in review that were read, approved together."""

    rubrics = ReadSerializer(many=True)
    comment = serializers.CharField(max_length=MAX_REVIEW_COMMENT_LENGTH, allow_blank=True, default="")


class RefusedSerializer(Plain):
    """A rubric that was left as it is, and why."""

    case = serializers.CharField(help_text=CASE)
    case_id = serializers.CharField(help_text=CASE_ID)
    detail = serializers.CharField()
    faults = serializers.ListField(child=described_field(FaultSerializer))


class ManySerializer(Plain):
    """What became of many."""

    done = serializers.ListField(child=serializers.CharField(), help_text="Ids of cases.")
    published = serializers.ListField(child=serializers.CharField(), help_text="Ids of cases.")
    refused = RefusedSerializer(many=True)


def _me(request: Request) -> User:
    return cast("User", request.user)


def _open(case: Case, status: str) -> Rubric:
    rubric = selectors.versions_of(case).filter(status=status, draft__isnull=False).first()
    if rubric is None:
        raise Http404
    return rubric


def _versions(case: Case) -> Response:
    return Response(VersionSerializer([_row(row) for row in selectors.history(case)], many=True).data)


def _row(row: selectors.Version) -> dict[str, Any]:
    diff = row.diff
    return {
        "version": row.rubric.version,
        "status": row.rubric.status,
        "note": row.rubric.note,
        "written_by": [str(user) for user in row.writers],
        "approved_by": [str(shown.review.reviewer) for shown in row.approvals],
        "published_at": row.rubric.published_at,
        "criteria": row.criteria,
        "reworded": diff.reworded,
        "new": diff.new,
        "removed": diff.removed,
        "changed": diff.changed,
    }


@extend_schema(responses=VersionSerializer(many=True), operation_id="rubric_versions_list")
@api_view(["GET"])
def history(request: Request, slug: str, public_id: str) -> Response:
    """List the versions of a case's rubric, the newest first (authors, admins, researchers).

    All at once: those of one case.
    """
    return _versions(access.get_case_to_write(request.user, slug, public_id))


@extend_schema(
    responses=CriterionChangeSerializer(many=True),
    parameters=[
        OpenApiParameter("from", int, description="Earlier version. Default: the version before `to`."),
        OpenApiParameter("to", int, description="Later version. Default: the newest."),
    ],
    operation_id="rubric_versions_diff",
)
@api_view(["GET"])
def difference(request: Request, slug: str, public_id: str) -> Response:
    """Say what became of each criterion from one version to another; by default to the newest from its predecessor.

    All at once: the criteria of one case.
    """
    case = access.get_case_to_write(request.user, slug, public_id)
    every = {rubric.version: rubric for rubric in selectors.versions_of(case)}
    if not every:
        raise Http404
    after = whole_number(request, "to", default=max(every))
    before = whole_number(request, "from", default=max((number for number in every if number < after), default=0))
    if after not in every or (before and before not in every):
        raise Http404
    rows = selectors.csv_rows(selectors.difference(every.get(before), every[after]))
    return Response([dict(zip(selectors.CSV_COLUMNS, row, strict=True)) for row in rows])


@extend_schema(methods=["GET"], responses=InReviewSerializer)
@extend_schema(methods=["POST"], request=ReviewDecisionSerializer, responses=VersionSerializer(many=True))
@api_view(["GET", "POST"])
def review(request: Request, slug: str, public_id: str) -> Response:
    """Read the rubric in review.

    POST: Approve or return the rubric in review (authors who wrote nothing of it).
    """
    case = access.get_case_to_write(request.user, slug, public_id)
    rubric = _open(case, Rubric.Status.IN_REVIEW)
    if request.method == "GET":
        return Response(_in_review(rubric, is_hidden=origins.is_hidden_from(_me(request), rubric)))
    decision = valid(ReviewDecisionSerializer(data=request.data))
    common = {"rubric": rubric, "reviewer": _me(request), "comment": decision["comment"], "at": timezone.now()}
    if decision["outcome"] == RubricReview.Outcome.APPROVED:
        _named(lambda: publishing.approve(**common, digest=decision["digest"], item_comments=decision["item_comments"]))
    else:
        publishing.return_draft(**common, item_comments=decision["item_comments"])
    return _versions(case)


def _in_review(rubric: Rubric, *, is_hidden: bool) -> dict[str, Any]:
    draft = rubric.draft
    items = items_of(draft.content)
    return {
        "case": rubric.case.key,
        "case_id": rubric.case.public_id,
        "key": rubric.case.key,
        "version": rubric.version,
        "digest": draft.digest,
        "note": rubric.note,
        "items": [item.as_json() for item in (origins.without_origins(items) if is_hidden else items)],
    }


def _named(work: Any) -> None:
    """Run it; what is in the way of a rubric is listed in the answer."""
    try:
        work()
    except publishing.NotReady as refused:
        detail = " ".join([str(refused), *(str(error.message) for error in refused.errors)])
        raise FaultsRefused(refused.errors, detail=detail) from refused


@extend_schema(request=NoteSerializer, responses=VersionSerializer(many=True), operation_id="rubric_send_to_review")
@api_view(["POST"])
def send_to_review(request: Request, slug: str, public_id: str) -> Response:
    """Send the draft to review; 422 lists what is in the way."""
    case = access.get_case_to_write(request.user, slug, public_id)
    rubric = _open(case, Rubric.Status.DRAFT)
    note = valid(NoteSerializer(data=request.data))["note"]
    _named(lambda: publishing.send_to_review(rubric=rubric, note=note, by=_me(request), at=timezone.now()))
    return _versions(case)


@extend_schema(request=None, responses=VersionSerializer(many=True), operation_id="rubric_take_back")
@api_view(["POST"])
def take_back(request: Request, slug: str, public_id: str) -> Response:
    """Make the rubric in review a draft again."""
    case = access.get_case_to_write(request.user, slug, public_id)
    publishing.take_back(rubric=_open(case, Rubric.Status.IN_REVIEW), by=_me(request), at=timezone.now())
    return _versions(case)


@extend_schema(request=None, responses=VersionSerializer(many=True), operation_id="rubric_discard_draft")
@api_view(["POST"])
def discard(request: Request, slug: str, public_id: str) -> Response:
    """Throw the draft away; the published version stays in force."""
    case = access.get_case_to_write(request.user, slug, public_id)
    publishing.discard_draft(rubric=_open(case, Rubric.Status.DRAFT), by=_me(request), at=timezone.now())
    return _versions(case)


# Many at once ---------------------------------------------------------------------------------------------------------


@extend_schema(
    methods=["GET"], responses=InReviewSerializer(many=True), operation_id="reviews_list",
    parameters=PAGED,
)  # fmt: skip
@extend_schema(
    methods=["POST"], request=ApproveManySerializer, responses=ManySerializer, operation_id="reviews_approve"
)
@api_view(["GET", "POST"])
def reviews(request: Request, slug: str) -> Response:
    """List the rubrics that you can review.

    POST: Approve the rubrics that you have read. One that is refused delays no other.
    """
    benchmark = access.get_written_benchmark(request.user, slug)
    if request.method == "GET":
        pages = Pages()
        rows = pages.paginate_queryset(selectors.reviewable_by(_me(request), benchmark), request) or []
        hidden = set(origins.hidden_from(_me(request), benchmark).values_list("pk", flat=True))
        return pages.get_paginated_response([_in_review(rubric, is_hidden=rubric.pk in hidden) for rubric in rows])
    payload = valid(ApproveManySerializer(data=request.data))
    digests = {row["case"]: row["digest"] for row in payload["rubrics"]}
    chosen = named_cases(Case.objects.filter(benchmark=benchmark), list(digests), field="rubrics")
    outcome = publishing_many.approve_many(
        benchmark=benchmark,
        reviewer=_me(request),
        digests={case.public_id: digests.get(case.key) or digests[case.public_id] for case in chosen},
        comment=payload["comment"],
        at=timezone.now(),
    )
    return Response(_many(outcome))


@extend_schema(request=SendManySerializer, responses=ManySerializer, operation_id="drafts_send")
@api_view(["POST"])
def send_many(request: Request, slug: str) -> Response:
    """Send many drafts to review with one note; what is not ready stays a draft and is named."""
    benchmark = access.get_written_benchmark(request.user, slug)
    payload = valid(SendManySerializer(data=request.data))
    chosen = named_cases(Case.objects.filter(benchmark=benchmark), payload["cases"])
    outcome = publishing_many.send_many(
        benchmark=benchmark,
        cases=[case.public_id for case in chosen],
        note=payload["note"],
        by=_me(request),
        at=timezone.now(),
    )
    return Response(_many(outcome))


def _many(outcome: publishing_many.PublishingResult) -> dict[str, Any]:
    return {
        "done": [rubric.case.public_id for rubric in outcome.done],
        "published": [rubric.case.public_id for rubric in outcome.published],
        "refused": [_refused(rubric, error) for rubric, error in outcome.refused],
    }


def _refused(rubric: Rubric, error: DomainError) -> dict[str, Any]:
    faults = error.errors if isinstance(error, publishing.NotReady) else []
    return {
        "case": rubric.case.key,
        "case_id": rubric.case.public_id,
        "detail": str(error),
        "faults": [{"line": fault.line, "field": fault.field, "message": fault.message} for fault in faults],
    }
