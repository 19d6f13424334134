"""Responses that physicians write in the browser, for calibration and as references."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.work import Batch, CaseWorkStatus
from consilium.core.audit import audited_fields
from consilium.core.identifiers import new_public_id
from consilium.core.limits import MAX_MODE_NAME_LENGTH
from rubrics.models import Candidate, Case, Response


class WritingTerms(models.Model):
    """How the responses of a batch are written: for which candidate, and with which references shown to the writer.

    HealthBench had three modes: unaided, with the completions of an older set of models, and with those of a newer set.
    Here each mode is a batch of its own; ``mode_name`` keeps the study's name for it.
    """

    batch = models.OneToOneField(Batch, on_delete=models.PROTECT, related_name="writing_terms")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")
    mode = models.CharField(
        _("mode"), max_length=10, choices=[("unaided", _("Unaided")), ("aided", _("With references"))]
    )
    mode_name = models.CharField(_("name of the mode"), max_length=MAX_MODE_NAME_LENGTH, blank=True)
    references = models.ManyToManyField(Candidate, blank=True, related_name="+")
    instructions = models.TextField(_("instructions"), blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(mode__in=["unaided", "aided"]), name="annotation_writing_mode")
        ]

    def __str__(self) -> str:
        return f"{self.batch}: {self.mode}"


# The text is not audited: it is saved every few seconds, and the final text becomes a response, which never changes.
@audited_fields("WritingTaskEvent", "batch", "case", "writer", "status", "release_reason", "response")
class WritingTask(models.Model):
    """One physician's response to one case: not started → draft → submitted, or released to somebody else.

    The draft is saved while it is written; when it is handed in it becomes a `Response` that can never change.
    """

    Status = CaseWorkStatus

    class Release(models.TextChoices):
        PASSED_ON = "passed_on", _("Handed over")
        TAKEN_BACK = "taken_back", _("Withdrawn")
        HAS_READ = "has_read", _("Has since read an answer to the case")

    OPEN = (Status.NOT_STARTED, Status.DRAFT)

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="writing_tasks")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    writer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="writing_tasks")
    status = models.CharField(max_length=15, choices=Status.choices, default=Status.NOT_STARTED)
    position = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    # Responses that were shown beside the editor, in the order in which this writer saw them.
    shown = ArrayField(models.BigIntegerField(), default=list, blank=True)
    derived_from = models.ForeignKey(Response, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    response = models.OneToOneField(
        Response, null=True, blank=True, on_delete=models.PROTECT, related_name="written_in"
    )
    version = models.PositiveIntegerField(default=1)  # counts saves; a save names the version that it saw
    client_id = models.UUIDField(null=True, blank=True)
    seconds = models.PositiveIntegerField(default=0)  # spent on it, as the browser reports
    reported_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    saved_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    release_reason = models.CharField(max_length=10, choices=Release.choices, blank=True, default="", db_default="")

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "case", "writer"], name="annotation_writingtask_once"),
            models.CheckConstraint(
                condition=Q(status="submitted", response__isnull=False) | (~Q(status="submitted") & Q(response=None)),
                name="annotation_writing_response",
            ),
        ]
        indexes = [models.Index(fields=["writer", "status", "position"], name="annotation_writing_queue")]

    def __str__(self) -> str:
        return f"{self.case} by {self.writer}"
