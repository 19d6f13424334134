"""Groups, batches and conflicts, for those who run the benchmark: researchers read, admins write."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from annotation import access, services
from annotation.api import serializers
from annotation.api.named_groups import group_of_field
from annotation.dashboard.counts import Work, count_work
from annotation.models import Batch, ExpertGroup, Membership, Physician
from annotation.selectors.progress import conflicts_by_groups
from consilium.core.endpoints import PAGED, Pages
from consilium.core.errors import Conflict
from rubrics.access import get_administered_benchmark, get_benchmark
from rubrics.api.invitations import invitation_fields
from rubrics.models import Benchmark


@extend_schema(methods=["GET"], responses=serializers.GroupSerializer(many=True), operation_id="groups_list")
@extend_schema(methods=["POST"], request=serializers.GroupSerializer, responses={201: serializers.GroupSerializer})
@api_view(["GET", "POST"])
def groups(request: Request, slug: str) -> Response:
    """List the expert groups.

    All at once: people make them one by one.

    POST: Make an expert group.
    """
    if request.method == "GET":
        rows = get_benchmark(request.user, slug).groups.all()
        return Response(serializers.GroupSerializer(rows, many=True).data)
    benchmark = get_administered_benchmark(request.user, slug)
    data = _valid(serializers.GroupSerializer(data=request.data))
    new_group = services.create_group(benchmark=benchmark, name=data["name"])
    return Response(serializers.GroupSerializer(new_group).data, status=status.HTTP_201_CREATED)


@extend_schema(methods=["GET"], responses=serializers.GroupSerializer)
@extend_schema(methods=["PATCH"], request=serializers.GroupSerializer, responses=serializers.GroupSerializer)
@api_view(["GET", "PATCH"])
def group(request: Request, slug: str, public_id: str) -> Response:
    """Show an expert group.

    PATCH: Rename an expert group.
    """
    if request.method == "GET":
        return Response(serializers.GroupSerializer(access.get_group(request.user, slug, public_id)).data)
    row = access.get_administered_group(request.user, slug, public_id)
    services.rename_group(group=row, name=_valid(serializers.GroupSerializer(data=request.data))["name"])
    return Response(serializers.GroupSerializer(row).data)


@extend_schema(methods=["GET"], responses=serializers.MemberSerializer(many=True), operation_id="members_list")
@extend_schema(methods=["POST"], request=serializers.MemberSerializer, responses={201: serializers.NewMemberSerializer})
@api_view(["GET", "POST"])
def members(request: Request, slug: str, public_id: str) -> Response:
    """List the members of a group.

    All at once: the people of one group.

    POST: Give a person a part in a group. Who never signed in is invited by email; without a mail server the answer
    shows the link, once.
    """
    if request.method == "GET":
        row = access.get_group(request.user, slug, public_id)
        administers = Benchmark.objects.administered_by(request.user).filter(pk=row.benchmark_id).exists()
        rows = row.memberships.select_related("user").order_by("pk")
        return Response(_members(row, list(rows), administers=administers))
    row = access.get_administered_group(request.user, slug, public_id)
    assert isinstance(request.user, User)
    membership, issued = services.invite_member(
        group=row,
        by=request.user,
        at=timezone.now(),
        **_valid(serializers.MemberSerializer(data=request.data)),
    )
    answer = {**_members(row, [membership], administers=True)[0], **invitation_fields(issued)}
    return Response(answer, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


def _members(group: ExpertGroup, rows: list[Membership], *, administers: bool) -> list[dict[str, Any]]:
    pseudonyms = dict(Physician.objects.filter(benchmark=group.benchmark_id).values_list("user_id", "pseudonym"))
    return [
        {
            "id": row.pk,
            "pseudonym": pseudonyms.get(row.user_id, ""),
            "email": row.user.email if administers else "",
            "name": row.user.name if administers else "",
            "role": row.role,
            "active": row.active,
            "invited": row.user.is_invited,
            "capacity": row.capacity,
        }
        for row in rows
    ]


@extend_schema(request=serializers.MemberChangeSerializer, responses=serializers.MemberSerializer)
@api_view(["PATCH"])
def member(request: Request, slug: str, public_id: str, membership: int) -> Response:
    """Stop a member, whose open work goes back for others to take, or let them work again; set a capacity."""
    row = access.get_administered_membership(request.user, slug, public_id, membership)
    data = _valid(serializers.MemberChangeSerializer(data=request.data))
    if "capacity" in data:
        services.set_capacity(membership=row, capacity=data["capacity"])
    if "active" in data:
        by = request.user if isinstance(request.user, User) else None
        services.set_member_active(membership=row, active=data["active"], by=by, at=timezone.now())
    return Response(_members(row.group, [row], administers=True)[0])


@extend_schema(
    methods=["GET"], responses=serializers.BatchSerializer(many=True), parameters=PAGED, operation_id="batches_list"
)
@extend_schema(
    methods=["POST"],
    request=serializers.NewBatchSerializer,
    responses={200: serializers.RepeatedBatchSerializer, 201: serializers.BatchSerializer},
)
@api_view(["GET", "POST"])
def batches(request: Request, slug: str) -> Response:
    """List the batches with their progress.

    POST: Make a batch: the same plan as its preview, by seed.

    The same ``group``, ``seed`` and ``digest`` of a preview make one batch: sent again, they answer 200 with that
    batch, and `not_taken` names the settings that are not those of the batch. Without a ``digest`` every request
    asks for a new batch.
    """
    if request.method == "GET":
        benchmark = get_benchmark(request.user, slug)
        pages = Pages()
        queryset = Batch.objects.filter(group__benchmark=benchmark).exclude(kind=Batch.Kind.QUALIFY)
        queryset = queryset.select_related("group")
        rows = pages.paginate_queryset(queryset, request) or []
        return pages.get_paginated_response(_batches(rows))
    benchmark = get_administered_benchmark(request.user, slug)
    serializer = serializers.NewBatchSerializer(data=request.data)
    chosen = _chosen(benchmark, serializer)
    try:
        batch, _plan = services.make_batch(
            **chosen,
            by=request.user if isinstance(request.user, User) else None,
            at=timezone.now(),
            digest=serializer.validated_data["digest"],
        )
    except services.AlreadyCreated as repeated:
        terms, filter_ = chosen["terms"], chosen["filter"]
        not_taken = services.settings_not_taken(batch=repeated.batch, terms=terms, filter=filter_)
        return Response({**_batches([repeated.batch])[0], "not_taken": not_taken})
    return Response(_batches([batch])[0], status=status.HTTP_201_CREATED)


@extend_schema(request=serializers.NewBatchSerializer, responses=serializers.PlanSerializer)
@api_view(["POST"])
def batch_preview(request: Request, slug: str) -> Response:
    """What such a batch would contain, and the load of each physician; nothing is written."""
    benchmark = get_administered_benchmark(request.user, slug)
    plan = services.plan_batch(**_chosen(benchmark, serializers.NewBatchSerializer(data=request.data)))
    return Response(serializers.PlanSerializer(plan).data)


def _chosen(benchmark: Benchmark, serializer: serializers.NewBatchSerializer) -> dict[str, Any]:
    data = _valid(serializer)
    row = group_of_field(benchmark, data["group"], field="group")
    return {"group": row, "terms": serializer.terms(), "filter": serializer.response_filter()}


@extend_schema(methods=["GET"], responses=serializers.BatchSerializer)
@extend_schema(methods=["PATCH"], request=serializers.BatchSerializer, responses=serializers.BatchSerializer)
@api_view(["GET", "PATCH"])
def batch(request: Request, slug: str, public_id: str) -> Response:
    """Show a batch.

    PATCH: Set the due date or the title of a batch.
    """
    if request.method == "GET":
        return Response(_batches([access.get_batch(request.user, slug, public_id)])[0])
    row = access.get_administered_batch(request.user, slug, public_id)
    data = _valid(serializers.BatchSerializer(data=request.data))
    if not data:
        raise ValidationError({"due_date": [_("Send “due_date” or “title”.")]})
    with transaction.atomic():
        if "title" in data:
            services.rename_batch(batch=row, title=data["title"])
        if "due_date" in data:
            services.extend_batch(batch=row, due_date=data["due_date"], at=timezone.now())
    return Response(_batches([row])[0])


@extend_schema(request=None, responses=serializers.BatchSerializer)
@api_view(["POST"])
def batch_pause(request: Request, slug: str, public_id: str) -> Response:
    """Take no work for now."""
    row = access.get_administered_batch(request.user, slug, public_id)
    services.pause_batch(batch=row)
    return Response(_batches([row])[0])


@extend_schema(request=None, responses=serializers.BatchSerializer)
@api_view(["POST"])
def batch_open(request: Request, slug: str, public_id: str) -> Response:
    """Take work again."""
    row = access.get_administered_batch(request.user, slug, public_id)
    services.open_batch(batch=row)
    return Response(_batches([row])[0])


@extend_schema(request=serializers.ClosingSerializer, responses=serializers.BatchSerializer)
@api_view(["POST"])
def batch_close(request: Request, slug: str, public_id: str) -> Response:
    """End the batch for good. Where work is unfinished, ``drop_unfinished`` must say that it shall count in no result.

    Without it such a batch stays as it is: the answer is 409 and gives the numbers.
    """
    row = access.get_administered_batch(request.user, slug, public_id)
    data = _valid(serializers.ClosingSerializer(data=request.data))
    work = count_work([row], at=timezone.now()).total()
    unfinished = work.total - work.accepted
    if unfinished and row.status != Batch.Status.CLOSED and not data["drop_unfinished"]:
        raise Conflict(
            _(
                "%(unfinished)d of %(total)d assignments are not finished. Once the batch is closed, "
                "they do not count in any result. To close it anyway, send drop_unfinished: true."
            )
            % {"unfinished": unfinished, "total": work.total}
        )
    services.close_batch(batch=row, at=timezone.now())
    return Response(_batches([row])[0])


def _batches(rows: list[Batch]) -> list[dict[str, Any]]:
    work_by_batch = count_work(rows, at=timezone.now()).by_batch()
    for row in rows:
        by_stage = dict(work_by_batch.get(row.pk, Work()).by_stage)
        free = by_stage.pop("unassigned")
        row.progress = {**by_stage, "free": free}  # type: ignore[attr-defined]  # for the serializer
    return list(serializers.BatchSerializer(rows, many=True).data)


@extend_schema(methods=["GET"], responses=serializers.ConflictCountSerializer(many=True), operation_id="conflicts_list")
@extend_schema(
    methods=["POST"], request=serializers.BetweenSerializer, responses={201: serializers.OpenedConflictsSerializer}
)
@api_view(["GET", "POST"])
def conflicts(request: Request, slug: str) -> Response:
    """Count adjudications.

    All at once: one row for each group and each pair of groups.

    POST: Open adjudications between two groups whose batches are closed.
    """
    if request.method == "GET":
        rows = conflicts_by_groups(get_benchmark(request.user, slug).pk)
        return Response(serializers.ConflictCountSerializer(rows, many=True).data)
    benchmark = get_administered_benchmark(request.user, slug)  # before the body is looked at: a refusal tells nothing
    data = _valid(serializers.BetweenSerializer(data=request.data))
    first = group_of_field(benchmark, data["group"], field="group")
    second = group_of_field(benchmark, data["other"], field="other")
    n_opened = services.open_conflicts_between(group=first, other=second, at=timezone.now())
    return Response({"opened": n_opened}, status=status.HTTP_201_CREATED)


def _valid(serializer: serializers.Plain) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)
