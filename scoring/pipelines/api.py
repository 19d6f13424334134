"""What the API endpoints of every kind of run that asks a candidate share."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from consilium.core.api import StrictSerializer
from consilium.core.limits import MAX_KEY_LENGTH
from consilium.core.model_schemas import described_field
from scoring.models import EndpointKind, PipelineRun
from scoring.pipelines.pages import Progress
from scoring.pipelines.selectors import step_progress, words_of_failures

Plain = serializers.Serializer[Any]


class GenerationFrameSerializer(StrictSerializer, Plain):
    """Which cases are answered; an empty field includes everything."""

    tag = serializers.CharField(default="", allow_blank=True)
    difficulty = serializers.CharField(default="", allow_blank=True)
    register = serializers.CharField(default="", allow_blank=True)
    language = serializers.CharField(default="", allow_blank=True)
    cases = serializers.IntegerField(min_value=1, required=False, help_text="This number alone, drawn by the seed.")
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)


class PipelineFrameSerializer(Plain):
    """What a run is over: cases, or the pairs of ``groups``. Empty where cases were named one by one."""

    tag = serializers.CharField(allow_blank=True, required=False)
    difficulty = serializers.CharField(allow_blank=True, required=False)
    register = serializers.CharField(allow_blank=True, required=False)
    language = serializers.CharField(allow_blank=True, required=False)
    cases = serializers.IntegerField(required=False, help_text="How many, drawn by the seed; 0 for all.")
    seed = serializers.IntegerField(required=False)
    groups = serializers.ListField(child=serializers.CharField(), required=False, help_text="Of near-miss pairs.")
    which = serializers.CharField(required=False, help_text="Of near-miss pairs: dangerous, confirmed or all.")


class NewCandidateRunSerializer(StrictSerializer, Plain):
    """A run to be begun."""

    candidate = serializers.CharField(
        max_length=MAX_KEY_LENGTH, trim_whitespace=False, help_text="Made where it is not there."
    )
    frame = GenerationFrameSerializer(required=False)


class GenerationErrorsSerializer(Plain):
    """Failed items of one kind."""

    kind = serializers.CharField()
    items = serializers.IntegerField()
    message = serializers.CharField(allow_blank=True, help_text="What the endpoint said of one of them.")


class CandidateRunProgressSerializer(Plain):
    """How far a run is, counted from its steps."""

    total = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    due = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    failures = GenerationErrorsSerializer(many=True)


class CandidateRunSerializer(Plain):
    """A run that asks a candidate about cases, in a list."""

    id = serializers.CharField(source="public_id")
    candidate = serializers.CharField(source="candidate.name")
    status = serializers.ChoiceField(choices=PipelineRun.Status.choices)
    frame = described_field(PipelineFrameSerializer)
    samples = serializers.IntegerField()
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    resume_at = serializers.DateTimeField(allow_null=True, help_text="When a paused run asks again.")


def progress_body(run: PipelineRun, progress: Progress) -> dict[str, Any]:
    """The fields of `CandidateRunProgressSerializer`."""
    counts = progress.counts
    words = words_of_failures(run) if progress.errors else {}
    return {
        "total": counts.total,
        "done": counts.done,
        "failed": counts.failed,
        "due": counts.due,
        "tokens_in": progress.tokens_in,
        "tokens_out": progress.tokens_out,
        "failures": [
            {"kind": kind, "items": number, "message": words.get(kind, "")} for kind, number in progress.errors
        ],
    }


# What runs of endpoints say of theirs.
ENDPOINT_KIND = "`model` until an answer says that it follows rules."


class PipelineRunSerializer(Plain):
    """What lists say of a run of any kind."""

    id = serializers.CharField(source="public_id")
    endpoint_kind = serializers.ChoiceField(choices=EndpointKind.choices, help_text=ENDPOINT_KIND)
    status = serializers.ChoiceField(choices=PipelineRun.Status.choices)
    error = serializers.CharField()
    replay = serializers.BooleanField()
    frame = described_field(PipelineFrameSerializer)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    resume_at = serializers.DateTimeField(allow_null=True, help_text="When a paused run asks again.")


class WithProgress(Plain):
    """How far a run is."""

    progress = serializers.SerializerMethodField()

    @extend_schema_field(CandidateRunProgressSerializer)
    def get_progress(self, run: PipelineRun) -> dict[str, Any]:
        """As the page shows it."""
        return progress_body(run, step_progress(run, at=timezone.now()))


def budget_field() -> serializers.DecimalField:
    """The budget of a run to be begun."""
    return serializers.DecimalField(max_digits=12, decimal_places=4, required=False, allow_null=True, default=None)
