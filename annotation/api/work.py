"""A physician's own work: grading, checking, adjudicating, under the same blinding as the pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from accounts.token_scopes import bound_benchmark
from annotation import access, services
from annotation.api import serializers
from annotation.models import Adjudication, Assignment, Batch
from annotation.selectors import reading_pages
from annotation.selectors.queue_order import in_order_of_adjudication
from annotation.selectors.queue_places import graded_place
from annotation.services import slots
from consilium.core.endpoints import PAGED, page_of
from consilium.core.errors import Conflict
from consilium.core.versioning import StaleSave
from rubrics.models import Case

Row = TypeVar("Row", bound=Model)


def _me(request: Request) -> User:
    assert isinstance(request.user, User)  # every endpoint asks for a signed-in user
    return request.user


def _valid(serializer: serializers.Plain) -> Any:
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


def _reading(case: Case, text: str) -> dict[str, Any]:
    turns = reading_pages.reading_of(case, "").turns
    return {"conversation": turns, "response": text, "language": case.language}


# Grading --------------------------------------------------------------------------------------------------------------


BENCHMARK = OpenApiParameter("benchmark", str, description="of this benchmark alone: its short name")
LISTED = [*PAGED, BENCHMARK]


@extend_schema(
    responses=serializers.AssignmentSerializer(many=True), parameters=LISTED, operation_id="assignments_list"
)
@api_view(["GET"])
def assignments(request: Request) -> Response:
    """Your own work in the order of its queue, whatever its state."""
    rows = in_benchmark(request, access.own_assignments(request.user), "batch__group__benchmark")
    rows = rows.select_related("batch__group__benchmark").order_by("batch", "position", "pk")
    rows = rows.annotate(place=graded_place())
    return page_of(request, rows, serializers.AssignmentSerializer)


def in_benchmark(request: Request, rows: QuerySet[Row], benchmark: str) -> QuerySet[Row]:
    """Those of the benchmark that the parameter names, else all; ``benchmark`` is the field of ``rows``.

    With a token for one benchmark, those of that benchmark alone.
    """
    if bound := bound_benchmark(request):
        rows = rows.filter(**{f"{benchmark}__slug": bound})
    slug = request.query_params.get("benchmark")
    return rows.filter(**{benchmark: access.get_member_benchmark(request.user, slug)}) if slug else rows


@extend_schema(responses=serializers.AssignmentDetailSerializer)
@api_view(["GET"])
def assignment(request: Request, public_id: str) -> Response:
    """One piece of your work: conversation, response, criteria and what you decided."""
    return Response(_assignment(access.get_own_assignment(request.user, public_id)))


def _assignment(row: Assignment) -> dict[str, Any]:
    place = reading_pages.queue_place(row)
    row.place, row.total = place.position, place.total  # type: ignore[attr-defined]  # for the serializer
    returned = reading_pages.last_return(row)
    row.returned_note = returned.note if returned else ""  # type: ignore[attr-defined]
    row.reading = _reading(row.case, row.response.text)  # type: ignore[attr-defined]
    row.rows = reading_pages.grading_rows(row)  # type: ignore[attr-defined]
    return dict(serializers.AssignmentDetailSerializer(row).data)


@extend_schema(
    request=serializers.DecisionSerializer(many=True),
    responses={200: serializers.AssignmentDetailSerializer, 409: serializers.StaleDecisionSerializer},
)
@api_view(["POST"])
def decisions(request: Request, public_id: str) -> Response:
    """Save decisions, all or none. 409 with ``current`` where one was saved elsewhere since you saw it."""
    row = access.get_own_assignment(request.user, public_id)
    serializer = serializers.DecisionSerializer(data=request.data, many=True)
    changes = [serializers.decision_input(data) for data in _valid(serializer)]
    try:
        services.save_decisions(assignment=row, annotator=_me(request), changes=changes, at=timezone.now())
    except StaleSave as stale:
        current = {
            "criterion": stale.current.criterion_id,
            "outcome": stale.current.outcome,
            "borderline": stale.current.borderline,
            "note": stale.current.note,
            "evidence": stale.current.evidence,
            "answer": stale.current.answer,
            "version": stale.current.version,
        }
        return Response({"detail": str(stale), "current": current}, status=stale.status_code)
    return Response(_assignment(row))


@extend_schema(
    request=None, responses={200: serializers.AssignmentDetailSerializer, 422: serializers.UnansweredCriteriaSerializer}
)
@api_view(["POST"])
def submit(request: Request, public_id: str) -> Response:
    """Hand the work in. 422 with ``missing`` (ids of criteria) while something lacks a decision, note or review."""
    row = access.get_own_assignment(request.user, public_id)
    try:
        services.submit(assignment=row, annotator=_me(request), at=timezone.now())
    except services.Unanswered as refused:
        return Response({"detail": str(refused), "missing": refused.criteria}, status=refused.status_code)
    return Response(_assignment(row))


@extend_schema(request=None, responses={200: serializers.AssignmentDetailSerializer, 204: None})
@api_view(["POST"])
def take(request: Request, public_id: str) -> Response:
    """Take what you do next in a batch: what is open, else a free response of its pool; 204 if nothing is left."""
    batch = access.get_batch_to_take_from(request.user, public_id)
    row = slots.claim_next(annotator=_me(request), batch=batch, at=timezone.now())
    if row is None:
        return Response(status=status.HTTP_204_NO_CONTENT)
    return Response(_assignment(access.get_own_assignment(request.user, row.public_id)))


@extend_schema(request=serializers.SkipSerializer, responses={204: None})
@api_view(["POST"])
def skip(request: Request, public_id: str) -> Response:
    """Pass over a response: ``later`` puts it to the end of your queue, any other reason gives it back for good."""
    row = access.get_own_assignment(request.user, public_id)
    data = _valid(serializers.SkipSerializer(data=request.data))
    slots.skip(assignment=row, annotator=_me(request), at=timezone.now(), **data)
    return Response(status=status.HTTP_204_NO_CONTENT)


# Checking -------------------------------------------------------------------------------------------------------------


@extend_schema(responses=serializers.CheckListSerializer(many=True), parameters=LISTED, operation_id="checks_list")
@api_view(["GET"])
def checks(request: Request) -> Response:
    """Work of your group that waits for a check, and what you have claimed."""
    ids = [*access.waiting_checks(request.user).values_list("pk", flat=True)]
    ids += access.held_checks(request.user).values_list("pk", flat=True)
    rows = in_benchmark(request, Assignment.objects.filter(pk__in=ids), "batch__group__benchmark")
    rows = rows.select_related("batch__group__benchmark").order_by("submitted_at", "pk")
    return page_of(request, rows, serializers.CheckListSerializer)


@extend_schema(request=None, parameters=[BENCHMARK], responses={200: serializers.CheckSerializer, 204: None})
@api_view(["POST"])
def check_next(request: Request) -> Response:
    """Take what you check next: a check that you have claimed, else the longest waiting one; 204 if there is none."""
    held = access.held_checks(request.user).exclude(batch__status=Batch.Status.PAUSED)
    held = in_benchmark(request, held, "batch__group__benchmark")
    waiting = in_benchmark(request, access.waiting_checks(request.user), "batch__group__benchmark")
    row = services.next_check(checker=_me(request), held=held, waiting=waiting, at=timezone.now())
    if row is None:
        return Response(status=status.HTTP_204_NO_CONTENT)
    return Response(_check(access.get_held_check(request.user, row.public_id)))


@extend_schema(request=None, responses=serializers.CheckSerializer)
@api_view(["POST"])
def check_claim(request: Request, public_id: str) -> Response:
    """Take this check."""
    held = access.held_checks(request.user).filter(public_id=public_id)
    waiting = access.waiting_checks(request.user).filter(public_id=public_id)
    was_there = waiting.exists()
    claimed = _claimed_check(request, waiting) if was_there else None
    if claimed is not None:
        return claimed
    # Asked last: another request of the same person may have claimed it meanwhile.
    if held.exists():
        raise Conflict(_("You have already claimed this check."))
    if not was_there:
        raise Http404
    raise Conflict(_("Someone else has just claimed this check."))


def _held_check(request: Request, public_id: str) -> Assignment:
    """A check to write in; `Conflict` if the caller has finished it, 404 if it is not theirs."""
    try:
        return access.get_held_check(request.user, public_id)
    except Http404:
        if access.done_checks(request.user).filter(assignment__public_id=public_id).exists():
            raise Conflict(_("You have already finished this check.")) from None
        raise


def _claimed_check(request: Request, waiting: QuerySet[Assignment]) -> Response | None:
    """The one check of ``waiting``, claimed; None where another checker was quicker."""
    row = services.claim_check(checker=_me(request), waiting=waiting, at=timezone.now(), wait=True)
    if row is None:
        return None
    return Response(_check(access.get_held_check(request.user, row.public_id)))


@extend_schema(responses=serializers.CheckSerializer)
@api_view(["GET"])
def check(request: Request, public_id: str) -> Response:
    """A check that you have claimed: the response and the annotator's decisions."""
    return Response(_check(access.get_held_check(request.user, public_id)))


