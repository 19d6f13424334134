"""Stage 1 of quality control: cases that candidates solve too easily are flagged, and a person decides."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.labels import STATUS_LABELS
from consilium.core.limits import MAX_RATER_LENGTH, MAX_TITLE_LENGTH
from rubrics.models import Benchmark, Case


class Screening(models.Model):
    """The scores of cases by one rater over several candidates, and the threshold from which a case is flagged."""

    class Status(models.TextChoices):
        OPEN = "open", _("Open")
        CLOSED = "closed", STATUS_LABELS["closed"]

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="screenings")
    title = models.CharField(_("title"), max_length=MAX_TITLE_LENGTH)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    rater = models.CharField(_("rater"), max_length=MAX_RATER_LENGTH)
    candidates = models.JSONField(default=list)  # names
    threshold = models.FloatField(_("threshold"), default=0.5)  # of the aggregated rubric score, 0 to 1
    aggregate = models.CharField(_("aggregated by"), max_length=10, default="mean")  # mean or max over candidates
    digest = models.CharField(max_length=64, blank=True)  # of the input
    facts = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(threshold__gte=0, threshold__lte=1), name="scoring_screening_threshold"),
        ]

    def __str__(self) -> str:
        return self.title


@audited
class ScreenedCase(models.Model):
    """A case in a screening: its score, whether the score flags it, and what a person decided."""

    class Decision(models.TextChoices):
        KEEP = "keep", _("Kept")
        EXCLUDE = "exclude", _("Excluded")

    screening = models.ForeignKey(Screening, on_delete=models.PROTECT, related_name="cases")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    score = models.FloatField(null=True)  # 0 to 1, empty where undefined
    note = models.TextField(blank=True)  # why it is undefined
    scores = models.JSONField(default=dict)  # {candidate: score or null}
    n_responses = models.PositiveIntegerField(default=0)
    flagged = models.BooleanField(default=False)
    decision = models.CharField(max_length=10, choices=Decision.choices, blank=True)
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    by_candidate: list[tuple[str, float | None]]  # the scores by name, where a page shows them

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["screening", "case"], name="scoring_screened_once"),
            models.CheckConstraint(
                condition=~Q(decision="exclude") | ~Q(reason=""), name="scoring_screened_out_with_a_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case}: {self.decision}"
