"""Code books: which kinds of failure a benchmark knows."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited
from consilium.core.limits import MAX_REASON_LENGTH
from rubrics.codes.code import Code, code_of, digest_of
from rubrics.models.benchmarks import Benchmark


@audited
class CodeBook(models.Model):
    """A version of a benchmark's code book. Once something was coded by it, it never changes: then there is a next one.

    ``used_at`` is set by whatever first refers to it (a trigger of each), and stays.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="code_books")
    version = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])
    codes = models.JSONField(_("codes"), default=list)  # as `rubrics.codes.code.Code`
    note = models.TextField(_("note"), max_length=MAX_REASON_LENGTH, blank=True)  # what this version changes
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["benchmark", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "version"], name="rubrics_codebook_version"),
            models.CheckConstraint(condition=Q(version__gte=1), name="rubrics_codebook_from_one"),
        ]
        triggers = [
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            pgtrigger.Trigger(
                name="frozen_once_used",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__used_at__isnull=False)
                & (
                    pgtrigger.Q(old__codes__df=pgtrigger.F("new__codes"))
                    | pgtrigger.Q(old__version__df=pgtrigger.F("new__version"))
                    | pgtrigger.Q(old__benchmark__df=pgtrigger.F("new__benchmark"))
                    | pgtrigger.Q(old__used_at__df=pgtrigger.F("new__used_at"))
                ),
                func="RAISE EXCEPTION 'A code book that was used never changes';",
            ),
        ]

    def __str__(self) -> str:
        return _now("Code book, version %(version)d") % {"version": self.version}

    @property
    def entries(self) -> list[Code]:
        """The codes in their order."""
        return [code_of(stored) for stored in self.codes]

    @property
    def digest(self) -> str:
        """SHA-256 of its codes."""
        return digest_of(self.codes)


def mark_used_sql(column: str) -> str:
    """Statement of a trigger that notes the first use of the code book ``column``, and refuses a missing one."""
    return f"UPDATE rubrics_codebook SET used_at = now() WHERE id = {column} AND used_at IS NULL;"
