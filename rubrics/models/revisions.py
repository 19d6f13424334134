"""Requests to reword a criterion."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from rubrics.models.cases import Criterion, Rubric
from rubrics.models.responses import Response


class RevisionRequest(models.Model):
    """Somebody found a criterion at fault; its rubric waits for a new version, or for a reason to leave it.

    Without a criterion the request is about the rubric as a whole, which may lack one.
    """

    class Status(models.TextChoices):
        OPEN = "open", _("Open")
        DONE = "done", _("Revised")
        DISMISSED = "dismissed", _("Left unchanged")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="revision_requests")
    criterion = models.ForeignKey(
        Criterion, null=True, blank=True, on_delete=models.PROTECT, related_name="revision_requests"
    )
    response = models.ForeignKey(Response, null=True, on_delete=models.PROTECT, related_name="+")  # where it was found
    reason = models.TextField(_("reason"))
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    answer = models.TextField(_("answer"), blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    closed_at = models.DateTimeField(null=True, blank=True)
    # The version that takes it up: a draft at first, then the one in which it was answered.
    taken_up_in = models.ForeignKey(Rubric, null=True, blank=True, on_delete=models.SET_NULL, related_name="takes_up")

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            # One open request for a fault found at one place; the same fault found at another place is another request.
            models.UniqueConstraint(
                fields=["rubric", "criterion", "response"],
                condition=models.Q(status="open"),
                nulls_distinct=False,
                name="rubrics_one_open_revision",
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="rubrics_revision_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion_id or self.rubric}: {self.reason[:40]}"
