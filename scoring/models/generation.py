"""Generation runs, and each response that is due in one."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.labels import STATUS_LABELS
from consilium.core.limits import MAX_SETTING_LENGTH
from rubrics.models import Benchmark, Candidate, Case, Response


class GenerationRun(models.Model):
    """The generation of a candidate's responses to a set of cases by an OpenAI-compatible endpoint, item by item."""

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
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="generation_runs")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="generation_runs")
    setting = models.CharField(_("setting"), max_length=MAX_SETTING_LENGTH, default="chat")
    # Endpoint, model, name of the key's variable, system prompt, decoding settings: all that a response depends on.
    config = models.JSONField(default=dict)
    frame = models.JSONField(default=dict)  # the filter by which the cases were chosen
    samples = models.PositiveSmallIntegerField(_("samples per case"), default=1)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.PENDING)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    resume_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(
                fields=["heartbeat_at"],
                condition=Q(status__in=["pending", "running", "paused"]),
                name="scoring_generation_live",
            )
        ]

    def __str__(self) -> str:
        return f"{self.candidate}, {self.public_id}"


class GenerationItem(models.Model):
    """One response that is due."""

    class Status(models.TextChoices):
        DUE = "due", _("Due")
        DONE = "done", STATUS_LABELS["done"]
        FAILED = "failed", STATUS_LABELS["failed"]

    run = models.ForeignKey(GenerationRun, on_delete=models.CASCADE, related_name="items")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    sample = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DUE)
    attempts = models.PositiveSmallIntegerField(default=0)
    error_kind = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    response = models.OneToOneField(
        Response, null=True, blank=True, on_delete=models.PROTECT, related_name="generated_in"
    )
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "case", "sample"], name="scoring_generationitem_once"),
            models.CheckConstraint(
                condition=Q(status="done", response__isnull=False) | (~Q(status="done") & Q(response=None)),
                name="scoring_generationitem_response",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case}, sample {self.sample}"
