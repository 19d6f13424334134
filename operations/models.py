"""Tables of the server as a whole: the state of its parts, and its backups."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.jobs import Job


class PartState(models.Model):
    """The state of a part of the server when somebody last looked, and since when it was seen in that state."""

    name = models.CharField(max_length=40, primary_key=True)
    state = models.CharField(max_length=10)
    since = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.state}"


class Backup(Job):
    """A backup that was made, is being made, or failed. The row outlives the file, which is deleted in time."""

    class Source(models.TextChoices):
        SCHEDULE = "schedule", _("Schedule")
        PAGE = "page", _("Operator")
        COMMAND = "command", _("Command")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    source = models.CharField(max_length=10, choices=Source)
    due_on = models.DateField(null=True, unique=True)  # the day of the schedule, in UTC: one backup each
    file = models.TextField(blank=True)  # its path on the machine that made it
    size = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    tested_at = models.DateTimeField(null=True)  # when it was restored into a scratch database
    test_ok = models.BooleanField(null=True)
    test_error = models.TextField(blank=True)
    deleted_at = models.DateTimeField(null=True)  # when newer ones took the place of its file

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(tested_at=None, test_ok=None) | Q(tested_at__isnull=False, test_ok__isnull=False),
                name="operations_backup_tested",
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="operations_backups"),
            models.Index(
                fields=["created_at"], condition=Q(status__in=["pending", "running"]), name="operations_open_backup"
            ),
        ]

    def __str__(self) -> str:
        return f"backup of {self.created_at:%Y-%m-%d %H:%M}"
