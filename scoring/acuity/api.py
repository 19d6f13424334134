"""API endpoints of acuity, for those who run the benchmark: scales, schemes, labels of cases, readings, framings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.i18n import translate
from consilium.core.limits import MAX_DATASET_LENGTH, MAX_FRAMING_LENGTH, MAX_KEY_LENGTH, MAX_SCALE_NAME_LENGTH
from rubrics.access import get_benchmark
from rubrics.acuity.scales import MAX_LEVELS, MIN_LEVELS, Level, Scale, folded
from rubrics.acuity.schemes import How, Mapped, Scheme
from rubrics.acuity.services import MAX_LEVEL_TEXT_LENGTH, make_framing
from rubrics.api.named import CASE, CASE_ID
from rubrics.models import AcuityScale, HowMapped, LabelScheme, SourceLabel
from scoring.acuity import mapping, selectors, services
from scoring.acuity.forms import MAX_RULES
from scoring.models import AcuityReading

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]
Name = serializers.CharField


def _level_text(*, required: bool = True) -> serializers.CharField:
    return serializers.CharField(max_length=MAX_LEVEL_TEXT_LENGTH, required=required, allow_blank=not required)


class AcuityLevelSerializer(StrictSerializer, Plain):
    """A level; without a Chinese text it has the English one."""

    value = Name(max_length=MAX_SCALE_NAME_LENGTH)
    label_en = _level_text()
    label_zh = _level_text(required=False)
    definition_en = _level_text(required=False)
    definition_zh = _level_text(required=False)


class AcuityScaleSerializer(StrictSerializer, Plain):
    """A scale with 2 to 6 levels, the least urgent first. The name of a scale that is there makes a new version."""

    name = Name(max_length=MAX_SCALE_NAME_LENGTH)
    version = serializers.IntegerField(read_only=True)
    levels = serializers.ListField(child=AcuityLevelSerializer(), min_length=MIN_LEVELS, max_length=MAX_LEVELS)
    created_at = serializers.DateTimeField(read_only=True)


class AcuityRuleSerializer(StrictSerializer, Plain):
    """What a label becomes: ``low`` and ``high`` are values of levels, the same for direct, none for panel, exclude."""

    source_label = Name(max_length=MAX_KEY_LENGTH)
    how = serializers.ChoiceField(choices=HowMapped.choices)
    low = Name(max_length=MAX_SCALE_NAME_LENGTH, allow_null=True, default=None)
    high = Name(max_length=MAX_SCALE_NAME_LENGTH, allow_null=True, default=None)


class AcuitySchemeSerializer(StrictSerializer, Plain):
    """Rules for source labels on a scale, which is given by name. The name of a scheme makes a new version of it."""

    name = Name(max_length=MAX_SCALE_NAME_LENGTH)
    version = serializers.IntegerField(read_only=True)
    scale = Name(max_length=MAX_SCALE_NAME_LENGTH)
    scale_version = serializers.IntegerField(read_only=True)
    rules = serializers.ListField(child=AcuityRuleSerializer(), min_length=1, max_length=MAX_RULES)
    created_at = serializers.DateTimeField(read_only=True)


class AcuitySourceLabelSerializer(Plain):
    """The label of a case word for word, what a scheme makes of it, and its place."""

    case = serializers.CharField(help_text=CASE)
    case_id = serializers.CharField(help_text=CASE_ID)
    dataset = serializers.CharField()
    source_id = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    scale = serializers.CharField()
    scheme = serializers.CharField()
    version = serializers.IntegerField()
    how = serializers.ChoiceField(choices=HowMapped.choices)
    low = serializers.CharField(allow_null=True)
    high = serializers.CharField(allow_null=True)
    file = serializers.CharField()
    digest = serializers.CharField()
    line = serializers.IntegerField()
    ambiguous = serializers.BooleanField(allow_null=True)

    def to_representation(self, instance: SourceLabel) -> dict[str, Any]:
        """The row with its levels by value."""
        levels = instance.scheme.scale.levels
        return {
            "case": instance.case.key,
            "case_id": instance.case.public_id,
            "dataset": instance.dataset,
            "source_id": instance.source_id,
            "label": instance.label,
            "scale": instance.scheme.scale.name,
            "scheme": instance.scheme.name,
            "version": instance.scheme.version,
            "how": instance.how,
            "low": _value(levels, instance.low),
            "high": _value(levels, instance.high),
            "file": instance.acuity_import.file_name,
            "digest": instance.acuity_import.file_digest,
            "line": instance.line,
            "ambiguous": instance.is_flagged,
        }


class AcuityReadingSerializer(Plain):
    """What a candidate said of a case in one sample; ``level`` is null in any other state than level."""

    case = serializers.CharField(help_text=CASE)
    case_id = serializers.CharField(help_text=CASE_ID)
    candidate = serializers.CharField()
    format = serializers.ChoiceField(choices=AcuityReading.Format.choices)
    sample = serializers.IntegerField()
    source = serializers.ChoiceField(choices=AcuityReading.Source.choices)  # type: ignore[assignment]
    scale = serializers.CharField()
    version = serializers.IntegerField()
    state = serializers.ChoiceField(choices=AcuityReading.State.choices)
    level = serializers.CharField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True)
    text = serializers.CharField()
    file = serializers.CharField(help_text="Empty for a reading by a judge.")
    line = serializers.IntegerField(allow_null=True)
    run = serializers.CharField(help_text="Id of the run that asked for it; empty for an imported reading.")
    descending = serializers.BooleanField(
        allow_null=True, help_text="Of a forced choice that was asked for: whether the most urgent level came first."
    )
    distribution = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="Shares of the levels by log probabilities."
    )
    response = serializers.CharField(help_text="Id of the response that the judge read.")
    replicate = serializers.IntegerField()
    escalation = serializers.CharField(allow_null=True, help_text="The level that is advised under a condition.")
    condition = serializers.CharField()
    quote = serializers.CharField()
    quote_start = serializers.IntegerField(allow_null=True, help_text="In characters of the response.")
    quote_end = serializers.IntegerField(allow_null=True)
    explanation = serializers.CharField()

    def to_representation(self, instance: AcuityReading) -> dict[str, Any]:
        """The row with its level by value."""
        run = instance.judge_run or instance.pipeline_run
        return {
            "case": instance.case.key,
            "case_id": instance.case.public_id,
            "candidate": instance.candidate.name,
            "format": instance.format,
            "sample": instance.sample,
            "source": instance.source,
            "scale": instance.scale.name,
            "version": instance.scale.version,
            "state": instance.state,
            "level": _value(instance.scale.levels, instance.level),
            "confidence": instance.confidence,
            "text": instance.text,
            "file": instance.acuity_import.file_name if instance.acuity_import else "",
            "line": instance.line,
            "run": run.public_id if run else "",
            "descending": instance.descending,
            "distribution": instance.distribution,
            "response": instance.response.public_id if instance.response else "",
            "replicate": instance.replicate,
            "escalation": _value(instance.scale.levels, instance.escalation),
            "condition": instance.condition,
            "quote": instance.quote,
            "quote_start": instance.quote_start,
            "quote_end": instance.quote_end,
            "explanation": instance.explanation,
        }


def _value(levels: list[dict[str, str]], place: int | None) -> str | None:
    return None if place is None else levels[place]["value"]


def _shown_scheme(scheme: LabelScheme) -> dict[str, Any]:
    levels = scheme.scale.levels
    return {
        "name": scheme.name,
        "version": scheme.version,
        "scale": scheme.scale.name,
        "scale_version": scheme.scale.version,
        "rules": [
            {
                "source_label": rule.source_label,
                "how": rule.how,
                "low": _value(levels, rule.low),
                "high": _value(levels, rule.high),
            }
            for rule in scheme.rules.all()
        ],
        "created_at": scheme.created_at,
    }


class _StoredScheme(AcuitySchemeSerializer):
    def to_representation(self, instance: LabelScheme) -> dict[str, Any]:
        """The row with the levels of its rules by value."""
        return dict(super().to_representation(_shown_scheme(instance)))


@extend_schema(
    methods=["GET"], responses=AcuityScaleSerializer(many=True), parameters=PAGED, operation_id="acuity_scales_list"
)
@extend_schema(
    methods=["POST"],
    request=AcuityScaleSerializer,
    responses={201: AcuityScaleSerializer},
    operation_id="acuity_scales_create",
)
@api_view(["GET", "POST"])
def scales(request: Request, slug: str) -> Response:
    """List the scales.

    POST: Make a scale. The same levels once more are the version that is there.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        rows = AcuityScale.objects.filter(benchmark=benchmark).order_by("name", "-version")
        return page_of(request, rows, AcuityScaleSerializer)
    payload = valid(AcuityScaleSerializer(data=request.data))
    try:
        scale = Scale(payload["name"], tuple(_level(level) for level in payload["levels"]))
    except ValueError as error:
        raise ValidationError({"levels": [translate(error.args[0])]}) from error
    by, at = cast("User", request.user), timezone.now()
    row = services.save_scale(benchmark=benchmark, scale=scale, by=by, at=at)
    return Response(AcuityScaleSerializer(row).data, status=status.HTTP_201_CREATED)


