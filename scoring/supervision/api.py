"""The API endpoint of supervision for a fine-tune."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request

from consilium.core.api import StrictSerializer
from consilium.core.limits import MAX_GROUP_NAME_LENGTH, MAX_KEY_LENGTH
from consilium.llm.prompts import TEMPLATES
from rubrics.access import get_benchmark
from scoring.supervision.export import PROMPT, REQUESTS_FOR, SupervisionTerms, zipped_supervision
from scoring.trained.training_data import DEV_SHARE


class SupervisionSerializer(StrictSerializer, serializers.Serializer[Any]):
    """What is to be written; without ``held_out`` a quarter of the candidates is held out by the seed."""

    group = serializers.CharField(max_length=MAX_GROUP_NAME_LENGTH)
    held_out = serializers.ListField(
        child=serializers.CharField(max_length=MAX_KEY_LENGTH), max_length=100, default=list
    )
    candidates = serializers.ListField(
        child=serializers.CharField(max_length=MAX_KEY_LENGTH),
        max_length=100,
        default=list,
        help_text="Names; empty for all that answered by themselves.",
    )
    prompt = serializers.ChoiceField(choices=sorted(TEMPLATES), default=PROMPT)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    dev_share = serializers.FloatField(min_value=0.01, max_value=0.99, default=DEV_SHARE)

    requests = serializers.ChoiceField(
        choices=REQUESTS_FOR,
        default="",
        help_text="requests.jsonl about the held-out candidates, or about all; empty for none.",
    )

    def validate_group(self, name: str) -> str:
        """As commands take it, with or without ``group:``."""
        if not name.removeprefix("group:"):
            raise serializers.ValidationError(_("Specify a group."))
        return name.removeprefix("group:")


@extend_schema(
    request=SupervisionSerializer,
    responses={(200, "application/zip"): OpenApiTypes.BINARY},
    operation_id="supervision_export",
)
@api_view(["POST"])
def supervision(request: Request, slug: str) -> FileResponse:
    """Write a group's decisions as supervision for a fine-tune: a ZIP of train.jsonl, dev.jsonl, manifest.json
    and, where asked for, requests.jsonl."""
    benchmark = get_benchmark(request.user, slug)
    serializer = SupervisionSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    payload = serializer.validated_data
    terms = SupervisionTerms(
        group=payload["group"],
        held_out=tuple(payload["held_out"]),
        prompt=payload["prompt"],
        seed=payload["seed"],
        dev_share=payload["dev_share"],
        candidates=tuple(payload["candidates"]),
        requests=payload["requests"],
    )
    archive = zipped_supervision(benchmark=benchmark, terms=terms)
    return FileResponse(archive, as_attachment=True, filename=f"{slug}-supervision.zip", content_type="application/zip")
