"""Runs of trials: rubric sets on near-miss pairs."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from scoring.models import PipelineRun

TRIALS = "trials"
SIDE_BY_SIDE, NO_RUBRIC = "side_by_side", "no_rubric"  # the stages of such a run


class TrialRunManager(models.Manager["TrialRun"]):
    def get_queryset(self) -> models.QuerySet[TrialRun]:
        """The runs of this kind, with replays and those that were made elsewhere."""
        return super().get_queryset().filter(kind=TRIALS)


class TrialRun(PipelineRun):
    """A run of kind *trials*: both texts of a pair, side by side, by the criteria of each set.

    Its settings hold all texts, so that a replay elsewhere makes the same requests; ``terms`` names sets and model, so
    that a list of runs need not load them.
    """

    objects: ClassVar[TrialRunManager] = TrialRunManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"{', '.join(self.set_names)}, {self.public_id}"

    @property
    def set_names(self) -> list[str]:
        """The names of the sets, without that of no rubric."""
        return [str(name) for name in self.terms.get("sets", [])]

    @property
    def has_no_rubric(self) -> bool:
        """Whether pairs are also judged without a rubric."""
        return bool(self.terms.get("no_rubric"))

    @property
    def trials(self) -> int:
        """Trials in each order."""
        return int(self.terms.get("trials", 0))

    @property
    def n_pairs(self) -> int:
        """How many pairs it has."""
        return int(self.terms.get("pairs", 0))

    @property
    def model_name(self) -> str:
        """The model that answers."""
        return str(self.terms.get("model", ""))
