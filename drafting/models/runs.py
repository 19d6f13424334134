"""Runs of drafting: from cases and documents to suggestions."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from scoring.models import PipelineRun

DRAFTING = "drafting"


class DraftingRunManager(models.Manager["DraftingRun"]):
    def get_queryset(self) -> models.QuerySet[DraftingRun]:
        """The runs of this kind, with replays and those that were made elsewhere."""
        return super().get_queryset().filter(kind=DRAFTING)


class DraftingRun(PipelineRun):
    """A run of kind *drafting*: the stages of a recipe for each of its cases.

    Its settings hold the version of the recipe with all texts, so that a replay elsewhere makes the same requests;
    ``terms`` names recipe and models, so that a list of runs need not load them.
    """

    objects: ClassVar[DraftingRunManager] = DraftingRunManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"{self.recipe_name} {self.recipe_version}, {self.public_id}"

    @property
    def recipe_name(self) -> str:
        """The recipe."""
        return str(self.terms.get("recipe", ""))

    @property
    def recipe_version(self) -> int:
        """Its version."""
        return int(self.terms.get("version", 0))

    @property
    def model_names(self) -> list[str]:
        """The models that it asks, each once."""
        return [str(name) for name in self.terms.get("models", [])]

    @property
    def case_count(self) -> int:
        """How many cases it was ordered for."""
        return int(self.terms.get("cases", 0))
