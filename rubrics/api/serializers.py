"""What goes in and out of the endpoints, field by field."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from consilium.core.api import StateField, StrictSerializer
from consilium.core.commands import CommandSerializer
from consilium.core.i18n import translate
from consilium.core.jobs import JobStatus
from consilium.core.limits import (
    MAX_EXTERNAL_ID_LENGTH,
    MAX_KEY_LENGTH,
    MAX_LICENCE_LENGTH,
    MAX_SETTING_LENGTH,
    MAX_SLUG_LENGTH,
    MAX_TITLE_LENGTH,
)
from consilium.core.model_schemas import described_field
from consilium.core.schema import FaultSerializer
from rubrics import models
from rubrics.api.named import CASE, CASE_ID
from rubrics.parsing.acuity_files import FORMATS as READING_FORMATS
from rubrics.parsing.acuity_files import SHAPES
from rubrics.parsing.cases import FORMATS as CASE_FORMATS
from rubrics.parsing.decisions import MAX_REPLICATE
from rubrics.selectors.attributes import attributes_of
from rubrics.services.attribute_values import AttributeValues
from rubrics.tables.encodings import NAMES as ENCODINGS
from rubrics.tables.table import DELIMITER_NAMES

Plain = serializers.Serializer[Any]
MAX_RESPONSES = 500
IMPORT_FORMATS = ("auto", *CASE_FORMATS, *SHAPES)  # of cases and of acuity


class BenchmarkSerializer(StrictSerializer, Plain):
    """A benchmark."""

    slug = serializers.CharField(read_only=True)
    title = serializers.CharField(max_length=MAX_TITLE_LENGTH)
    description = serializers.CharField(allow_blank=True, required=False)
    guidelines = serializers.CharField(allow_blank=True, required=False)
    rule_sheet = serializers.CharField(allow_blank=True, required=False)
    licence = serializers.CharField(allow_blank=True, required=False, max_length=MAX_LICENCE_LENGTH)
    maps = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField()),
        read_only=True,
        help_text="From tags to categories: specialty, task, cluster and register.",
    )
    is_demo = serializers.BooleanField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class NewBenchmarkSerializer(StrictSerializer, Plain):
    """A benchmark to be made."""

    slug = serializers.CharField(
        max_length=MAX_SLUG_LENGTH,
        validators=[models.slug_characters],
        help_text="Letters, digits, hyphens and underscores. A number is taken as its digits.",
    )
    title = serializers.CharField(max_length=MAX_TITLE_LENGTH)
    description = serializers.CharField(allow_blank=True, default="")


class CaseSerializer(Plain):
    """A case in a list."""

    id = serializers.CharField(source="public_id")
    key = serializers.CharField()
    difficulty = serializers.CharField()
    register = serializers.CharField()
    language = serializers.CharField(help_text="A tag of BCP 47; empty: not known.")
    language_detected = serializers.BooleanField(help_text="Whether it was detected by the words of the case.")
    tags = serializers.ListField(child=serializers.CharField())
    label_tags = serializers.ListField(child=serializers.CharField(), help_text="Agreed on by physicians.")
    criterion_count = serializers.IntegerField()
    response_count = serializers.IntegerField()


class CitationSerializer(Plain):
    """A passage that a criterion rests on. The quotation must be in the passage word for word."""

    passage = serializers.CharField(help_text="The public id of a passage of this benchmark.")
    start = serializers.IntegerField(
        required=False, allow_null=True, help_text="Where the quotation begins, in characters of the passage."
    )
    end = serializers.IntegerField(required=False, allow_null=True)
    quote = serializers.CharField(
        allow_blank=True, required=False, help_text="Empty where the passage is cited as a whole."
    )


class CriterionSerializer(Plain):
    """A criterion in its place in the published rubric."""

    id = serializers.IntegerField(source="criterion_id")
    position = serializers.IntegerField()
    text = serializers.CharField(source="criterion.text")
    points = serializers.IntegerField()
    tags = serializers.ListField(child=serializers.CharField())
    citations = CitationSerializer(many=True)


class CaseTurnSerializer(Plain):
    """A turn of a conversation."""

    role = serializers.CharField()
    content = serializers.CharField()


class CaseDetailSerializer(Plain):
    """A case with its conversation and the criteria of its published rubric."""

    id = serializers.CharField(source="public_id")
    key = serializers.CharField()
    conversation = CaseTurnSerializer(many=True)
    reference_answer = serializers.CharField()
    difficulty = serializers.CharField()
    register = serializers.CharField()
    language = serializers.CharField(help_text="A tag of BCP 47; empty: not known.")
    language_detected = serializers.BooleanField(help_text="Whether it was detected by the words of the case.")
    tags = serializers.ListField(child=serializers.CharField())
    label_tags = serializers.ListField(child=serializers.CharField(), help_text="Agreed on by physicians.")
    metadata = serializers.DictField()
    criteria = serializers.SerializerMethodField()

    @extend_schema_field(CriterionSerializer(many=True))
    def get_criteria(self, case: models.Case) -> list[dict[str, Any]]:
        """The items of the published gold rubric."""
        items = models.RubricItem.objects.filter(rubric__in=case.rubrics.filter(status="published", track="gold"))
        return list(CriterionSerializer(items.select_related("criterion").order_by("position"), many=True).data)


class AttributesSerializer(StrictSerializer, CommandSerializer):
    """The attributes of a candidate. Sizes are in billions of parameters, prices of a million tokens."""

    commands = (AttributeValues,)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that the values fit each other."""
        conflicts = dict(AttributeValues(**attrs).conflicts())
        if conflicts:
            raise serializers.ValidationError({field: [translate(reason)] for field, reason in conflicts.items()})
        return attrs