def _level(sent: dict[str, str]) -> Level:
    label, definition = sent["label_en"], sent.get("definition_en", "")
    chinese = sent.get("label_zh") or label, sent.get("definition_zh") or definition
    return Level(sent["value"], label, chinese[0], definition, chinese[1])


@extend_schema(
    methods=["GET"], responses=AcuitySchemeSerializer(many=True), parameters=PAGED, operation_id="acuity_schemes_list"
)
@extend_schema(
    methods=["POST"],
    request=AcuitySchemeSerializer,
    responses={201: AcuitySchemeSerializer},
    operation_id="acuity_schemes_create",
)
@api_view(["GET", "POST"])
def schemes(request: Request, slug: str) -> Response:
    """List the label schemes.

    POST: Make a label scheme on the newest version of a scale.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.schemes(benchmark), _StoredScheme)
    payload = valid(AcuitySchemeSerializer(data=request.data))
    scale = selectors.scale_called(benchmark, payload["scale"])
    if scale is None:
        raise ValidationError({"scale": [_("There is no scale “%(name)s”.") % {"name": payload["scale"]}]})
    scheme = Scheme(payload["name"], scale, _rules(payload["rules"], scale))
    by, at = cast("User", request.user), timezone.now()
    row = services.save_scheme(benchmark=benchmark, scheme=scheme, by=by, at=at)
    return Response(_StoredScheme(row).data, status=status.HTTP_201_CREATED)


def _rules(sent: list[dict[str, Any]], scale: Scale) -> dict[str, Mapped]:
    """The rules by label; `ValidationError` names the rule that is none."""
    rules: dict[str, Mapped] = {}
    for number, rule in enumerate(sent):
        low, high = (None if rule[name] is None else scale.place(rule[name]) for name in ("low", "high"))
        how, label = How(rule["how"]), folded(rule["source_label"])
        steps = None if low is None or high is None else high - low
        expected = {How.DIRECT: 0, How.BOUNDARY: 1}.get(how)
        if label in rules:
            raise ValidationError({"rules": [f"{number}: there is a rule for {rule['source_label']!r} before"]})
        if steps != expected or (expected is None and (rule["low"], rule["high"]) != (None, None)):
            levels = ", ".join(scale.values)
            raise ValidationError(
                {
                    "rules": [
                        f"{number}: direct has low and high the same, boundary high next above low, the others none "
                        f"of them; levels are {levels}"
                    ]
                }
            )
        rules[label] = Mapped(how, low, high)
    return rules


class AcuityMappingSerializer(StrictSerializer, Plain):
    """Stored labels to be mapped again, word for word, by the newest version of a scheme on a scale."""

    dataset = Name(max_length=MAX_DATASET_LENGTH)
    scheme = Name(max_length=MAX_SCALE_NAME_LENGTH)
    scale = Name(max_length=MAX_SCALE_NAME_LENGTH)
    preview = serializers.BooleanField(default=False)


class AcuityLabelChangeSerializer(Plain):
    """What a label becomes; ``how`` is empty where the scheme has no rule for it."""

    label = serializers.CharField()  # type: ignore[assignment]
    cases = serializers.IntegerField()
    how = serializers.CharField()
    low = serializers.CharField()
    high = serializers.CharField()


class AcuityMappingResultSerializer(Plain):
    """How many labels got a further row (with ``preview``: would get one), and how many have one by this version."""

    scheme = serializers.CharField()
    scale = serializers.CharField()
    created = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    labels = AcuityLabelChangeSerializer(many=True)


@extend_schema(
    methods=["GET"],
    responses=AcuitySourceLabelSerializer(many=True),
    parameters=PAGED,
    operation_id="acuity_source_labels_list",
)
@extend_schema(
    methods=["POST"],
    request=AcuityMappingSerializer,
    responses={200: AcuityMappingResultSerializer, 201: AcuityMappingResultSerializer},
    operation_id="acuity_source_labels_map",
)
@api_view(["GET", "POST"])
def source_labels(request: Request, slug: str) -> Response:
    """List the labels of cases in the order in which they were stored.

    POST: Map the labels of a dataset again.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.source_labels(benchmark), AcuitySourceLabelSerializer)
    terms = dict(valid(AcuityMappingSerializer(data=request.data)))
    preview = terms.pop("preview")
    if preview:
        plan = mapping.plan_mapping(benchmark=benchmark, **terms)
    else:
        by, at = cast("User", request.user), timezone.now()
        plan = mapping.map_again(benchmark=benchmark, **terms, by=by, at=at)
    result = {
        "scheme": plan.scheme_name,
        "scale": plan.scale_name,
        "created": plan.n_labels,
        "unchanged": plan.n_mapped,
        "labels": plan.changes,
    }
    code = status.HTTP_201_CREATED if plan.n_labels and not preview else status.HTTP_200_OK
    return Response(AcuityMappingResultSerializer(result).data, status=code)


