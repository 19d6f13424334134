"""Which benchmark may use which key of an endpoint."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from consilium.core.limits import MAX_VARIABLE_NAME_LENGTH
from rubrics.models import Benchmark


class KeyGrant(models.Model):
    """An operator's permission to use a key, by the name of its environment variable. A withdrawn one is deleted.

    The security log keeps who granted and who withdrew it.
    """

    name = models.CharField(max_length=MAX_VARIABLE_NAME_LENGTH)
    # None: all benchmarks, those that are made later as well.
    benchmark = models.ForeignKey(Benchmark, null=True, on_delete=models.CASCADE, related_name="key_grants")
    granted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "benchmark__slug"]
        constraints = [
            models.UniqueConstraint(fields=["name", "benchmark"], nulls_distinct=False, name="scoring_keygrant_once"),
            models.CheckConstraint(
                condition=models.Q(name__regex=r"^([A-Z][A-Z0-9_]*_API_KEY|JUDGE_KEY(_[A-Z0-9_]+)?)$"),
                name="scoring_keygrant_name",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} for {self.benchmark or 'all benchmarks'}"
