"""Judges, their runs over responses, the runs' calls and the resulting verdicts."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.outcomes import OutcomeChoices
from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.labels import OUTCOME_LABELS, STATUS_LABELS
from consilium.core.limits import MAX_JUDGE_NAME_LENGTH
from consilium.statistics.outcomes import Outcome as OutcomeCode
from rubrics.models import AcuityScale, Benchmark, Criterion, Response, Rubric
from scoring.judges.kinds.kind import KINDS, JudgeKind, kind_key, kind_named
from scoring.models.origins import RULES_STAY, EndpointKind, ReleasedRun


class Judge(models.Model):
    """A version of something that gives verdicts. A changed judge is a new version; runs keep what they used."""

    class Kind(models.TextChoices):
        CHAT = "chat", _("Chat model")
        TRAINED = "trained", _("Trained on physicians’ decisions")
        JURY = "jury", _("Jury of judges")
        IMPORTED = "imported", _("Verdicts made elsewhere")

    class Task(models.TextChoices):
        RUBRIC = "rubric", _("Criteria of rubrics")
        ACUITY = "acuity", _("Level of care advised")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    # The benchmark that it belongs to. Whoever runs it may also use the judge on other benchmarks that they run.
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="judges")
    name = models.CharField(_("name"), max_length=MAX_JUDGE_NAME_LENGTH)
    version = models.PositiveIntegerField(default=1)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    task = models.CharField(_("task"), max_length=10, choices=Task.choices, default=Task.RUBRIC)
    # The levels that a judge of acuity reads.
    scale = models.ForeignKey(AcuityScale, null=True, blank=True, on_delete=models.PROTECT, related_name="judges")
    # Its settings, which `scoring.judges.config` reads.
    config = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name", "version"], name="scoring_judge_once"),
            models.CheckConstraint(
                condition=Q(task="rubric", scale=None) | Q(task="acuity", kind="chat", scale__isnull=False),
                name="scoring_judge_task",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def kind_info(self) -> JudgeKind:
        """All that differs by kind and task."""
        return KINDS[kind_key(self.kind, self.task)]


class TrainedModel(models.Model):
    """The fitted pipeline of a trained judge and its model card."""

    judge = models.OneToOneField(Judge, on_delete=models.CASCADE, related_name="trained_model")
    status = models.CharField(max_length=10, default="pending")  # pending, running, done, failed
    error = models.TextField(blank=True)
    artifact = models.BinaryField(null=True)
    sha256 = models.CharField(max_length=64, blank=True)
    card = models.JSONField(default=dict)  # data, split, threshold, MF1 on held-out candidates with interval
    trained_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"Model of {self.judge}"


HAS_DERIVED = "derived"  # key of the frame of a run over responses of derived candidates


class JudgeRunQuerySet(models.QuerySet["JudgeRun"]):
    def graded(self) -> JudgeRunQuerySet:
        """Finished runs that graded unchanged responses, most recently finished first."""
        return self.finished(JudgeRun.Purpose.GRADE)

    def finished(self, purpose: JudgeRun.Purpose) -> JudgeRunQuerySet:
        """Finished runs of one purpose, most recently finished first.

        Those over responses of derived candidates count under their own id alone, never under their judge's name.
        """
        rows = self.filter(status=JudgeRun.Status.FINISHED, purpose=purpose).exclude(frame__has_key=HAS_DERIVED)
        return rows.order_by("-finished_at", "-pk")


class JudgeRun(ReleasedRun):
    """A judge's work on a set of responses. The stored verdicts, never the broker, show what is still missing."""

    class Status(models.TextChoices):
        PENDING = "pending", STATUS_LABELS["pending"]
        RUNNING = "running", STATUS_LABELS["running"]
        # The endpoint is down; the run retries by itself after ever longer pauses, then ends incomplete.
        PAUSED = "paused", STATUS_LABELS["paused"]
        CANCELLING = "cancelling", _("Cancelling")
        CANCELLED = "cancelled", STATUS_LABELS["cancelled"]
        INCOMPLETE = "incomplete", STATUS_LABELS["incomplete"]
        FINISHED = "finished", STATUS_LABELS["finished"]
        FAILED = "failed", STATUS_LABELS["failed"]

    class Purpose(models.TextChoices):
        GRADE = "grade", _("Grading")
        SUSCEPTIBILITY = "susceptibility", _("Susceptibility")  # replicate 0 unchanged, 1…n with an injection each
        ACUITY = "acuity", _("Levels of care")
        # As susceptibility, of a judge that reads levels.
        ACUITY_EDITED = "acuity-edited", _("Susceptibility of levels")

    # Purposes of judges with the task acuity: their items have no rubric, and their results are readings.
    READS_LEVELS = (Purpose.ACUITY, Purpose.ACUITY_EDITED)

    LIVE = (Status.PENDING, Status.RUNNING, Status.PAUSED, Status.CANCELLING)

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="judge_runs")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    purpose = models.CharField(max_length=14, choices=Purpose.choices, default=Purpose.GRADE)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.PENDING)
    frame = models.JSONField(default=dict)  # the filter by which the responses were chosen
    snapshot = models.JSONField(default=dict)  # the judge in full, as it was when the run began
    prompt_hash = models.CharField(max_length=64, blank=True)
    # The run that it continues on newer rubric versions; verdicts whose request is the same were copied from there.
    continues = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="continued_by")
    carried = models.PositiveIntegerField(default=0)  # verdicts that came from there
    replicates = models.PositiveSmallIntegerField(default=1)
    expected = models.PositiveIntegerField(default=0)  # verdicts due: criteria of all items × replicates
    # The most that it may spend, in the currency of the prices that its snapshot holds.
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    imported = models.BooleanField(default=False)
    endpoint_kind = models.CharField(
        max_length=5, choices=EndpointKind.choices, default=EndpointKind.MODEL, db_default=EndpointKind.MODEL
    )
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JudgeRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [*ReleasedRun.Meta.constraints]
        indexes = [
            # The sweep queries every few seconds the few runs that still have work to do.
            models.Index(
                fields=["heartbeat_at"],
                condition=Q(status__in=["pending", "running", "paused", "cancelling"]),
                name="scoring_run_live",
            ),
            models.Index(fields=["benchmark", "judge", "-finished_at"], name="scoring_run_newest"),
        ]
        triggers = [RULES_STAY]

    def __str__(self) -> str:
        return f"Run {self.public_id} of {self.judge}"

    @property
    def snapshot_kind(self) -> JudgeKind:
        """The kind of the judge as it was when the run began."""
        return kind_named(kind_key(str(self.snapshot.get("kind")), str(self.snapshot.get("task", ""))))

    @property
    def reads_levels(self) -> bool:
        """Whether its results are readings of levels; else they are verdicts."""
        return self.purpose in self.READS_LEVELS

    @property
    def n_results(self) -> int:
        """How many verdicts or readings there are."""
        return self.acuity_readings.count() if self.reads_levels else self.verdicts.count()