def _check(row: Assignment) -> dict[str, Any]:
    row.reading = _reading(row.case, row.response.text)  # type: ignore[attr-defined]  # for the serializer
    row.rows = reading_pages.check_rows(row)  # type: ignore[attr-defined]
    return dict(serializers.CheckSerializer(row).data)


@extend_schema(
    request=serializers.AmendmentSerializer,
    responses={200: serializers.CheckSerializer, 409: serializers.StaleChangeSerializer},
)
@api_view(["POST"])
def amendments(request: Request, public_id: str) -> Response:
    """Put another outcome over the annotator's, or mark the criterion for review, with the reason.

    409 with ``current`` where ``version`` is old.
    """
    row = _held_check(request, public_id)
    data = _valid(serializers.AmendmentSerializer(data=request.data))
    try:
        services.amend(assignment=row, checker=_me(request), at=timezone.now(), **data)
    except StaleSave as stale:
        return _stale(stale, reading_pages.check_rows(row, data["criterion"]))
    return Response(_check(row))


def _stale(stale: StaleSave, rows: Sequence[reading_pages.CheckRow | reading_pages.AdjudicationRow]) -> Response:
    current = {
        "criterion": rows[0].line.id,
        "outcome": rows[0].outcome,
        "reason": rows[0].reason,
        "version": rows[0].version,
        "saved_at": rows[0].saved_at,
    }
    if isinstance(rows[0], reading_pages.CheckRow):
        current["to_review"] = rows[0].to_review
    return Response({"detail": str(stale), "current": current}, status=stale.status_code)