class CandidateSerializer(Plain):
    """A candidate; ``flagged`` counts responses that seem to name their author."""

    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=models.Candidate.Kind.choices)
    response_count = serializers.IntegerField()
    case_count = serializers.IntegerField()
    flagged = serializers.IntegerField()
    attributes = serializers.SerializerMethodField()

    @extend_schema_field(AttributesSerializer)
    def get_attributes(self, candidate: models.Candidate) -> dict[str, Any]:
        """What is known of it; an attribute that is not is empty or null."""
        return dict(AttributesSerializer(attributes_of(candidate)).data)


class ResponseSerializer(Plain):
    """What a candidate answered to a case."""

    id = serializers.CharField(source="public_id")
    case = serializers.CharField(source="case.key", help_text=CASE)
    case_id = serializers.CharField(source="case.public_id", help_text=CASE_ID)
    candidate = serializers.CharField(source="candidate.name")
    setting = serializers.CharField()
    sample = serializers.IntegerField()
    response = serializers.CharField(source="text")
    external_id = serializers.CharField()
    writing_mode = serializers.CharField()
    metadata = serializers.DictField()
    created_at = serializers.DateTimeField()


class NewResponseSerializer(StrictSerializer, Plain):
    """A response to be added, in the fields of the file format."""

    case = serializers.CharField(max_length=MAX_KEY_LENGTH, help_text=CASE)
    candidate = serializers.CharField(max_length=MAX_KEY_LENGTH)
    sample = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    response = serializers.CharField(allow_blank=True, trim_whitespace=False)
    setting = serializers.CharField(max_length=MAX_SETTING_LENGTH, default="chat")
    external_id = serializers.CharField(max_length=MAX_EXTERNAL_ID_LENGTH, required=False)
    writing_mode = serializers.ChoiceField(choices=["unaided", "aided"], required=False)
    references = serializers.ListField(
        child=serializers.CharField(max_length=MAX_KEY_LENGTH),
        required=False,
        help_text="Candidates whose responses to the case were shown to the writer; only with a `writing_mode`.",
    )
    metadata = serializers.DictField(required=False)