class RunSlice(models.Model):
    """A worker's share of a run: the items whose response falls into it. One worker at a time, by an advisory lock."""

    class Status(models.TextChoices):
        PENDING = "pending", STATUS_LABELS["pending"]
        RUNNING = "running", STATUS_LABELS["running"]
        DONE = "done", STATUS_LABELS["done"]
        STOPPED = "stopped", _("Stopped")

    OPEN = (Status.PENDING, Status.RUNNING)

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="slices")
    number = models.PositiveSmallIntegerField()  # from 0
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    reason = models.TextField(blank=True)  # why it stopped, in words
    failed = models.BooleanField(default=False)  # it stopped because its worker failed or died
    enqueued_at = models.DateTimeField(null=True, blank=True)  # when a task was last sent for it
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    # How often work on it began since the last verdict; limiting it bounds the cost of a worker that dies repeatedly.
    starts_without_progress = models.PositiveSmallIntegerField(default=0)
    # How many of these turns ended because PostgreSQL was started again, and when it was started as the last one began.
    ended_with_database = models.PositiveSmallIntegerField(default=0, db_default=0)
    database_start = models.DateTimeField(null=True, blank=True)
    # If its endpoint was down: the earliest time to resume, and how often in a row it was down.
    resume_at = models.DateTimeField(null=True, blank=True)
    pauses = models.PositiveSmallIntegerField(default=0)
    # Its use of the endpoint so far; tokens are the endpoint's own counts, or estimates where it reports none.
    calls = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    estimated_calls = models.PositiveIntegerField(default=0)
    # The most that it may spend in all; claims of slices at work and what the others spent never exceed the budget.
    claim = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="scoring_slice_once")]

    def __str__(self) -> str:
        return f"Slice {self.number} of {self.run}"


class JudgeRunItem(models.Model):
    """A response that a run is to judge, against the rubric that was current when the run was made.

    There is no rubric exactly where the run reads levels.
    """

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="items")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    rubric = models.ForeignKey(Rubric, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    # The criteria of the rubric to judge; null for all of them.
    criteria = ArrayField(models.BigIntegerField(), null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["run", "response"], name="scoring_item_once")]
        triggers = [
            pgtrigger.Trigger(
                name="rubric_of_purpose",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func="""
                    IF (NEW.rubric_id IS NULL) <> (
                        (SELECT purpose FROM scoring_judgerun WHERE id = NEW.run_id) IN ('acuity', 'acuity-edited')
                    ) THEN
                        RAISE EXCEPTION 'a run has items without a rubric if and only if it reads levels'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            )
        ]

    def __str__(self) -> str:
        return f"{self.response} in {self.run}"


class JudgeCall(models.Model):
    """One request to an endpoint and what came back, word for word."""

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="calls")
    request_hash = models.CharField(max_length=64)
    attempt = models.PositiveSmallIntegerField(default=1)
    raw = models.TextField(blank=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    error_kind = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["run", "error_kind"], name="scoring_call_errors")]

    def __str__(self) -> str:
        return f"Call {self.request_hash[:8]}, attempt {self.attempt}"


@audited
class Verdict(models.Model):
    """A judge's verdict on one (response, criterion) pair. An invalid verdict is a row; a missing one has no row."""

    class Outcome(OutcomeChoices):
        MET = OutcomeCode.MET.word, OUTCOME_LABELS["met"]
        NOT_MET = OutcomeCode.NOT_MET.word, OUTCOME_LABELS["not_met"]
        INVALID = OutcomeCode.INVALID.word, OUTCOME_LABELS["invalid"]

    run = models.ForeignKey(JudgeRun, on_delete=models.PROTECT, related_name="verdicts")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    replicate = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    probability = models.FloatField(null=True, blank=True)  # of met, where the judge gives one
    explanation = models.TextField(blank=True)
    call = models.ForeignKey(JudgeCall, null=True, blank=True, on_delete=models.PROTECT, related_name="verdicts")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "response", "criterion", "replicate"], name="scoring_verdict_once")
        ]
        triggers = [pgtrigger.Protect(name="stands", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.criterion_id}: {self.outcome}"