FINISHED = {204: None, 409: serializers.ChangedElsewhereSerializer}


def _unseen(refused: services.Unseen) -> Response:
    return Response({"detail": str(refused), "criteria": refused.criteria}, status=refused.status_code)


@extend_schema(request=serializers.ShownSerializer, responses=FINISHED)
@api_view(["POST"])
def check_accept(request: Request, public_id: str) -> Response:
    """Accept the work with its amendments."""
    row = _held_check(request, public_id)
    data = _valid(serializers.ShownSerializer(data=request.data))
    try:
        services.accept_check(assignment=row, checker=_me(request), at=timezone.now(), **data)
    except services.Unseen as refused:
        return _unseen(refused)
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(request=serializers.ReturnSerializer, responses=FINISHED)
@api_view(["POST"])
def check_return(request: Request, public_id: str) -> Response:
    """Send the work back with a note, criteria that are marked for review, or both."""
    row = _held_check(request, public_id)
    data = _valid(serializers.ReturnSerializer(data=request.data))
    try:
        services.return_check(assignment=row, checker=_me(request), at=timezone.now(), **data)
    except services.Unseen as refused:
        return _unseen(refused)
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(request=serializers.CheckReleaseSerializer, responses={204: None})
@api_view(["POST"])
def check_release(request: Request, public_id: str) -> Response:
    """Put the work back for another checker, and discard your amendments and marks.

    Where there are any, ``discard`` must be true. Without it the check stays as it is, and the answer is 409.
    """
    row = _held_check(request, public_id)
    data = _valid(serializers.CheckReleaseSerializer(data=request.data))
    try:
        services.release_check(assignment=row, checker=_me(request), discard=data["discard"])
    except services.WouldDiscard as refused:
        raise Conflict(
            _("This check has amendments or marks. To release it and discard them, send discard: true.")
        ) from refused
    return Response(status=status.HTTP_204_NO_CONTENT)


# Adjudication ---------------------------------------------------------------------------------------------------------


@extend_schema(
    responses=serializers.AdjudicationListSerializer(many=True), parameters=LISTED, operation_id="adjudications_list"
)
@api_view(["GET"])
def adjudications(request: Request) -> Response:
    """Conflicts that you have claimed or may claim: yours, then the lowest agreement, then those you released."""
    rows = in_benchmark(request, access.open_adjudications(request.user), "group__benchmark")
    rows = in_order_of_adjudication(access.with_batch(rows).select_related("group__benchmark"), _me(request))
    return page_of(request, rows, serializers.AdjudicationListSerializer)


