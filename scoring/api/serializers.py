"""What goes in and out of the endpoints, field by field."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from consilium.core.api import StateField, StrictSerializer
from consilium.core.commands import CommandSerializer, serializer_field
from consilium.core.limits import MAX_JUDGE_NAME_LENGTH
from consilium.core.model_schemas import described_field, stored
from rubrics.api.named import CASE, CASE_ID
from scoring.api.judge_schemas import schemas_by_kind
from scoring.judges.kinds.kind import KINDS
from scoring.models import Judge, JudgeRun, Verdict
from scoring.runs.services import MAX_DRAW_SEED, RunFrame, RunTerms

Plain = serializers.Serializer[Any]
# Kinds that can be made here; imported judges come with their verdicts.
MADE_HERE = [(value, label) for value, label in Judge.Kind.choices if KINDS[value].is_made_here]


class JudgeTrainingSerializer(Plain):
    """The fitting of a trained judge, and its model card once it is done."""

    status = StateField([(name, name) for name in ("pending", "running", "done", "failed")])
    error = serializers.CharField()
    sha256 = serializers.CharField()
    card = serializers.DictField()
    trained_at = serializers.DateTimeField(allow_null=True)


class JudgeSerializer(Plain):
    """A version of a judge; ``config`` as `NewJudge` takes it."""

    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    version = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=Judge.Kind.choices)
    task = serializers.ChoiceField(choices=Judge.Task.choices)
    scale = serializers.CharField(
        source="scale.name", default=None, allow_null=True, help_text="Of the task acuity: the levels that it reads."
    )
    benchmark = serializers.CharField(source="benchmark.slug", help_text="Where it is at home.")
    config = serializers.DictField()
    training = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()

    @extend_schema_field(JudgeTrainingSerializer(allow_null=True))
    def get_training(self, judge: Judge) -> dict[str, Any] | None:
        """Only a trained judge has one."""
        model = getattr(judge, "trained_model", None)
        return None if model is None else dict(JudgeTrainingSerializer(model).data)


class NewJudgeSerializer(StrictSerializer, Plain):
    """A judge to be made; a name that is there already gets a new version.

    ``kind`` decides which fields ``config`` has.
    """

    name = serializers.CharField(max_length=MAX_JUDGE_NAME_LENGTH, trim_whitespace=False)
    kind = serializers.ChoiceField(choices=MADE_HERE)
    task = serializers.ChoiceField(
        choices=Judge.Task.choices,
        default=Judge.Task.RUBRIC,
        help_text="acuity: a chat judge that reads levels of care.",
    )
    config = serializers.DictField()


class RunFrameSerializer(StrictSerializer, CommandSerializer):
    """Which responses a run is over; an empty field includes everything."""

    commands = (RunFrame,)
    field_order = ("batch", "candidates", "kinds", "with_bases", "sample", "seed")
    sample = serializer_field(RunFrame, "sample", min_value=1, required=False, default=empty)
    seed = serializer_field(RunFrame, "seed", max_value=MAX_DRAW_SEED)


class NewRunSerializer(StrictSerializer, CommandSerializer):
    """A run to be begun."""

    commands = (RunTerms,)
    judge = serializers.CharField(help_text="Id of a judge, of this benchmark or of another that you run.")
    frame = RunFrameSerializer(required=False)


class ResumedRunSerializer(StrictSerializer, Plain):
    """How a run continues."""

    budget = serializer_field(
        RunTerms,
        "budget",
        required=False,
        allow_null=False,
        default=empty,
        help_text="Takes the place of the run's budget.",
    )


class JudgedFrameSerializer(CommandSerializer):
    """Which responses a run is over. Which of the fields are there depends on the purpose of the run."""

    commands = (RunFrame,)
    imported = serializers.BooleanField(required=False, help_text="Its verdicts come from files.")
    derived = serializers.BooleanField(required=False, help_text="Responses of derived candidates are among them.")
    reference = serializers.CharField(required=False, help_text="Of susceptibility: whose decisions count.")
    failing = serializers.IntegerField(required=False, help_text="Of susceptibility: pairs that are not met.")
    pairs = serializers.IntegerField(required=False, help_text="Of susceptibility: pairs that were drawn.")
    responses = serializers.IntegerField(required=False, help_text="Of susceptibility of levels: responses drawn.")
    suite = serializers.CharField(required=False, help_text="Of susceptibility: the digest of the inserted texts.")
    harmless = serializers.IntegerField(required=False, help_text="Of susceptibility: how many edits are harmless.")


class TemplateSerializer(Plain):
    """The texts of a prompt."""

    name = serializers.CharField()
    system = serializers.CharField()
    user = serializers.CharField()


class SnapshotLevelSerializer(Plain):
    """A level of a scale as it was."""

    value = serializers.CharField()
    label_en = serializers.CharField()
    label_zh = serializers.CharField()
    definition_en = serializers.CharField()
    definition_zh = serializers.CharField()


class SnapshotSerializer(Plain):
    """The judge in full, as it was when the run began; ``config`` is that of its kind."""

    name = serializers.CharField(required=False)
    version = serializers.IntegerField(required=False)
    kind = serializers.ChoiceField(choices=Judge.Kind.choices, required=False)
    task = serializers.ChoiceField(choices=Judge.Task.choices, required=False)
    public_id = serializers.CharField(required=False)
    config = described_field({"anyOf": stored(list(schemas_by_kind().values()))}, required=False)
    rule_sheet = serializers.CharField(required=False)
    template = TemplateSerializer(required=False)
    scale = serializers.CharField(required=False)
    scale_version = serializers.IntegerField(required=False)
    levels = SnapshotLevelSerializer(many=True, required=False)
    model_sha256 = serializers.CharField(required=False, help_text="Of a trained judge.")


class JudgeRunSerializer(Plain):
    """A run in a list."""

    id = serializers.CharField(source="public_id")
    judge = serializers.CharField(source="judge.public_id")
    judge_name = serializers.CharField(source="judge.name")
    judge_version = serializers.IntegerField(source="judge.version")
    status = serializers.ChoiceField(choices=JudgeRun.Status.choices)
    purpose = serializers.ChoiceField(
        choices=JudgeRun.Purpose.choices,
        help_text="susceptibility: replicate 0 judges the unchanged response, 1 to 60 with an injection, and 61 to "
        "66 with a harmless edit.",
    )
    frame = described_field(JudgedFrameSerializer)
    replicates = serializers.IntegerField()
    expected = serializers.IntegerField(help_text="Verdicts due.")
    continues = serializers.CharField(
        source="continues.public_id", default=None, allow_null=True, help_text="The run that it continues."
    )
    carried = serializers.IntegerField(help_text="Verdicts that came from there.")
    budget = serializers.DecimalField(max_digits=12, decimal_places=4, allow_null=True)
    imported = serializers.BooleanField()
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class CallErrorsSerializer(Plain):
    """Failed requests of one kind."""

    kind = serializers.CharField()
    requests = serializers.IntegerField()


class RunProgressSerializer(Plain):
    """How far a run is, counted from its verdicts. The rate is of the last 30 seconds, null where nothing is known."""

    done = serializers.IntegerField()
    met = serializers.IntegerField()
    not_met = serializers.IntegerField()
    level = serializers.IntegerField(help_text="Of the task acuity: readings of a level.")
    no_level = serializers.IntegerField(help_text="Of the task acuity: responses that advise no level.")
    refused = serializers.IntegerField(help_text="Of the task acuity: responses that refuse.")
    invalid = serializers.IntegerField()
    missing = serializers.IntegerField()
    per_minute = serializers.FloatField(allow_null=True)
    remaining_s = serializers.FloatField(allow_null=True)
    failed_requests = CallErrorsSerializer(many=True)
    requests = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    spent = serializers.FloatField(allow_null=True, help_text="Null where the judge has no prices.")
    currency = serializers.CharField()


class JudgeRunDetailSerializer(JudgeRunSerializer):
    """A run with its progress and what it asked by."""

    snapshot = described_field(SnapshotSerializer)
    prompt_hash = serializers.CharField()
    progress = serializers.SerializerMethodField()

    @extend_schema_field(RunProgressSerializer)
    def get_progress(self, run: JudgeRun) -> dict[str, Any]:
        """As the endpoint counted it."""
        progress, spent = self.context["progress"], self.context["spending"]
        return {
            "done": progress.counts.done,
            "met": progress.counts.met,
            "not_met": progress.counts.not_met,
            "level": progress.counts.level,
            "no_level": progress.counts.no_level,
            "refused": progress.counts.refused,
            "invalid": progress.counts.invalid,
            "missing": progress.counts.missing,
            "per_minute": progress.per_minute,
            "remaining_s": progress.remaining_s,
            "requests": spent.calls,
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "spent": spent.money,
            "currency": spent.currency,
            "failed_requests": [{"kind": kind, "requests": number} for kind, number in progress.errors],
        }


class VerdictSerializer(Plain):
    """What the judge says of one (response, criterion) pair."""

    response = serializers.CharField(source="response.public_id")
    case = serializers.CharField(source="response.case.key", help_text=CASE)
    case_id = serializers.CharField(source="response.case.public_id", help_text=CASE_ID)
    candidate = serializers.CharField(source="response.candidate.name")
    sample = serializers.IntegerField(source="response.sample")
    criterion = serializers.IntegerField(source="criterion_id", help_text="Id, as in the case's criteria.")
    criterion_text = serializers.CharField(source="criterion.text")
    replicate = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=Verdict.Outcome.choices)
    probability = serializers.FloatField(allow_null=True)
    explanation = serializers.CharField()
    created_at = serializers.DateTimeField()
