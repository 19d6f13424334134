"""Recipes of drafting: which stages a run has, and which model and prompt each of them."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.limits import MAX_RECIPE_NAME_LENGTH
from rubrics.models import Benchmark


class DraftingRecipe(models.Model):
    """One version of a recipe. It never changes: a saved change is a new version of the same name."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    # Found by the index of the constraint below, which begins with it.
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="recipes", db_index=False)
    name = models.CharField(_("name"), max_length=MAX_RECIPE_NAME_LENGTH)
    version = models.PositiveIntegerField()  # from 1, within the name
    content = models.JSONField()  # as `drafting.recipes.content.RecipeContent` reads it
    sha256 = models.CharField(max_length=64)  # of the content as canonical JSON
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name", "version"], name="drafting_recipe_version_once"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="drafting_recipe_version"),
        ]
        triggers = [pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
