"""How urgent a case is: scales of levels, and what labels from elsewhere mean on them."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.core.validators import MinLengthValidator
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Length, Replace
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.limits import (
    MAX_DATASET_LENGTH,
    MAX_FRAMING_LENGTH,
    MAX_KEY_LENGTH,
    MAX_LICENCE_LENGTH,
    MAX_SCALE_NAME_LENGTH,
)
from rubrics.acuity.framings import PLACEHOLDER
from rubrics.models.benchmarks import Benchmark, slug_characters
from rubrics.models.cases import Case


def _immutable() -> pgtrigger.Protect:
    return pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete)


class AcuityScale(models.Model):
    """2 to 6 levels of urgency, the least urgent first. It never changes: a change is a new version."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="acuity_scales")
    name = models.CharField(_("name"), max_length=MAX_SCALE_NAME_LENGTH, validators=[slug_characters])
    version = models.PositiveIntegerField(default=1)
    # [{"value", "label_en", "label_zh", "definition_en", "definition_zh"}, …], as `rubrics.acuity.scales.Level`
    levels = models.JSONField(_("levels"), default=list)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["benchmark", "name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name", "version"], name="rubrics_acuityscale_version")
        ]
        triggers = [_immutable()]

    def __str__(self) -> str:
        return self.name if self.version == 1 else f"{self.name} {self.version}"


class LabelScheme(models.Model):
    """Rules that send labels from elsewhere to levels of a scale. It never changes: a change is a new version."""

    scale = models.ForeignKey(AcuityScale, on_delete=models.PROTECT, related_name="schemes")
    name = models.CharField(_("name"), max_length=MAX_SCALE_NAME_LENGTH, validators=[slug_characters])
    version = models.PositiveIntegerField(default=1)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["scale", "name", "-version"]
        constraints = [models.UniqueConstraint(fields=["scale", "name", "version"], name="rubrics_labelscheme_version")]
        triggers = [_immutable()]

    def __str__(self) -> str:
        return self.name if self.version == 1 else f"{self.name} {self.version}"


class HowMapped(models.TextChoices):
    """How a label reaches the scale (`rubrics.acuity.schemes.How`)."""

    DIRECT = "direct", _("One level")
    BOUNDARY = "boundary", _("Between two levels")
    PANEL = "panel", _("For the panel")
    EXCLUDE = "exclude", _("Not included")


def _levels_fit(name: str) -> models.CheckConstraint:
    """One level for direct, two adjacent ones for boundary, none for panel and exclude."""
    return models.CheckConstraint(
        condition=Q(how="direct", low__isnull=False, high=F("low"))
        | Q(how="boundary", low__isnull=False, high=F("low") + 1)
        | Q(how__in=["panel", "exclude"], low=None, high=None),
        name=name,
    )


class LabelRule(models.Model):
    """What one source label becomes; levels are places on the scale, 0 for the least urgent."""

    scheme = models.ForeignKey(LabelScheme, on_delete=models.PROTECT, related_name="rules")
    source_label = models.CharField(max_length=MAX_KEY_LENGTH, validators=[MinLengthValidator(1)])  # folded
    how = models.CharField(max_length=10, choices=HowMapped.choices)
    low = models.PositiveSmallIntegerField(null=True)
    high = models.PositiveSmallIntegerField(null=True)

    class Meta:
        ordering = ["scheme", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["scheme", "source_label"], name="rubrics_labelrule_once"),
            _levels_fit("rubrics_labelrule_levels"),
        ]
        triggers = [_immutable()]

    def __str__(self) -> str:
        return f"{self.source_label} → {self.how}"


class AcuityImport(models.Model):
    """A file with labels or readings that was imported, and how it was read."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="acuity_imports")
    dataset = models.CharField(_("dataset"), max_length=MAX_DATASET_LENGTH, validators=[slug_characters])
    scheme = models.ForeignKey(LabelScheme, on_delete=models.PROTECT, related_name="imports")
    file_name = models.CharField(max_length=255)
    file_digest = models.CharField(max_length=64)  # SHA-256
    shape = models.CharField(max_length=20)  # one of `rubrics.parsing.acuity_files.SHAPES`
    options = models.JSONField(default=dict)  # the texts that were given with it
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-pk"]
        triggers = [_immutable()]

    def __str__(self) -> str:
        return self.file_name


class SourceLabel(models.Model):
    """The label of a case in a dataset from elsewhere, word for word, and what a scheme makes of it.

    It never changes. Labels that are mapped again, with a newer scheme, are further rows.
    """

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="source_labels")
    dataset = models.CharField(max_length=MAX_DATASET_LENGTH)
    source_id = models.CharField(max_length=MAX_KEY_LENGTH)  # of the case in its file
    label = models.CharField(max_length=MAX_KEY_LENGTH)
    scheme = models.ForeignKey(LabelScheme, on_delete=models.PROTECT, related_name="labels")
    how = models.CharField(max_length=10, choices=HowMapped.choices)
    low = models.PositiveSmallIntegerField(null=True)
    high = models.PositiveSmallIntegerField(null=True)
    acuity_import = models.ForeignKey(AcuityImport, on_delete=models.PROTECT, related_name="labels")
    line = models.PositiveIntegerField()
    is_flagged = models.BooleanField(null=True)  # whether the data call the case ambiguous; null: they do not say

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["case", "dataset", "scheme"], name="rubrics_sourcelabel_once"),
            _levels_fit("rubrics_sourcelabel_levels"),
        ]
        triggers = [_immutable()]

    def __str__(self) -> str:
        return f"{self.case}: {self.label}"


class AcuityDataset(models.Model):
    """Whether the cases of a dataset from elsewhere may be passed on; without a row nobody knows, so they may not."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="acuity_datasets")
    name = models.CharField(_("name"), max_length=MAX_DATASET_LENGTH, validators=[slug_characters])
    licence = models.CharField(_("licence"), max_length=MAX_LICENCE_LENGTH, blank=True)
    may_redistribute = models.BooleanField(default=False)  # whether a release may hold its texts
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["benchmark", "name"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="rubrics_acuitydataset_once"),
            models.CheckConstraint(
                condition=Q(may_redistribute=False) | ~Q(licence=""), name="rubrics_acuitydataset_licence"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Framing(models.Model):
    """A template with ``{{case}}`` in one place: a bare description as a patient's message (`rubrics.acuity.framings`).

    It never changes: another text is a new version.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="framings")
    version = models.PositiveIntegerField()
    text = models.TextField(_("text"), max_length=MAX_FRAMING_LENGTH)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["benchmark", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "version"], name="rubrics_framing_version"),
            models.CheckConstraint(
                condition=Exact(
                    Length("text"), Length(Replace("text", Value(PLACEHOLDER), Value(""))) + len(PLACEHOLDER)
                ),
                name="rubrics_framing_one_place",
            ),
        ]
        triggers = [_immutable()]

    def __str__(self) -> str:
        return str(self.version)
