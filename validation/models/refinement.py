"""Runs of refinement: responses that a model improves with the criteria of a set, by itself, or with gold criteria."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from scoring.models import PipelineRun

REFINEMENT = "refinement"
PLAN, EDIT = "plan", "edit"  # the stages of such a run


class RefinementRunManager(models.Manager["RefinementRun"]):
    def get_queryset(self) -> models.QuerySet[RefinementRun]:
        """The runs of this kind, with replays and those that were made elsewhere."""
        return super().get_queryset().filter(kind=REFINEMENT)


class RefinementRun(PipelineRun):
    """A run of kind *refinement*: each base response is planned and edited once in each arm.

    Its settings hold all texts, so that a replay elsewhere makes the same requests; ``terms`` names base, arms and
    models, so that a list of runs need not load them. The refined texts are responses of one derived candidate an arm.
    """

    objects: ClassVar[RefinementRunManager] = RefinementRunManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"{self.base_name}, {self.public_id}"

    @property
    def base_name(self) -> str:
        """The candidate whose responses are refined."""
        return str(self.terms.get("base", ""))

    @property
    def arm_names(self) -> list[str]:
        """The names of the arms."""
        return [str(arm["name"]) for arm in self.terms.get("arms", [])]

    @property
    def derived_names(self) -> list[str]:
        """The candidates of the refined texts, in the order of the arms."""
        return [str(arm["candidate"]) for arm in self.terms.get("arms", [])]

    @property
    def is_split(self) -> bool:
        """Whether one half of the gold criteria guides and the other grades."""
        return bool(self.terms.get("split"))

    @property
    def model_names(self) -> list[str]:
        """The models that plan and edit, one where they are the same."""
        return list(dict.fromkeys(str(self.terms.get(name, "")) for name in ("model", "edit_model")))
