"""Reports: figures about raters, kept with everything it takes to get them again."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from consilium.lib.identifiers import new_public_id
from rubrics.models import Benchmark, JobStatus


class Report(models.Model):
    """One computation over a benchmark's decisions and verdicts. A worker fills it in."""

    class Kind(models.TextChoices):
        AGREEMENT = "agreement", _("Agreement")
        FIDELITY = "fidelity", _("Judge fidelity")
        SCORES = "scores", _("Scores")
        CALIBRATION = "calibration", _("Calibration")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="reports")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    parameters = models.JSONField(default=dict)  # raters, k, group, candidate …
    seed = models.BigIntegerField(default=0)
    status = models.CharField(max_length=10, choices=JobStatus.choices, default=JobStatus.PENDING)
    progress = models.FloatField(default=0.0)  # share done, 0 to 1
    attempts = models.PositiveSmallIntegerField(default=0)  # workers that took it up; one that is lost every time ends
    error = models.TextField(blank=True)
    result = models.JSONField(default=dict)  # the tables as rows, figures' data
    input_digest = models.CharField(max_length=64, blank=True)  # of the ratings that went in
    software = models.CharField(max_length=40, blank=True)
    recomputes = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="recomputed")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["benchmark", "kind", "-created_at"], name="agreement_report_newest"),
            models.Index(
                fields=["created_at"], condition=Q(status__in=["pending", "running"]), name="agreement_report_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.public_id}"

    @property
    def section(self) -> str:
        """The part of the benchmark's pages that it stands in."""
        return SECTION_OF[self.kind]


SECTION_OF: dict[str, str] = {
    Report.Kind.AGREEMENT: "agreement",
    Report.Kind.FIDELITY: "agreement",
    Report.Kind.SCORES: "scores",
    Report.Kind.CALIBRATION: "calibration",
}
