"""Reference levels of cases, frozen and signed."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.acuity.panel import AmbiguousBy, AmbiguousRule
from consilium.core.limits import MAX_PERSON_NAME_LENGTH, MAX_REASON_LENGTH
from rubrics.models import AcuityScale, Benchmark, Case


def _immutable() -> pgtrigger.Protect:
    return pgtrigger.Protect(name="signed", operation=pgtrigger.Update | pgtrigger.Delete)


class ReferenceSet(models.Model):
    """How urgent the cases of a benchmark are, by labels and panels as they were when it was signed.

    Every report on acuity names one. A new one is a new number; a signed one never changes.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="reference_sets")
    number = models.PositiveIntegerField()
    scale = models.ForeignKey(AcuityScale, on_delete=models.PROTECT, related_name="reference_sets")
    datasets = ArrayField(models.CharField(max_length=60))  # whose labels count
    ambiguous_rule = models.CharField(max_length=12, default="dispersion")
    ambiguous_threshold = models.FloatField(default=0.75)
    minimum_votes = models.PositiveSmallIntegerField(default=3)  # of a panel that gives a reference
    note = models.TextField(_("note"), max_length=MAX_REASON_LENGTH, blank=True)
    digest = models.CharField(max_length=64)  # SHA-256 of its items
    signed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    signed_as = models.CharField(max_length=MAX_PERSON_NAME_LENGTH)  # the name as it was then
    signed_at = models.DateTimeField()

    class Meta:
        ordering = ["benchmark", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="annotation_referenceset_number"),
            models.CheckConstraint(condition=Q(number__gte=1), name="annotation_referenceset_from_one"),
        ]
        triggers = [_immutable()]

    def __str__(self) -> str:
        return f"Reference set {self.number}"

    @property
    def ambiguous(self) -> AmbiguousRule:
        """The rule by which a case of a panel is ambiguous."""
        return AmbiguousRule(AmbiguousBy(self.ambiguous_rule), self.ambiguous_threshold)


class ReferenceItem(models.Model):
    """The reference of one case; levels are places on the scale, 0 for the least urgent."""

    class Status(models.TextChoices):
        CLEAR = "clear", pgettext_lazy("reference", "Clear")
        BOUNDARY = "boundary", _("Between two levels")
        AMBIGUOUS = "ambiguous", _("Ambiguous")
        SET_ASIDE = "set-aside", _("Set aside")
        WITHOUT = "without", _("Without a reference")
        EXCLUDED = "excluded", _("Left out")

    class Source(models.TextChoices):
        PANEL = "panel", _("Panel")
        DIRECT = "direct", _("Source label")
        NONE = "", _("None")

    reference_set = models.ForeignKey(ReferenceSet, on_delete=models.PROTECT, related_name="items", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="reference_items")
    status = models.CharField(max_length=10, choices=Status.choices)
    source = models.CharField(max_length=10, choices=Source.choices, blank=True)
    low = models.PositiveSmallIntegerField(null=True)
    high = models.PositiveSmallIntegerField(null=True)
    # The panel's votes of round 1 in ascending order, without names: low + high of each, so that 3 is a vote between
    # the places 1 and 2.
    votes = ArrayField(models.PositiveSmallIntegerField(), default=list)
    n_cannot_tell = models.PositiveSmallIntegerField(default=0)
    certainty = models.FloatField(null=True)  # the median of the votes, 0 to 100

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["reference_set", "case"], name="annotation_referenceitem_once"),
            models.CheckConstraint(
                condition=Q(status="clear", low__isnull=False, high=models.F("low"))
                | Q(status="boundary", low__isnull=False, high=models.F("low") + 1)
                | Q(status="ambiguous", low__isnull=False, high__gte=models.F("low"))
                | Q(status__in=["set-aside", "without", "excluded"], low=None, high=None),
                name="annotation_referenceitem_levels",
            ),
        ]
        triggers = [_immutable()]

    def __str__(self) -> str:
        return f"{self.case}: {self.status}"
