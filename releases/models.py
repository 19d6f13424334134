"""Releases of a benchmark: frozen and citable; building one again gives the same bytes."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.jobs import Job
from consilium.core.limits import MAX_RELEASE_VERSION_LENGTH
from rubrics.models import Benchmark


class Release(Job):
    """A release of a benchmark: a worker writes the archive, which never changes afterwards."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="releases")
    version = models.CharField(_("version"), max_length=MAX_RELEASE_VERSION_LENGTH)  # as it is cited: 1.0
    notes = models.TextField(_("notes"), blank=True)
    options = models.JSONField(default=dict)  # the requested content
    archive = models.FileField(upload_to="releases/", blank=True)
    digest = models.CharField(max_length=64, blank=True)  # SHA-256 of its SHA256SUMS, which names every file
    size = models.BigIntegerField(default=0)  # of the archive, bytes
    facts = models.JSONField(default=dict)  # counts of what is in it

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "version"],
                condition=models.Q(status__in=["pending", "running", "done"]),
                name="releases_version_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["created_at"], condition=models.Q(status__in=["pending", "running"]), name="releases_open"
            )
        ]
        triggers = [
            pgtrigger.Protect(
                name="frozen", operation=pgtrigger.Update | pgtrigger.Delete, condition=pgtrigger.Q(old__status="done")
            )
        ]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.version}"
