"""Runs of steps that ask endpoints, each step of them, and each exchange with an endpoint. See `scoring.pipelines`."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.labels import STATUS_LABELS
from rubrics.models import Benchmark, Candidate, Case
from scoring.models.origins import RULES_STAY, EndpointKind, ReleasedRun


class PipelineRun(ReleasedRun):
    """Steps for a set of cases, of which some ask an endpoint; ``kind`` names the module that says which.

    Times, status and sweep are those of `consilium.core.locked_jobs`.
    """

    class Status(models.TextChoices):
        PENDING = "pending", STATUS_LABELS["pending"]
        RUNNING = "running", STATUS_LABELS["running"]
        PAUSED = "paused", STATUS_LABELS["paused"]
        CANCELLED = "cancelled", STATUS_LABELS["cancelled"]
        INCOMPLETE = "incomplete", STATUS_LABELS["incomplete"]
        FINISHED = "finished", STATUS_LABELS["finished"]
        FAILED = "failed", STATUS_LABELS["failed"]

    LIVE = (Status.PENDING, Status.RUNNING, Status.PAUSED)

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    kind = models.CharField(max_length=20)  # a name in `scoring.pipelines.kind.KINDS`
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="pipeline_runs")
    # The candidate that answers, where the run asks one.
    candidate = models.ForeignKey(
        Candidate, null=True, blank=True, on_delete=models.PROTECT, related_name="pipeline_runs"
    )
    # Endpoints, models, names of the keys' variables, prompts, decoding settings: all that an answer depends on.
    config = models.JSONField(default=dict)
    terms = models.JSONField(default=dict)  # what the kind keeps beside it, such as the number of samples
    frame = models.JSONField(default=dict)  # the filter by which the cases were chosen
    asks = ArrayField(models.TextField(), default=list)  # endpoints with models: runs with one in common share limits
    # The most that it may spend, and what it has spent or may have spent, in ``currency``.
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    spent = models.FloatField(default=0.0)
    # The most that requests cost which a worker was about to send, and whose answers it has not written yet.
    reserved = models.FloatField(default=0.0)
    # A replay sends no request: it takes the stored answers, of the run that it replays first.
    replay = models.BooleanField(default=False)
    replay_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="replays")
    imported = models.BooleanField(default=False)
    endpoint_kind = models.CharField(max_length=5, choices=EndpointKind.choices, default=EndpointKind.MODEL)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.PENDING)
    error = models.TextField(blank=True)
    # Its use of endpoints; tokens are the endpoint's own counts, or estimates where it reports none.
    calls = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    estimated_calls = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    resume_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)  # starts in a row without an answer
    # How many of these turns ended because PostgreSQL was started again, and when it was started as the last one began.
    ended_with_database = models.PositiveSmallIntegerField(default=0, db_default=0)
    database_start = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            *ReleasedRun.Meta.constraints,
            models.CheckConstraint(
                condition=Q(replay_of=None) | Q(replay=True), name="scoring_pipelinerun_replay_of_a_run"
            ),
            models.CheckConstraint(
                condition=Q(budget=None) | (Q(budget__gt=0) & ~Q(currency="")), name="scoring_pipelinerun_budget"
            ),
            models.CheckConstraint(condition=Q(spent__gte=0) & Q(reserved__gte=0), name="scoring_pipelinerun_spent"),
        ]
        indexes = [
            # The sweep looks every few seconds for the few runs that still have work to do.
            models.Index(
                fields=["heartbeat_at"],
                condition=Q(status__in=["pending", "running", "paused"]),
                name="scoring_pipelinerun_live",
            )
        ]
        triggers = [RULES_STAY]

    def __str__(self) -> str:
        return f"{self.kind}, {self.public_id}"


class PipelineStep(models.Model):
    """One step for one case. It is done once: its output never changes."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        READY = "ready", _("Ready")
        DONE = "done", STATUS_LABELS["done"]
        FAILED = "failed", STATUS_LABELS["failed"]
        SKIPPED = "skipped", _("Skipped")  # a step that it needs has failed

    run = models.ForeignKey(PipelineRun, on_delete=models.CASCADE, related_name="steps")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=60, blank=True)  # which of several, such as the number of a sample
    stage = models.CharField(max_length=30)
    round = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    input_digest = models.CharField(max_length=64, blank=True)
    request_hash = models.CharField(max_length=64, blank=True)
    output = models.JSONField(null=True)
    findings = models.JSONField(default=list)  # what code found on checking the answer
    # The answer that was taken: of this run, or of an earlier one where it came from the cache.
    call = models.ForeignKey(
        "EndpointCall", null=True, blank=True, on_delete=models.PROTECT, related_name="answered_steps"
    )
    attempts = models.PositiveSmallIntegerField(default=0)  # exchanges with the endpoint
    re_asks = models.PositiveSmallIntegerField(default=0)  # of these, faulty ones since it was last begun
    error_kind = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "case", "key", "stage", "round"], name="scoring_pipelinestep_once"),
            models.CheckConstraint(
                condition=Q(state="done", output__isnull=False) | (~Q(state="done") & Q(output=None, call=None)),
                name="scoring_pipelinestep_output",
            ),
        ]
        indexes = [models.Index(fields=["run", "id"], condition=Q(state="ready"), name="scoring_pipelinestep_ready")]
        triggers = [
            pgtrigger.Protect(
                name="written_once", operation=pgtrigger.Update, condition=pgtrigger.Q(old__state="done")
            ),
            # A forced choice that was answered has its reading; no row of a replay has one, nor one of a run that came
            # from a file. Of a run that came with a release, readings are written after its steps.
            pgtrigger.Trigger(
                name="choice_has_reading",
                when=pgtrigger.After,
                operation=pgtrigger.UpdateOf("state"),
                timing=pgtrigger.Deferred,
                condition=pgtrigger.Q(new__state="done", new__stage="choice"),
                func="""
                    IF NOT EXISTS (
                        SELECT 1 FROM scoring_acuityreading r
                        WHERE r.pipeline_run_id = NEW.run_id AND r.case_id = NEW.case_id
                          AND r.sample::text = NEW.key
                    ) AND EXISTS (
                        SELECT 1 FROM scoring_pipelinerun r
                        WHERE r.id = NEW.run_id AND NOT r.replay AND NOT r.imported
                    ) THEN
                        RAISE EXCEPTION 'a forced choice that is done has a reading'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'scoring_pipelinestep_reading';
                    END IF;
                    RETURN NULL;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case}: {self.stage} {self.key} {self.round}"


class EndpointCall(models.Model):
    """One exchange with an endpoint, word for word. A good one answers the same request again at no cost."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="+", db_index=False)
    run = models.ForeignKey(PipelineRun, on_delete=models.PROTECT, related_name="exchanges")  # the one that paid
    # Of the first request of the step, without its nonce. A request that was repeated with its fault keeps the hash.
    request_hash = models.CharField(max_length=64)
    endpoint = models.TextField()
    model = models.CharField(max_length=200)  # the name that was sent
    endpoint_kind = models.CharField(max_length=5, choices=EndpointKind.choices, default=EndpointKind.MODEL)
    request = models.BinaryField()  # the body as it was sent, compressed by zlib
    answer = models.BinaryField(null=True)  # `scoring.pipelines.kind.Answer` as JSON, compressed; null: none came
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    error_kind = models.CharField(max_length=40, blank=True)  # empty: a good answer
    error = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(error_kind="") | Q(answer__isnull=False), name="scoring_endpointcall_good_answer"
            )
        ]
        indexes = [models.Index(fields=["benchmark", "request_hash"], name="scoring_endpointcall_cache")]
        triggers = [pgtrigger.Protect(name="stands", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"Call {self.request_hash[:8]}"
