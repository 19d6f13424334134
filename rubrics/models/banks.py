"""Imported banks of criteria; the one that comes with the product is a file."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import (
    MAX_BANK_KEY_LENGTH,
    MAX_DIMENSION_LENGTH,
    MAX_LICENCE_LENGTH,
    MAX_SECTION_LENGTH,
    MAX_SLUG_LENGTH,
    MAX_TAG_LENGTH,
    MAX_TITLE_LENGTH,
)
from rubrics.models.benchmarks import Benchmark, slug_characters


class Bank(models.Model):
    """A bank of reusable criteria, imported for one benchmark."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="banks")
    slug = models.CharField(_("short name"), max_length=MAX_SLUG_LENGTH, validators=[slug_characters])
    title = models.CharField(_("title"), max_length=MAX_TITLE_LENGTH)
    licence = models.CharField(_("licence"), max_length=MAX_LICENCE_LENGTH, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    active = models.BooleanField(default=True)

    class Meta:
        ordering = ["title"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "slug"], name="rubrics_bank_once")]

    def __str__(self) -> str:
        return self.title


class BankItem(models.Model):
    """A criterion of a bank."""

    bank = models.ForeignKey(Bank, on_delete=models.CASCADE, related_name="items")
    key = models.CharField(max_length=MAX_BANK_KEY_LENGTH)
    section = models.CharField(_("section"), max_length=MAX_SECTION_LENGTH)
    text = models.JSONField(default=dict)  # {language: text}, say {"en": "…", "zh": "…"}
    guidance = models.JSONField(default=dict, blank=True)  # {language: how to adapt it}
    dimension = models.CharField(_("dimension"), max_length=MAX_DIMENSION_LENGTH, blank=True)
    points = models.SmallIntegerField(_("points"), default=5)
    tags = ArrayField(models.CharField(max_length=MAX_TAG_LENGTH), default=list, blank=True)
    # A cluster criterion applies to cases that have any of these tags, their own or agreed on.
    applies_to = ArrayField(models.CharField(max_length=MAX_TAG_LENGTH), default=list, blank=True)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["bank", "key"], name="rubrics_bankitem_once"),
            models.CheckConstraint(
                condition=models.Q(points__gte=-10, points__lte=10) & ~models.Q(points=0),
                name="rubrics_bankitem_points",
            ),
        ]

    def __str__(self) -> str:
        return self.key