@extend_schema(request=None, parameters=[BENCHMARK], responses={200: serializers.AdjudicationSerializer, 204: None})
@api_view(["POST"])
def adjudication_next(request: Request) -> Response:
    """Take what you adjudicate next: one that you have claimed, else that of lowest agreement; 204 if there is none."""
    waiting = in_benchmark(request, access.open_adjudications(request.user), "group__benchmark")
    held = waiting.filter(adjudicator=request.user.pk).exclude(access.in_paused_batch())
    row = services.next_adjudication(adjudicator=_me(request), held=held, waiting=waiting)
    if row is None:
        return Response(status=status.HTTP_204_NO_CONTENT)
    return Response(_adjudication(access.get_held_adjudication(request.user, row.public_id)))


@extend_schema(request=None, responses=serializers.AdjudicationSerializer)
@api_view(["POST"])
def adjudication_claim(request: Request, public_id: str) -> Response:
    """Take this conflict."""
    waiting = access.get_open_adjudication(request.user, public_id)
    claimed = _claimed_adjudication(request, waiting)
    if claimed is None and waiting.filter(adjudicator=request.user.pk).exists():
        raise Conflict(_("You have already claimed this conflict."))
    if claimed is None:
        raise Conflict(_("Someone else has just claimed this conflict."))
    return claimed


def _held_adjudication(request: Request, public_id: str) -> Adjudication:
    """An adjudication to write in; `Conflict` if the caller has finished it, 404 if it is not theirs."""
    try:
        return access.get_held_adjudication(request.user, public_id)
    except Http404:
        if access.done_adjudications(request.user).filter(public_id=public_id).exists():
            raise Conflict(_("You have already finished this adjudication.")) from None
        raise


def _claimed_adjudication(request: Request, waiting: QuerySet[Adjudication]) -> Response | None:
    """The one conflict of ``waiting``, claimed; None where another adjudicator was quicker."""
    row = services.claim_adjudication(adjudicator=_me(request), waiting=waiting, wait=True)
    if row is None:
        return None
    return Response(_adjudication(access.get_held_adjudication(request.user, row.public_id)))


@extend_schema(responses=serializers.AdjudicationSerializer)
@api_view(["GET"])
def adjudication(request: Request, public_id: str) -> Response:
    """An adjudication that you have claimed: the response, and what the raters said, as A and B."""
    return Response(_adjudication(access.get_held_adjudication(request.user, public_id)))


def _adjudication(row: Adjudication) -> dict[str, Any]:
    known = access.with_batch(Adjudication.objects.filter(pk=row.pk)).get()
    row.batch = known.batch  # type: ignore[attr-defined]  # annotated
    row.batch_title = known.batch_title  # type: ignore[attr-defined]
    row.reading = _reading(row.response.case, row.response.text)  # type: ignore[attr-defined]  # for the serializer
    row.rows = reading_pages.adjudication_rows(row, everything=True)  # type: ignore[attr-defined]
    return dict(serializers.AdjudicationSerializer(row).data)


@extend_schema(
    request=serializers.RulingSerializer,
    responses={200: serializers.AdjudicationSerializer, 409: serializers.StaleChangeSerializer},
)
@api_view(["POST"])
def rulings(request: Request, public_id: str) -> Response:
    """Decide one conflict, or take the ruling back. 409 with ``current`` where ``version`` is old."""
    row = _held_adjudication(request, public_id)
    data = _valid(serializers.RulingSerializer(data=request.data))
    try:
        services.rule(adjudication=row, adjudicator=_me(request), at=timezone.now(), **data)
    except StaleSave as stale:
        criterion = data["criterion"]
        return _stale(stale, reading_pages.adjudication_rows(row, everything=True, criterion=criterion))
    return Response(_adjudication(row))


@extend_schema(
    request=serializers.ShownSerializer, responses=FINISHED | {422: serializers.UnansweredCriteriaSerializer}
)
@api_view(["POST"])
def adjudication_finish(request: Request, public_id: str) -> Response:
    """End the adjudication once every conflict has a ruling. 422 with ``missing`` (ids of criteria) before."""
    row = _held_adjudication(request, public_id)
    data = _valid(serializers.ShownSerializer(data=request.data))
    try:
        services.finish_adjudication(adjudication=row, adjudicator=_me(request), at=timezone.now(), **data)
    except services.Unseen as refused:
        return _unseen(refused)
    except services.Undecided as refused:
        return Response({"detail": str(refused), "missing": refused.criteria}, status=refused.status_code)
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(request=None, responses={204: None})
@api_view(["POST"])
def adjudication_release(request: Request, public_id: str) -> Response:
    """Put the adjudication back for another adjudicator, who continues from your rulings."""
    row = _held_adjudication(request, public_id)
    services.release_adjudication(adjudication=row, adjudicator=_me(request))
    return Response(status=status.HTTP_204_NO_CONTENT)
