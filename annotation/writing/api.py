"""API endpoints of written responses: a physician's own cases, and giving cases out.

A physician's serializers read what the page reads: letters for references, and nothing of whose they are.
"""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from annotation.api.serializers import Plain
from annotation.api.work import LISTED, in_benchmark
from annotation.models import Batch, WritingTask
from annotation.payload import LARGEST_VERSION
from annotation.selectors import reading_pages
from annotation.selectors.case_work import of_excluded_cases
from annotation.selectors.queue_places import writing_place
from annotation.services import new_seed
from annotation.writing import batches, selectors, services
from annotation.writing.forms import WritingBatchForm
from annotation.writing.writing_plan import WritingFilter, WritingOrder
from consilium.core.api import StrictSerializer
from consilium.core.commands import CommandSerializer, serializer_field
from consilium.core.endpoints import page_of
from consilium.core.limits import MAX_KEY_LENGTH
from consilium.core.schema import stale
from consilium.core.versioning import StaleSave
from rubrics.access import get_administered_benchmark


class WritingTaskSerializer(Plain):
    """A case that you write to, or have written to."""

    id = serializers.CharField(source="public_id")
    benchmark = serializers.CharField(source="batch.group.benchmark.slug")
    batch = serializers.CharField(source="batch.public_id")
    batch_title = serializers.CharField(source="batch.title")
    mode = serializers.CharField(source="batch.writing_terms.mode")
    status = serializers.ChoiceField(choices=WritingTask.Status.choices)
    position = serializers.IntegerField(
        source="place", help_text="Its place among your cases of the batch, from 1; 0 if it was released."
    )


class WritingTurnSerializer(Plain):
    """A turn of the conversation."""

    role = serializers.CharField()
    text = serializers.CharField()


class ReferenceSerializer(Plain):
    """An answer that is shown beside the editor; ``place`` counts from 0 and names it."""

    place = serializers.IntegerField()
    letter = serializers.CharField()
    text = serializers.CharField()


class WritingTaskDetailSerializer(WritingTaskSerializer):
    """A case with its conversation, its references and your draft."""

    language = serializers.CharField(source="case.language")
    instructions = serializers.CharField(source="batch.writing_terms.instructions", allow_blank=True)
    conversation = WritingTurnSerializer(many=True)
    references = ReferenceSerializer(many=True)
    text = serializers.CharField(allow_blank=True)
    reference = serializers.IntegerField(allow_null=True, help_text="The one that the text was begun from.")
    version = serializers.IntegerField()


class DraftSerializer(StrictSerializer, Plain):
    """The whole draft; ``version`` is the one that you saw."""

    text = serializers.CharField(max_length=services.MAX_TEXT_LENGTH, allow_blank=True, trim_whitespace=False)
    reference = serializers.IntegerField(min_value=0, allow_null=True, default=None)
    version = serializers.IntegerField(min_value=1, max_value=LARGEST_VERSION)
    client_id = serializers.UUIDField(allow_null=True, default=None)


class HandInSerializer(StrictSerializer, Plain):
    """The version that you submit; ``attested``: written yourself and without AI tools."""

    version = serializers.IntegerField(min_value=1, max_value=LARGEST_VERSION)
    attested = serializers.BooleanField(default=False)


class WritingBatchSerializer(StrictSerializer, CommandSerializer):
    """A batch to be made; ``group`` is an id, ``candidate`` and ``references`` are names."""

    commands = (WritingOrder, WritingFilter)
    field_order = (
        *("title", "group", "candidate", "mode", "mode_name", "references", "instructions", "writers_per_case"),
        *(
            "specialty_match",
            "match_languages",
            "tags",
            "languages",
            "difficulties",
            "skip_written",
            "draw",
            "due_date",
            "seed",
        ),
    )
    group = serializers.CharField(max_length=16)
    references = serializers.ListField(child=serializers.CharField(max_length=MAX_KEY_LENGTH), default=list)
    specialty_match = serializer_field(WritingOrder, "specialty_match", choices=Batch.SpecialtyMatch.values)
    difficulties = serializers.ListField(child=serializers.CharField(max_length=10), default=list)
    seed = serializer_field(WritingOrder, "seed", required=False)


class MadeWritingBatchSerializer(Plain):
    """The batch that was made."""

    id = serializers.CharField()
    title = serializers.CharField()
    cases = serializers.IntegerField()
    responses = serializers.IntegerField()