class NewResponsesSerializer(StrictSerializer, Plain):
    """Responses to be added, all of them or none."""

    responses = NewResponseSerializer(many=True)
    candidate_kind = serializers.ChoiceField(choices=models.Candidate.Kind.choices, required=False)

    def validate_responses(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Not empty, and no more than a request should carry; a file takes any number."""
        if not value or len(value) > MAX_RESPONSES:
            raise serializers.ValidationError(_("Send 1 to %(n)s responses.") % {"n": MAX_RESPONSES})
        return value


class CountsSerializer(Plain):
    """What was done: for each kind of row how many were created, unchanged and so on."""

    counts = described_field(
        {
            "type": "object",
            "properties": {"warnings": {"type": "array", "items": {"type": "string"}}},
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        help_text="`warnings` is a list of sentences, which a person should read.",
    )


class ImportSerializer(Plain):
    """An import and what became of it."""

    id = serializers.CharField(source="public_id")
    kind = serializers.ChoiceField(choices=models.ImportJob.Kind.choices)
    file_name = serializers.CharField()
    options = serializers.DictField(child=serializers.CharField())
    status = StateField(JobStatus.choices)
    bytes_total = serializers.IntegerField()
    bytes_read = serializers.IntegerField()
    counts = described_field(
        {
            "type": "object",
            "additionalProperties": {
                "oneOf": [
                    {"type": "object", "additionalProperties": {"type": "integer"}},
                    {"type": "array", "items": {}},
                ]
            },
        },
        help_text="For each kind of row how many were created, unchanged and so on; `warnings`, `previews` and "
        "`editions` are lists.",
    )
    faults = serializers.SerializerMethodField(help_text="Those of a preview are in its `counts.previews`, too.")
    fault_total = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(FaultSerializer(many=True))
    def get_faults(self, job: models.ImportJob) -> list[dict[str, Any]]:
        """Why the file was refused, or would be: a preview of a faulty file is finished."""
        return [*job.errors, *(fault for preview in _previews(job) for fault in preview["faults"])]

    def get_fault_total(self, job: models.ImportJob) -> int:
        """How many there are; `faults` lists the first ones."""
        return job.error_total + sum(preview["n_faults"] for preview in _previews(job))


def _previews(job: models.ImportJob) -> list[dict[str, Any]]:
    return job.counts.get("previews", [])


class NewImportSerializer(StrictSerializer, Plain):
    """A file to be imported. Which options a kind takes: cases ``format``; responses ``candidate``,
    ``candidate_kind``; cases, responses and rubrics as a table ``columns`` (JSON: what the column with each heading
    contains), ``encoding``, ``delimiter``, and ``preview`` (true: nothing is written, ``counts.previews`` has what
    would be, and ``faults`` what an import would refuse); decisions and meta_eval ``group``; verdicts ``judge``,
    ``candidate``, ``replicate`` (0, 1, …), ``learned`` (names of the candidates that the judge learned from, one a
    line); bank ``bank``, ``licence``; rubrics ``author`` (the address of the author who wrote them); acuity
    ``dataset``, ``scale``, ``scheme``, ``format``, ``candidate``, ``reading_format`` (qa or chat), ``preview`` (as
    above); votes ``group``, ``scale``. Rubric sets have an endpoint of their own.
    """

    kind = serializers.ChoiceField(choices=models.ImportJob.Kind.choices)
    file = serializers.FileField(max_length=255)
    format = serializers.ChoiceField(choices=IMPORT_FORMATS, required=False)
    candidate = serializers.CharField(required=False)
    candidate_kind = serializers.ChoiceField(choices=models.Candidate.Kind.choices, required=False)
    group = serializers.CharField(required=False)
    judge = serializers.CharField(required=False)
    replicate = serializers.IntegerField(min_value=0, max_value=MAX_REPLICATE, required=False)
    learned = serializers.CharField(required=False)
    bank = serializers.CharField(required=False)
    licence = serializers.CharField(required=False)
    author = serializers.CharField(required=False)
    dataset = serializers.CharField(required=False)
    scale = serializers.CharField(required=False)
    scheme = serializers.CharField(required=False)
    columns = serializers.CharField(required=False)
    encoding = serializers.ChoiceField(choices=tuple(ENCODINGS), required=False)
    delimiter = serializers.ChoiceField(choices=tuple(DELIMITER_NAMES), required=False)
    reading_format = serializers.ChoiceField(choices=READING_FORMATS, required=False)
    preview = serializers.BooleanField(required=False)
