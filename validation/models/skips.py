"""Questions that a physician could not judge: they give no answer, and do not come back to the person."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from consilium.core.audit import audited
from consilium.core.limits import MAX_REASON_LENGTH


@audited
class SkippedQuestion(models.Model):
    """A question about coverage, or a pair, that a physician skipped. It stays open to others.

    Its row is deleted when the same physician answers after all. The audit trail keeps the skip alone: the deletion
    leaves no event.
    """

    decision = models.ForeignKey(
        "validation.CoverageDecision", null=True, blank=True, on_delete=models.PROTECT, related_name="skips"
    )
    pair = models.ForeignKey(
        "validation.NearMissPair", null=True, blank=True, on_delete=models.PROTECT, related_name="skips"
    )
    physician = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True, max_length=MAX_REASON_LENGTH)
    skipped_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["decision", "physician"], name="validation_skip_decision_once"),
            models.UniqueConstraint(fields=["pair", "physician"], name="validation_skip_pair_once"),
            models.CheckConstraint(
                condition=Q(decision=None, pair__isnull=False) | Q(decision__isnull=False, pair=None),
                name="validation_skip_of_one_question",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.physician} skipped {self.decision or self.pair}"
