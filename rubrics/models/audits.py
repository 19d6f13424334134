"""Senior audits: a random sample of the cases, read by a person who wrote none of them."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited
from consilium.core.identifiers import new_public_id
from consilium.core.labels import STATUS_LABELS
from consilium.core.limits import MAX_TITLE_LENGTH
from rubrics.models.benchmarks import Benchmark
from rubrics.models.cases import Case, Rubric


class CaseAudit(models.Model):
    """A draw of cases for audit, with the frame it was drawn from."""

    class Status(models.TextChoices):
        OPEN = "open", _("Open")
        CLOSED = "closed", STATUS_LABELS["closed"]

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="audits")
    title = models.CharField(_("title"), max_length=MAX_TITLE_LENGTH)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    share = models.FloatField(_("share"), default=0.2)
    seed = models.BigIntegerField(_("seed"))
    frame = models.JSONField(default=dict)  # {"filter": {…}, "in_frame": n, "drawn": n}
    auditors_per_case = models.PositiveSmallIntegerField(_("auditors per case"), default=1)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=models.Q(share__gt=0, share__lte=1), name="rubrics_audit_share"),
        ]

    def __str__(self) -> str:
        return self.title


@audited
class AuditItem(models.Model):
    """One auditor's reading of one drawn case. Without an auditor it waits to be taken."""

    class Outcome(models.TextChoices):
        SOUND = "sound", _("Sound")
        REVISE = "revise", _("Revise")
        REMOVE = "remove", _("Remove")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    audit = models.ForeignKey(CaseAudit, on_delete=models.PROTECT, related_name="items")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="audit_items")
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="audit_items")  # as it was drawn
    number = models.PositiveSmallIntegerField(default=1)  # counts the auditors of a case
    position = models.PositiveIntegerField(default=0)
    auditor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="audit_items"
    )
    # {"correctness": true|false, "necessity": …, "consistency": …, "guidelines": …}: true where nothing is wrong
    answers = models.JSONField(default=dict, blank=True)
    criteria = ArrayField(models.BigIntegerField(), default=list, blank=True)  # those that are at fault
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    comment = models.TextField(_("comment"), blank=True)
    version = models.PositiveIntegerField(default=1)
    taken_at = models.DateTimeField(null=True, blank=True)  # last: an item that was released keeps it
    done_at = models.DateTimeField(null=True, blank=True)
    # Why an admin keeps a case that the auditor would remove.
    kept_reason = models.TextField(blank=True, default="", db_default="")
    kept_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    kept_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["audit", "case", "number"], name="rubrics_audititem_once"),
            models.UniqueConstraint(fields=["audit", "case", "auditor"], name="rubrics_auditor_once_a_case"),
            models.CheckConstraint(
                condition=models.Q(done_at=None) | (~models.Q(outcome="") & models.Q(auditor__isnull=False)),
                name="rubrics_audit_outcome",
            ),
            models.CheckConstraint(
                condition=models.Q(done_at=None) | models.Q(outcome="sound") | ~models.Q(comment=""),
                name="rubrics_audit_comment",
            ),
            models.CheckConstraint(
                condition=models.Q(kept_at=None, kept_reason="")
                | (models.Q(kept_at__isnull=False, outcome="remove") & ~models.Q(kept_reason="")),
                name="rubrics_audit_kept",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case}: {self.outcome}"
