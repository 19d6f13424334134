"""Closed questions about cases, and what physicians answer."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.work import Batch, CaseWorkStatus
from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.limits import MAX_LABEL_VALUE_LENGTH, MAX_QUESTION_NAME_LENGTH
from rubrics.models import Benchmark, Case, slug_characters


class LabelQuestion(models.Model):
    """A closed question about a case. Once it is answered its options cannot change; it can be retired."""

    class Kind(models.TextChoices):
        CHOICE = "choice", _("Single choice")
        ACUITY = "acuity", _("Acuity in four levels, with certainty")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="label_questions")
    name = models.CharField(_("short name"), max_length=MAX_QUESTION_NAME_LENGTH, validators=[slug_characters])
    text = models.TextField(_("question"))
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.CHOICE)
    # [{"value": "emergent", "label": "Emergent", "help": "…"}], 2 to 9 options; exactly 4 for acuity, lowest first
    options = models.JSONField(_("options"), default=list)
    threshold = models.FloatField(
        _("counts as agreed from"),
        default=0.75,
        validators=[MinValueValidator(0.5), MaxValueValidator(1.0)],
        help_text=_("Share of the answers that the most frequent one needs."),
    )
    minimum_answers = models.PositiveSmallIntegerField(
        _("fewest answers"), default=2, validators=[MinValueValidator(1)]
    )
    position = models.PositiveSmallIntegerField(default=1)
    active = models.BooleanField(default=True)
    tags_written_at = models.DateTimeField(null=True, blank=True)  # when its agreed values last became tags of cases
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="annotation_question_name_once"),
            models.CheckConstraint(
                condition=Q(threshold__gte=0.5, threshold__lte=1), name="annotation_question_threshold"
            ),
        ]

    def __str__(self) -> str:
        return self.text


@audited
class LabelTask(models.Model):
    """One physician's answers about one case: not started → draft → submitted.

    A task can also be released: another physician of the group then answers instead, and the draft stays on record.
    """

    Status = CaseWorkStatus
    OPEN = (Status.NOT_STARTED, Status.DRAFT)

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="label_tasks")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="+")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="label_tasks")
    status = models.CharField(max_length=15, choices=Status.choices, default=Status.NOT_STARTED)
    position = models.PositiveIntegerField(default=0)  # in the annotator's own shuffled queue
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "case", "annotator"], name="annotation_labeltask_once"),
        ]
        indexes = [models.Index(fields=["annotator", "status", "position"], name="annotation_label_queue")]

    def __str__(self) -> str:
        return f"{self.case} for {self.annotator}"


@audited
class LabelAnswer(models.Model):
    """What a physician answers to one question about one case."""

    task = models.ForeignKey(LabelTask, on_delete=models.PROTECT, related_name="answers")
    question = models.ForeignKey(LabelQuestion, on_delete=models.PROTECT, related_name="answers")
    value = models.CharField(max_length=MAX_LABEL_VALUE_LENGTH)
    certainty = models.PositiveSmallIntegerField(null=True, blank=True)  # 0 to 100, of acuity only
    note = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    client_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "question"], name="annotation_labelanswer_once"),
            models.CheckConstraint(
                condition=Q(certainty=None) | Q(certainty__lte=100), name="annotation_labelanswer_certainty"
            ),
        ]
        triggers = [pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.question_id}: {self.value}"