@extend_schema(responses=AcuityReadingSerializer(many=True), parameters=PAGED, operation_id="acuity_readings_list")
@api_view(["GET"])
def readings(request: Request, slug: str) -> Response:
    """List the readings, also those that were asked for and not given, in the order in which they were imported."""
    benchmark = get_benchmark(request.user, slug)
    return page_of(request, selectors.readings(benchmark), AcuityReadingSerializer)


class AcuityFramingSerializer(StrictSerializer, Plain):
    """A version of the framing: the message around a case that is a bare description, with ``{{case}}`` once."""

    version = serializers.IntegerField(read_only=True)
    text = serializers.CharField(max_length=MAX_FRAMING_LENGTH)
    created_by = serializers.CharField(read_only=True, allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)


@extend_schema(
    methods=["GET"],
    responses=AcuityFramingSerializer(many=True),
    parameters=PAGED,
    operation_id="acuity_framings_list",
)
@extend_schema(
    methods=["POST"],
    request=AcuityFramingSerializer,
    responses={201: AcuityFramingSerializer},
    operation_id="acuity_framings_create",
)
@api_view(["GET", "POST"])
def framings(request: Request, slug: str) -> Response:
    """List the versions of the framing, the newest first.

    POST: Make a version of the framing. The newest text once more is that version.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, benchmark.framings.select_related("created_by"), AcuityFramingSerializer)
    payload = valid(AcuityFramingSerializer(data=request.data))
    by, at = cast("User", request.user), timezone.now()
    row = make_framing(benchmark=benchmark, text=payload["text"], by=by, at=at)
    return Response(AcuityFramingSerializer(row).data, status=status.HTTP_201_CREATED)
