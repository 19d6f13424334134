"""One request to an endpoint that somebody on a page waits for: a trial, or the check of a new judge."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.jobs import OPEN, Job
from rubrics.models import Benchmark
from scoring.models.judges import Judge


class EndpointTrial(Job):
    """What a form sent, and what came of it. A worker asks; rows are deleted after an hour."""

    class Kind(models.TextChoices):
        RESPONSE = "response", _("Test request")
        CRITERION = "criterion", _("Try one criterion")
        NEW_JUDGE = "new_judge", _("Endpoint check")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="endpoint_trials")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    judge = models.ForeignKey(Judge, null=True, on_delete=models.CASCADE, related_name="+")  # of a criterion
    judge_kind = models.CharField(max_length=16, blank=True)  # of a new judge: its key in `KINDS`
    form = models.TextField(blank=True)  # the values of the form, URL-encoded; never a key of an endpoint
    # JSON as text: an answer may hold what `jsonb` refuses.
    result = models.TextField(blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["created_at"], condition=Q(status__in=OPEN), name="scoring_trial_open"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["response", "criterion", "new_judge"]), name="scoring_trial_kind"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.public_id}"
