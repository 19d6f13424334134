"""Files that were uploaded, and what became of each."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.jobs import ENDED_WITHOUT_RESULT, BaseJob
from rubrics.models.benchmarks import Benchmark


class ImportJob(BaseJob):
    """A file that was uploaded, and what became of it. All of it is imported, or nothing."""

    class Kind(models.TextChoices):
        CASES = "cases", _("Cases")
        RESPONSES = "responses", _("Responses")
        DECISIONS = "decisions", _("Physicians’ decisions")
        VERDICTS = "verdicts", _("Judge verdicts")
        META_EVAL = "meta_eval", _("Meta-evaluation labels")
        BANK = "bank", _("Bank of criteria")
        RUBRICS = "rubrics", _("Rubrics as a table")
        ACUITY = "acuity", _("Acuity: labels and readings")
        VOTES = "votes", _("Acuity: physicians’ votes")
        RELEASE = "release", _("Acuity of a release")
        DOCUMENTS = "documents", _("Documents")
        RUBRIC_SET = "rubric_set", _("Rubric set")
        PAIRS = "pairs", _("Near-miss pairs")
        CANDIDATES = "candidates", _("Candidates’ attributes")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="imports")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    file = models.FileField(upload_to="imports/")
    file_name = models.CharField(max_length=255)
    options = models.JSONField(default=dict, blank=True)
    bytes_total = models.BigIntegerField(default=0)
    bytes_read = models.BigIntegerField(default=0)
    counts = models.JSONField(default=dict, blank=True)  # {"cases": {"created": n, "unchanged": n}, …}
    errors = models.JSONField(default=list, blank=True)  # [{"line", "field", "message"}, …], at most 50
    error_total = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="imports")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            # Every few seconds the sweep looks for the few rows that still need work.
            models.Index(
                fields=["created_at"], condition=models.Q(status__in=["pending", "running"]), name="rubrics_import_open"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.file_name}"

    @property
    def repetition(self) -> ImportJob | None:
        """The other import of this job's file that is open or done; each upload has a file of its own.

        A refused or failed import kept nothing of the file, and does not count.
        """
        jobs = ImportJob.objects.filter(file=self.file.name).exclude(pk=self.pk)
        jobs = jobs.exclude(status__in=ENDED_WITHOUT_RESULT)
        return jobs.exclude(options__has_key="preview").first()
