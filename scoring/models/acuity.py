"""What candidates say about how urgent a case is."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from rubrics.models import AcuityImport, AcuityScale, Candidate, Case


class AcuityReading(models.Model):
    """What a candidate says about one case in one sample: a level of a scale, or why it is none. It never changes.

    A forced choice is no `Response`: nothing of it reaches grading, judges of rubrics or scores.
    """

    class Format(models.TextChoices):
        FORCED_CHOICE = "qa", _("Forced choice")
        CHAT = "chat", _("As to a patient")

    class Source(models.TextChoices):
        IMPORTED = "imported", _("Imported")

    class State(models.TextChoices):
        """As `rubrics.parsing.acuity_levels.State`; *missing* is an answer that was asked for and not given."""

        LEVEL = "level", _("Level")
        REFUSED = "refused", _("Refused")
        NO_LEVEL = "no-level", _("No level")
        SEVERAL = "several", _("Several levels")
        INVALID = "invalid", _("Invalid")
        MISSING = "missing", _("Missing")

    scale = models.ForeignKey(AcuityScale, on_delete=models.PROTECT, related_name="readings", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="acuity_readings")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="acuity_readings")
    format = models.CharField(max_length=4, choices=Format.choices)
    sample = models.PositiveSmallIntegerField()
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.IMPORTED)
    acuity_import = models.ForeignKey(AcuityImport, on_delete=models.PROTECT, related_name="readings")
    line = models.PositiveIntegerField()  # of the file
    state = models.CharField(max_length=10, choices=State.choices)
    level = models.PositiveSmallIntegerField(null=True)  # its place on the scale, 0 for the least urgent
    confidence = models.FloatField(null=True)  # 0 to 1
    text = models.TextField(blank=True)  # what was said, word for word

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                # Several files may have left the same answer out.
                fields=["scale", "candidate", "case", "format", "sample"],
                condition=~Q(state="missing"),
                name="scoring_acuityreading_once",
            ),
            models.CheckConstraint(
                condition=Q(state="level", level__isnull=False) | (~Q(state="level") & Q(level=None)),
                name="scoring_acuityreading_level",
            ),
            models.CheckConstraint(
                condition=Q(confidence=None) | Q(confidence__gte=0, confidence__lte=1),
                name="scoring_acuityreading_confidence",
            ),
        ]
        triggers = [pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.candidate} on {self.case}: {self.state}"