class StoredDraftSerializer(Plain):
    """A draft as it is stored."""

    text = serializers.CharField(allow_blank=True)
    version = serializers.IntegerField()


StaleDraftSerializer = stale("Draft", StoredDraftSerializer(required=False))


def _me(request: Request) -> User:
    assert isinstance(request.user, User)  # every endpoint asks for a signed-in user
    return request.user


@extend_schema(responses=WritingTaskSerializer(many=True), parameters=LISTED, operation_id="writing_tasks_list")
@api_view(["GET"])
def tasks(request: Request) -> Response:
    """Cases that you write to, in the order of your queues."""
    rows = in_benchmark(request, selectors.own_tasks(request.user), "batch__group__benchmark")
    rows = rows.exclude(of_excluded_cases()).select_related("batch__writing_terms", "batch__group__benchmark")
    rows = rows.order_by("batch", "position", "pk").annotate(place=writing_place())
    return page_of(request, rows, WritingTaskSerializer)


@extend_schema(responses=WritingTaskDetailSerializer)
@api_view(["GET"])
def task(request: Request, public_id: str) -> Response:
    """One case: the conversation, the references if there are any, and your draft."""
    row = selectors.get_own_task(request.user, public_id)
    services.release_if_read(task=row, at=timezone.now())
    return Response(_task(row))


def _task(row: WritingTask) -> dict[str, Any]:
    released = row.status == WritingTask.Status.RELEASED
    row.place = selectors.place_of(row).position  # type: ignore[attr-defined]  # for the serializer
    row.conversation = reading_pages.reading_of(row.case, "").turns  # type: ignore[attr-defined]
    row.references = [] if released else selectors.references_of(row)  # type: ignore[attr-defined]
    row.reference = selectors.reference_begun_from(row)  # type: ignore[attr-defined]
    return dict(WritingTaskDetailSerializer(row).data)


@extend_schema(request=DraftSerializer, responses={200: WritingTaskDetailSerializer, 409: StaleDraftSerializer})
@api_view(["POST"])
def save(request: Request, public_id: str) -> Response:
    """Save your draft. 409 with ``current`` where it was saved elsewhere since you saw it."""
    row = selectors.get_own_task(request.user, public_id)
    sent = DraftSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    change = services.TextInput(**sent.validated_data)
    try:
        services.save_text(task=row, writer=_me(request), change=change, at=timezone.now())
    except StaleSave as stale:
        current = {"text": stale.current.text, "version": stale.current.version}
        return Response({"detail": str(stale), "current": current}, status=stale.status_code)
    return Response(_task(selectors.get_own_task(request.user, public_id)))


@extend_schema(request=HandInSerializer, responses={200: WritingTaskDetailSerializer, 409: StaleDraftSerializer})
@api_view(["POST"])
def submit(request: Request, public_id: str) -> Response:
    """Hand your draft in; it can never change afterwards. Its task says ``released`` where it is not taken any more."""
    row = selectors.get_own_task(request.user, public_id)
    sent = HandInSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    at = timezone.now()
    if not services.release_if_read(task=row, at=at):
        services.hand_in(task=row, writer=_me(request), at=at, **sent.validated_data)
    return Response(_task(row))


@extend_schema(request=WritingBatchSerializer, responses={201: MadeWritingBatchSerializer})
@api_view(["POST"])
def create(request: Request, slug: str) -> Response:
    """Give cases out to be written to, as the page does; for admins of the benchmark."""
    benchmark = get_administered_benchmark(request.user, slug)
    sent = WritingBatchSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    references = sent.validated_data["references"]
    known = list(benchmark.candidates.called(references).values_list("public_id", "name"))
    unknown = set(references) - {name for names in known for name in names}
    form_data = {
        "seed": new_seed(),
        **sent.validated_data,
        "references": [*(public_id for public_id, _name in known), *sorted(unknown)],
    }
    form = WritingBatchForm(form_data, benchmark=benchmark, tags=[(tag, 0) for tag in form_data["tags"]])
    if not form.is_valid():
        raise serializers.ValidationError({name: list(map(str, texts)) for name, texts in form.errors.items()})
    batch = batches.create_writing_batch(
        order=form.order(), filter=form.case_filter(), by=_me(request), at=timezone.now()
    )
    written = WritingTask.objects.filter(batch=batch)
    payload = {
        "id": batch.public_id,
        "title": batch.title,
        "cases": written.values("case").distinct().count(),
        "responses": written.count(),
    }
    return Response(MadeWritingBatchSerializer(payload).data, status=201)
